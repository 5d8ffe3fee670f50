"""The simulation behind the rates of answers: its traffic is what it says, and the test holds."""

import numpy as np
import pytest

from checks.calls.answer_rates import QUANTITIES, judge_rates
from evidence.simulated.answer_sizes import (
    MEANS,
    SOUND,
    Traffic,
    fires,
    most_allowed,
    run_of,
)

KINDS = {name for name, _ in SOUND}


def values(traffic: Traffic, seed: int = 5) -> np.ndarray:
    """Answers of all turns: [turns, quantities, paths]."""
    return np.array([turn.values for turn in run_of(np.random.default_rng(seed), traffic)])


@pytest.mark.parametrize(
    ("name", "traffic"),
    [(name, traffic) for name, traffic in SOUND if traffic.sessions == 24],
    ids=sorted(KINDS, key=[name for name, _ in SOUND].index),
)
def test_sound_runs_are_not_called_shifted(name: str, traffic: Traffic) -> None:
    """Of 40 runs at 0.04% more than 1 would have a chance of 0.01%."""
    assert fires(traffic, 40, 11)[1] <= 1, name


@pytest.mark.parametrize(
    ("quantity", "shift"),
    [("calls", 0.2), ("calls", -0.2), ("tokens", 0.5), ("cut", 0.2), ("empty", 0.2)],
)
def test_a_strong_shift_is_found_by_its_quantity(quantity: str, shift: float) -> None:
    turns = run_of(np.random.default_rng(3), Traffic(156, shift={quantity: shift}))
    assert [one.detail["quantity"] for one in judge_rates(turns, 0).findings] == [quantity]


@pytest.mark.parametrize("quantity", QUANTITIES)
def test_a_shift_is_as_large_as_it_says(quantity: str) -> None:
    """Over 4,000 sessions, within four standard errors by session."""
    place, base = QUANTITIES.index(quantity), values(Traffic(4000))
    both = values(Traffic(4000, shift={quantity: 0.1}))[:, place]
    error = 4 * both.std() / (len(both) / 10) ** 0.5
    if quantity == "tokens":
        # Lengths are counted in whole tokens.
        assert both[:, 1].mean() / both[:, 0].mean() == pytest.approx(1.1, abs=0.03)
    else:
        assert both[:, 0].mean() == pytest.approx(MEANS[quantity], abs=error)
        assert both[:, 1].mean() - both[:, 0].mean() == pytest.approx(0.1, abs=error)
    others = [i for i in range(len(QUANTITIES)) if i != place]
    assert base[:, others, 0].mean() == pytest.approx(base[:, others, 1].mean(), rel=0.05)


def test_each_kind_of_traffic_is_what_its_name_says() -> None:
    equal = values(Traffic(equal=True))
    assert (equal[..., 0] == equal[..., 1]).all()
    whole, tenth = values(Traffic(4000)), values(Traffic(4000, compared=0.1))
    assert len(tenth) / len(whole) == pytest.approx(0.1, abs=0.01)
    lengths = values(Traffic(4000, tail=1.1))[:, 1].max(), whole[:, 1].max()
    assert lengths[0] > 20 * lengths[1]
    apart = [
        np.std([np.diff(values(Traffic(1, pull=pull), s)[:, 0]).mean() for s in range(400)])
        for pull in (0.0, 1.0)
    ]
    assert apart[1] > 1.2 * apart[0], "sessions differ by more than their turns explain"


def test_under_one_seed_nothing_is_left_to_judge() -> None:
    alike = values(Traffic(1000, one_seed=True))
    assert len(np.unique(alike[:, QUANTITIES.index("cut")], axis=0)) <= 3, "all move together"
    assert fires(Traffic(one_seed=True), 5, 2) == (0, 0)


def test_what_chance_allows() -> None:
    """Poisson with mean 0.4: 99.2% are at most 2; with mean 0.1, 99.5% at most 1."""
    assert (most_allowed(1000), most_allowed(250)) == (2, 1)
