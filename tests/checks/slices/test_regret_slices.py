"""Regret by place: which tokens are in which slice, by hand; and what known differences show."""

import numpy as np
import pytest

from checks.acceptance.steps import build_steps
from checks.greedy.noise import measure_noise
from checks.greedy.turn import TurnRegrets
from checks.policy import Policy
from checks.slices.regret import ORDER, RegretSlice, added, judge_regret_slices, places, regret_sums
from checks.tokens.regret import SHAPES, Regrets
from traces.boundaries.label import INDEX

PROSE, MARKUP, NAME = INDEX["prose"], INDEX["tool.markup"], INDEX["tool.name"]
NOISE = {shape: measure_noise(shape, [], [], Policy()) for shape in SHAPES}

# prefill | 3 drafted, 1 accepted | 2 drafted, 2 accepted | nothing drafted | 3 drafted, none
STEPS = build_steps(
    (0, 3, 2, 0, 3), (0, 1, 2, 0, 0), (1, 2, 3, 1, 1), [False, True, True, True, True]
)
TOKENS = 8


def found(labels: list[int] | None = None) -> dict[tuple[str, str], list[int]]:
    shown = None if labels is None else np.array(labels, np.int8)
    steps = STEPS if labels is None else None
    return {part: np.flatnonzero(mask).tolist() for part, mask in places(shown, steps)}


def test_every_token_has_one_place_in_its_step() -> None:
    assert found() == {
        ("step", "prefill"): [0],
        ("step", "accepted"): [1, 3, 4],
        ("step", "recovered"): [2, 7],
        ("step", "bonus"): [5],
        ("step", "no draft"): [6],
        ("event", "after a rejection"): [3],
    }


def test_calls_begin_where_the_markup_does() -> None:
    labels = [PROSE, PROSE, MARKUP, NAME, MARKUP, PROSE, MARKUP, NAME]
    assert found(labels) == {
        ("boundary", "prose"): [0, 1, 5],
        ("boundary", "tool.markup"): [2, 4, 6],
        ("boundary", "tool.name"): [3, 7],
        ("event", "first token of a tool call"): [2, 6],
    }


def test_every_slice_has_its_place_in_reports() -> None:
    labels = [PROSE, PROSE, MARKUP, NAME, MARKUP, PROSE, MARKUP, NAME]
    assert {*found(), *found(labels)} <= set(ORDER)
    assert len(set(ORDER.values())) == len(ORDER)


def regrets(values: list[float], start: int = 0, bounded: tuple[int, ...] = ()) -> Regrets:
    marks = np.isin(np.arange(len(values)), bounded)
    return Regrets("decode", start, np.array(values), marks)


def test_sums_of_a_turn_by_hand() -> None:
    """Up to the fork at 3, the fork with it; the repeat up to the fork alone. Token 1 is only known
    to cost at least 0.1, which is below the bound: nothing is known of it."""
    turn = TurnRegrets(
        "s",
        "t",
        candidate=(regrets([0.0, 0.1, 0.5, 0.2], bounded=(1,)), regrets([9.0] * 4, start=4)),
        noise=(regrets([0.0, 0.0, 0.4, 0.0, 0.7]),),
        divergence=3,
        sent=TOKENS,
    )
    sums = {part: sums.tolist() for part, sums in regret_sums(turn, None, STEPS, NOISE).items()}
    assert sums == {
        ("step", "prefill"): [1, 0.0, 0, 1, 0.0, 0, 0],
        ("step", "accepted"): [1, 0.2, 0, 1, 0.0, 0, 1],
        ("step", "recovered"): [1, 0.5, 1, 1, 0.4, 1, 0],
        ("event", "after a rejection"): [1, 0.2, 0, 0, 0.0, 0, 1],
    }


def test_a_turn_that_was_not_judged_or_whose_labels_are_others_adds_nothing() -> None:
    assert regret_sums(TurnRegrets("s", "t", not_judged="why"), None, STEPS, NOISE) == {}
    turn = TurnRegrets("s", "t", candidate=(regrets([0.0] * 5),), sent=5)
    assert regret_sums(turn, None, STEPS, NOISE) == {}


def judged(shift: float, seed: int) -> dict[tuple[str, str], RegretSlice]:
    """24 sessions of equal noise on both sides; tokens behind a rejection cost `shift` more."""
    rng = np.random.default_rng(seed)
    sessions = {}
    for number in range(24):
        turns = []
        for _ in range(20):
            own, candidate = rng.exponential(0.02, (2, TOKENS))
            candidate[3] += shift
            parts = (regrets(candidate.tolist()),), (regrets(own.tolist()),)
            turn = TurnRegrets("s", "t", candidate=parts[0], noise=parts[1], sent=TOKENS)
            turns.append(regret_sums(turn, None, STEPS, NOISE))
        sessions[f"s{number}"] = added(turns)
    return {one.part: one for one in judge_regret_slices(sessions, seed=0)}


def test_a_difference_of_one_place_shows_there() -> None:
    found = judged(0.05, seed=1)
    place = found["event", "after a rejection"]
    assert place.change == "higher"
    assert place.difference.value == pytest.approx(0.05, abs=0.01)
    assert (place.tokens, place.sessions) == (480, 24)
    # It is one in three of the accepted tokens, too.
    assert {part for part, one in found.items() if one.change == "higher"} == {
        ("event", "after a rejection"),
        ("step", "accepted"),
    }


def test_equal_noise_is_alike_in_19_of_20_runs() -> None:
    """All slices of a run together, by the 99.9% quantile of Binomial(60, 0.05)."""
    wrong = sum(
        any(one.change != "alike" for one in judged(0.0, seed).values()) for seed in range(60)
    )
    assert wrong <= 10


def test_few_tokens_give_no_interval() -> None:
    turn = TurnRegrets("s", "t", candidate=(regrets([0.1] * TOKENS),), sent=TOKENS)
    sums = regret_sums(turn, None, STEPS, NOISE)
    (one, *_) = judge_regret_slices({"s": sums}, seed=0)
    assert (one.part, one.tokens, one.noise_mean, one.change) == (
        ("step", "prefill"),
        1,
        None,
        None,
    )
