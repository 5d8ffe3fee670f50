"""Right tokens, wrong numbers: scores of equal tokens against the baseline's own noise."""

from dataclasses import replace

import numpy as np
import pytest

from checks.findings import LOGPROBS_SHIFTED
from checks.greedy.shift import (
    LEAST_TOKENS,
    PLACES,
    SHIFT_LEVEL,
    TurnShift,
    judge_shift,
    shift_of,
)
from checks.greedy.turn import GreedyTurn
from checks.policy import Policy
from checks.tokens.regret import Scored
from evidence.simulated.score_sizes import POOL, from_pool, read_pool, run_of
from tests.support.synthetic_model import response_of
from traces.wire.response import Response, Token

POLICY = Policy()


def stream(scores: list[float], ids: list[int] | None = None) -> Response:
    ids = list(range(len(scores))) if ids is None else ids
    return response_of((9,), [Token(i, "x", score) for i, score in zip(ids, scores, strict=True)])


def read_again(scores: list[float]) -> Scored:
    values = np.array(scores)
    return Scored(0, tuple(range(len(scores))), values, values)


BASE = [-0.5, -0.25, -1.0, -0.125, -2.0, -0.75]


def turn(**parts: object) -> GreedyTurn:
    base = stream(BASE)
    whole = GreedyTurn("s", "t", base, base)
    return replace(whole, **parts)  # type: ignore[arg-type]


def sums(found: TurnShift | None, place: str, source: int) -> tuple[float, float, int]:
    assert found is not None
    total, signed, count = found.sums[PLACES.index(place), source]
    return float(total), float(signed), int(count)


def test_every_token_stands_at_one_place_of_its_step() -> None:
    """Steps of 1, 3 and 2 tokens: first at 0, 1, 4; drafted at 2; bonus at 3, 5."""
    shifted = [score - 0.5**place for place, score in enumerate(BASE)]
    found = shift_of(turn(candidate=stream(shifted)), [1, 3, 2])
    powers = [0.5**place for place in range(6)]
    for place, held in {
        "all": range(6),
        "first": (0, 1, 4),
        "drafted": (2,),
        "bonus": (3, 5),
    }.items():
        expected = sum(powers[i] for i in held)
        assert sums(found, place, 0) == (expected, -expected, len(list(held)))


def test_without_steps_only_the_whole_is_summed() -> None:
    found = shift_of(turn(candidate=stream([s + 0.25 for s in BASE])), None)
    assert sums(found, "all", 0) == (1.5, 1.5, 6)
    assert sums(found, "first", 0) == sums(found, "bonus", 0) == (0.0, 0.0, 0)


def test_nothing_behind_a_fork_is_compared() -> None:
    parted = stream([-5.0] * 6, [0, 1, 7, 3, 4, 5])
    found = shift_of(turn(candidate=parted), None)
    assert sums(found, "all", 0)[2] == 2


def test_noise_is_looked_up_at_the_same_places() -> None:
    again, once = [s - 0.5 for s in BASE], [s + 0.25 for s in BASE]
    noisy = turn(repeat=stream([*again[:4], -9.0, -9.0], [0, 1, 2, 3, 8, 9]))
    noisy = replace(noisy, scored_baseline=read_again(once), verify=stream(again))
    found = shift_of(noisy, [1, 3, 2])
    assert sums(found, "all", 1) == (2.0, -2.0, 4), "up to where the repeat parts"
    assert sums(found, "bonus", 2) == (0.5, 0.5, 2)
    assert sums(found, "first", 3) == (1.5, -1.5, 3)


def test_scores_read_in_lockstep_are_no_noise_of_several_rows() -> None:
    lockstep = replace(read_again(BASE), shape="decode")
    assert sums(shift_of(turn(scored_baseline=lockstep), None), "all", 2)[2] == 0


@pytest.mark.parametrize(
    "unusable",
    [
        {"processing": ("min_tokens",)},
        {"candidate": replace(stream(BASE), status=500)},
        {"candidate": replace(stream(BASE), tokens=None)},
        {"baseline": replace(stream(BASE), tokens=None)},
    ],
    ids=["processed", "refused", "no candidate tokens", "no baseline tokens"],
)
def test_what_does_not_compare_is_none(unusable: dict[str, object]) -> None:
    assert shift_of(turn(**unusable), None) is None


def test_scores_that_are_no_numbers_are_left_out() -> None:
    odd = stream([float("nan"), float("-inf"), *BASE[2:]])
    assert sums(shift_of(turn(candidate=odd), None), "all", 0) == (0.0, 0.0, 4)


def runs(prefill: float, candidate: float, share: float = 1.0, sessions: int = 24) -> bool:
    rng = np.random.default_rng(7)
    return bool(judge_shift(run_of(rng, sessions, prefill, candidate, share), POLICY).findings)


def test_scores_that_stray_as_the_baseline_reads_its_own_are_sound() -> None:
    assert not runs(2.0, 2.0)
    assert not runs(2.0, 4.0), "exactly what is allowed"
    assert runs(2.0, 12.0)
    assert runs(2.0, 100.0, share=0.05), "damage to few tokens"
    assert not runs(2.0, 12.0, sessions=8), "2^-8 is no proof at this level"


def test_the_finding_names_the_places() -> None:
    turns = run_of(np.random.default_rng(1), 30, 2.0, 2.0)
    bonus = PLACES.index("bonus")
    for one in turns:
        one.sums[bonus, 0, :2] *= 12
    (finding,) = judge_shift(turns, POLICY).findings
    assert (finding.code, finding.severity) == (LOGPROBS_SHIFTED, "error")
    assert finding.detail["places"] == ["bonus"]
    assert "read" not in finding.detail


def test_what_lacks_a_noise_floor_is_not_judged() -> None:
    turns = run_of(np.random.default_rng(1), 30, 2.0, 50.0)
    for one in turns:
        one.sums[:, 2] = 0
    judged = judge_shift(turns, POLICY)
    assert judged.findings == ()
    assert str(LEAST_TOKENS) in judged.not_judged[0].reason
    assert judge_shift([], POLICY).not_judged[0].reason == "no greedy turn has scores"


def test_sound_runs_are_called_faulty_no_more_often_than_stated() -> None:
    """At exactly the allowed distance, 100 runs: more than 2 have a chance of 0.015%."""
    fired = 0
    for run in range(100):
        turns = run_of(np.random.default_rng((11, run)), 24, 2.0, 4.0)
        fired += bool(judge_shift(turns, POLICY).findings)
    assert fired <= 2, SHIFT_LEVEL


@pytest.mark.parametrize("stands", [0, 1], ids=["a sound candidate", "the baseline's repeat"])
def test_the_pool_of_real_noise_raises_no_alarm(stands: int) -> None:
    for held in read_pool(POOL).values():
        for run in range(200):
            rng = np.random.default_rng((13, run))
            assert not judge_shift(from_pool(rng, held, 26, stands, 0.0), POLICY).findings


def test_a_hundredth_of_a_nat_at_every_token_shows_in_the_pool() -> None:
    """Less than half of what a perturbed layer of the embedded target does."""
    (held,) = read_pool(POOL).values()
    fired = [
        bool(judge_shift(from_pool(np.random.default_rng(r), held, 26, 0, 0.01), POLICY).findings)
        for r in range(20)
    ]
    assert all(fired)
