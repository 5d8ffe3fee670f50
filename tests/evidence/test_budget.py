"""Whole runs with every test on: few of them, and the machinery that counts them."""

import numpy as np
import pytest

from evidence.simulated.budget import most_allowed, planned, powered, sampled_pool
from evidence.simulated.whole_runs import CASES, SIZE, Case, Outcome, judge, simulated, sound, worse

BY_NAME = {case.name: case for case in (*CASES, *powered())}


@pytest.mark.parametrize(
    "name",
    ["dense, twice", "dense, twice, clustered in sessions", "expert flips, twice, not known"],
)
def test_sound_runs_do_not_fail(name: str) -> None:
    """Of 6 at 1% more than 1 would have probability 0.1%."""
    case = BY_NAME[name]
    drawn = sampled_pool(case, 11)
    found = [judge(case, drawn, (11, place)) for place in range(6)]
    assert sum(one.word == "fail" for one in found) <= 1, [one.failed for one in found]


@pytest.mark.parametrize(
    ("name", "fault", "bound"),
    [
        ("dense, twice", worse(1e-3, 2.5), "greedy_regret_ladder"),
        ("dense, twice, not known", worse(5e-3, 2.5), "greedy_regret_ladder"),
        ("dense, twice, not known", worse(1e-2, 0.5), "greedy_regret_rate"),
    ],
)
def test_faulty_runs_fail_by_the_bound_they_break(name: str, fault, bound: str) -> None:
    case = BY_NAME[name]
    drawn = sampled_pool(case, 12)
    found = judge(case, drawn, (12, 0), fault)
    assert found.word == "fail"
    assert bound in found.failed
    assert "REGRET_RATE" in found.failed or "GREEDY_DIVERGENCE" in found.failed


def test_a_fault_may_keep_to_some_sessions() -> None:
    case = BY_NAME["dense, twice"]
    rng = np.random.default_rng(5)
    _, measured = simulated(case.greedy, SIZE, rng, worse(0.5, 50.0, 0.25))
    hit = {m.session for m in measured if any((p.values > 49).any() for p in m.candidate)}
    assert len(hit) == SIZE.sessions // 4


def test_words_and_what_is_allowed() -> None:
    some, none = frozenset("a"), frozenset("")
    assert Outcome(some, some).word == "fail"
    assert Outcome(none, some).word == "inconclusive"
    assert Outcome(none, none).word == "pass"
    assert most_allowed(1000) == 18
    assert sound([], np.random.default_rng(0)) == []


def test_a_size_is_planned_at_which_a_quiet_target_passes() -> None:
    """20,000 tokens times the design effect without a single exceedance certify 3e-4 (rule of
    three), and a quiet candidate has next to none; of 36 sessions there are 21,600."""
    sessions = planned(BY_NAME["dense"], 3)
    assert sessions is not None
    assert 36 <= sessions <= 96


def test_every_kind_of_noise_is_there() -> None:
    kinds = " ".join(case.name for case in CASES)
    for kind in (
        "dense",
        "twice",
        "Laplace",
        "Pareto 3",
        "Pareto 2.5",
        "expert flips",
        "clustered",
    ):
        assert kind in kinds
    assert all(isinstance(case, Case) for case in powered())
    flips = BY_NAME["expert flips, twice"]
    assert (flips.greedy.tail, flips.sampled.tail, flips.tails) == (None, None, "heavy")
    laplace = BY_NAME["Laplace, twice"]
    assert {case.greedy.verify for case in CASES} == {1.0, 2.0}
    assert (BY_NAME["Pareto 3, twice"].greedy.scale, flips.greedy.scale) == (0.2, 0.5)
    assert (laplace.greedy.laplace, laplace.sampled.kind) == (True, "laplace")
