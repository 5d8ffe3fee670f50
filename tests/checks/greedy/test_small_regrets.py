"""Forks and mean regret: what no rung sees must not pass in silence."""

from dataclasses import replace

import numpy as np
import pytest

from checks.greedy.bounds import SMALL
from checks.greedy.judge import GreedyJudgement, judge_measured
from checks.greedy.small_regrets import small_regrets
from checks.greedy.turn import GreedyTurn, TurnRegrets
from checks.policy import Policy
from checks.tokens.regret import Regrets
from evidence.simulated.noise_runs import NoiseModel, RunSize, simulate
from evidence.simulated.pool import EMPTY


def second_best(measured: list[TurnRegrets], rng: np.random.Generator) -> list[TurnRegrets]:
    """A candidate that takes the second best of every near tie: 4% of places, 0 to 0.2 nat."""

    def spoiled(turn: TurnRegrets) -> TurnRegrets:
        first = turn.candidate[0]
        hits = rng.random(len(first)) < 0.04
        values = np.where(hits, rng.uniform(0.0, 0.2, len(first)), first.values)
        end = int(hits.argmax()) + 1 if hits.any() else len(first)
        part = Regrets("decode", 0, values[:end], np.zeros(end, np.bool_))
        return replace(turn, candidate=(part,), divergence=end - 1)

    return [spoiled(turn) for turn in measured]


def judged(measured: list[TurnRegrets], verified: bool = False) -> GreedyJudgement:
    if verified:
        measured = [replace(m, verify_tokens=sum(map(len, m.noise))) for m in measured]
    turns = [GreedyTurn(m.session, m.turn, EMPTY, EMPTY) for m in measured]
    return judge_measured(turns, measured, Policy(rate_margin=3e-4), 0)


def made(verify: float) -> list[TurnRegrets]:
    rng = np.random.default_rng(1)
    return simulate(NoiseModel(0.02, verify=verify), RunSize(24, 10, 84), rng)[1]


def test_a_candidate_that_takes_the_second_best_is_a_stated_warning() -> None:
    found = judged(second_best(made(1.0), np.random.default_rng(2)))
    bound = next(bound for bound in found.bounds if bound.name == SMALL)
    assert bound.state == "not_applicable"
    assert "not measured in verify shape" in bound.message
    (warned,) = [f for f in found.findings if f.code == "REGRET_RATE"]
    assert (warned.severity, warned.message) == ("warning", bound.message)
    assert {b.name for b in found.bounds if b.state == "fail"} == set()


def test_it_fails_against_a_floor_in_verify_shape() -> None:
    found = judged(second_best(made(1.0), np.random.default_rng(2)), verified=True)
    assert {b.name for b in found.bounds if b.state == "fail"} == {SMALL}
    assert [f.severity for f in found.findings if f.code == "REGRET_RATE"] == ["error"]


@pytest.mark.parametrize("verify", [1.0, 2.0])
def test_rounding_of_up_to_twice_the_scale_is_neither(verify: float) -> None:
    found = judged(made(verify), verified=True)
    assert next(bound for bound in found.bounds if bound.name == SMALL).state == "pass"
    assert [f for f in found.findings if f.code == "REGRET_RATE"] == []


def test_turns_that_were_not_repeated_say_nothing() -> None:
    bare = [replace(turn, noise_forked=None) for turn in made(1.0)]
    assert small_regrets(bare, Policy()) is None
    assert next(b for b in judged(bare).bounds if b.name == SMALL).state == "not_applicable"


def test_sound_runs_are_rejected_no_more_often_than_the_level() -> None:
    """At 5%, of 60 runs: 8 is the 99% quantile."""
    rejected = 0
    for seed in range(60):
        rng = np.random.default_rng(seed)
        _, measured = simulate(NoiseModel(0.05, verify=2.0), RunSize(12, 4, 84), rng)
        found = small_regrets(measured, Policy())
        assert found is not None
        rejected += found.p <= 0.05
    assert rejected <= 8
