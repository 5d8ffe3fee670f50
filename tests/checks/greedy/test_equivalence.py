"""Greedy equivalence on a synthetic model whose logits are known."""

import math
import re
from dataclasses import replace

import pytest

from checks.bounds import ControlResult
from checks.controls.swap import (
    SwapPlan,
    judge_swap,
    plan_far_swap,
    plan_frequent_swaps,
    planted_result,
)
from checks.controls.swap_spots import Survey
from checks.greedy.judge import floor_of, judge_greedy, judge_one
from checks.greedy.turn import GreedyTurn, measure_turn
from checks.policy import Policy
from evidence.simulated.noise_runs import NoiseModel, RunSize, judge_run
from tests.support.synthetic_model import SyntheticModel, gaussian, greedy_pool

POLICY = Policy(rate_margin=2e-3)
NOISY = {
    ("candidate", "decode"): gaussian(0.05),
    ("repeat", "decode"): gaussian(0.05),
    ("baseline", "decode"): gaussian(0.05),
    ("baseline", "prefill"): gaussian(0.05),
}


@pytest.fixture(scope="module")
def quiet_pool() -> list[GreedyTurn]:
    return greedy_pool(SyntheticModel(), sessions=24, turns=3, length=48)


@pytest.fixture(scope="module")
def noisy_pool() -> list[GreedyTurn]:
    return greedy_pool(SyntheticModel(noise=NOISY), sessions=24, turns=3, length=48)


def _states(judgement):
    return {bound.name: bound.state for bound in judgement.bounds}


def test_equal_paths_pass_every_bound(quiet_pool) -> None:
    judgement = judge_greedy(quiet_pool, POLICY, seed=0)
    assert judgement.tokens == 24 * 3 * 48
    assert set(_states(judgement).values()) == {"pass"}
    assert judgement.findings == ()
    assert judgement.rate.high == pytest.approx(2 * 2.9957 / judgement.tokens, rel=1e-3)


def test_rounding_noise_forks_and_is_a_near_tie(noisy_pool) -> None:
    judgement = judge_greedy(noisy_pool, POLICY, seed=0)
    forks = [turn.fork for turn in judgement.turns if turn.fork is not None]
    assert len(forks) > 10
    assert {fork.kind for fork in forks} == {"near_tie"}
    assert all(fork.regret <= 0.5 for fork in forks)
    assert {finding.code for finding in judgement.findings} == {"NEAR_TIE_FORK"}
    assert _states(judgement)["greedy_regret_ladder"] == "pass"
    assert judgement.unscored == 0


def test_forks_of_the_baseline_against_itself_are_described_too(noisy_pool) -> None:
    turns = judge_greedy(noisy_pool, POLICY, seed=0).turns
    forks = [turn.repeat_fork for turn in turns if turn.repeat_divergence is not None]
    assert len(forks) > 5
    assert {fork.kind for fork in forks} == {"near_tie"}
    by_turn = {(turn.session, turn.turn): turn for turn in noisy_pool}
    for result in turns:
        if result.repeat_fork is not None:
            turn = by_turn[result.session, result.turn]
            place = result.repeat_fork.index
            listed = {entry.id: entry.logprob for entry in turn.baseline.tokens[place].top}
            own = turn.baseline.tokens[place].logprob
            seen = listed[turn.repeat.tokens[place].id]
            assert result.repeat_fork.regret == pytest.approx(own - seen)


def test_the_order_of_turns_does_not_matter(noisy_pool) -> None:
    forth = judge_greedy(noisy_pool, POLICY, seed=3)
    back = judge_greedy(noisy_pool[::-1], POLICY, seed=3)
    assert forth.bounds == back.bounds
    assert forth.turns == back.turns


def test_an_unscored_tail_is_never_a_pass(noisy_pool) -> None:
    bare = [replace(turn, scored_candidate=None) for turn in noisy_pool]
    judgement = judge_greedy(bare, POLICY, seed=0)
    assert judgement.unscored > 0
    assert _states(judgement)["scored_share"] == "inconclusive"


def test_a_missing_repeat_is_never_a_pass(quiet_pool) -> None:
    bare = [replace(turn, repeat=None, scored_baseline=None) for turn in quiet_pool]
    judgement = judge_greedy(bare, POLICY, seed=0)
    assert _states(judgement)["noise_floor"] == "inconclusive"


def _judged(plan: SwapPlan, turns, scores, policy: Policy) -> ControlResult:
    measured = [measure_turn(turn) for turn in turns]
    floor = floor_of(measured, policy, seed=0)
    results = [judge_one(t, m, floor.noise) for t, m in zip(turns, measured, strict=True)]
    planted = [planted_result(swap, scores, floor.noise) for swap in plan.swaps]
    return judge_swap(plan, planted, results, floor, policy, seed=0)


@pytest.mark.parametrize("tails", ["light", "auto", "heavy"])
def test_a_planted_rank_2_token_is_caught(quiet_pool, tails) -> None:
    """It fails the run, or keeps it from passing where the tails are not known to be light."""
    policy = POLICY.model_copy(update={"noise_tails": tails})
    model = SyntheticModel()
    judgement = judge_greedy(quiet_pool, policy, seed=0)
    plan = plan_far_swap(Survey.of(quiet_pool, judgement.turns), judgement)
    (swap,) = plan.swaps
    assert swap.turn.candidate.content != quiet_pool[0].candidate.content
    scores = {request.digest: model.score(request) for request in plan.to_score}
    result = _judged(plan, quiet_pool, scores, policy)
    assert (result.state, result.expected) == ("caught", "GREEDY_DIVERGENCE")
    assert ("GREEDY_DIVERGENCE" in result.fired) == (tails == "light")


def test_frequent_small_swaps_are_caught(quiet_pool) -> None:
    model = SyntheticModel()
    judgement = judge_greedy(quiet_pool, POLICY, seed=0)
    plan = plan_frequent_swaps(Survey.of(quiet_pool, judgement.turns), judgement, seed=0)
    rung = next(rung for rung in judgement.ladder.rungs if f"({rung.threshold:g} nat)" in plan.kind)
    assert len(plan.swaps) == math.ceil(1.5 * rung.needed)
    scores = {request.digest: model.score(request) for request in plan.to_score}
    result = _judged(plan, quiet_pool, scores, POLICY)
    assert result.state == "caught"
    assert "REGRET_RATE" in result.fired


def test_a_ladder_without_power_says_that_nothing_can_be_planted(quiet_pool) -> None:
    """Of 8 sessions of 20 tokens each no rung could fail whatever it showed."""
    few = [cut(turn) for turn in quiet_pool[:24]]
    judgement = judge_greedy(few, POLICY, seed=0)
    assert judgement.ladder.blind
    assert _states(judgement)["greedy_regret_ladder"] == "inconclusive"
    plan = plan_frequent_swaps(Survey.of(few, judgement.turns), judgement, seed=0)
    result = _judged(plan, few, {}, POLICY)
    assert (result.state, result.detail) == (
        "no_data",
        "no rung of the ladder has power in decode shape",
    )


def cut(turn: GreedyTurn) -> GreedyTurn:
    sides = (
        replace(side, tokens=side.tokens[:7])
        for side in (turn.candidate, turn.baseline, turn.repeat)
    )
    candidate, baseline, repeat = sides
    return replace(
        turn, candidate=candidate, baseline=baseline, repeat=repeat, scored_baseline=None
    )


def test_a_blind_judgement_would_miss_the_swap(quiet_pool, monkeypatch) -> None:
    judgement = judge_greedy(quiet_pool, POLICY, seed=0)
    plan = plan_far_swap(Survey.of(quiet_pool, judgement.turns), judgement)
    monkeypatch.setattr("checks.greedy.noise.FAR_FLOOR", 50.0)
    assert _judged(plan, quiet_pool, {}, POLICY).state == "missed"


@pytest.mark.parametrize(
    ("model", "tails"),
    [
        (NoiseModel(0.05), "light"),
        (NoiseModel(0.05, verify=2.0), "light"),
        (NoiseModel(0.05, jumps=0.05, scale=0.2, tail=3.0, verify=2.0), "heavy"),
        (NoiseModel(0.05, jumps=0.05, scale=0.1, tail=2.5, verify=2.0), "heavy"),
    ],
    ids=["dense", "dense, twice in verify shape", "Pareto 3, twice", "Pareto 2.5, twice"],
)
def test_a_sound_candidate_is_not_failed_by_noise(model: NoiseModel, tails) -> None:
    """At most 3% of runs: of 25, more than 4 would have probability below 0.1%."""
    policy = Policy(rate_margin=3e-4, noise_tails=tails)
    failed = sum(
        any(bound.state == "fail" for bound in judge_run(model, RunSize(), policy, seed).bounds)
        for seed in range(25)
    )
    assert failed <= 4


def test_a_candidate_with_another_forward_pass_fails() -> None:
    """Noise ten times the baseline's is no rounding any more."""
    policy = Policy(rate_margin=3e-4)
    judgement = judge_run(NoiseModel(0.05, verify=10.0), RunSize(), policy, seed=0)
    assert {f.code for f in judgement.findings} >= {"GREEDY_DIVERGENCE", "REGRET_RATE"}


def test_the_rate_says_how_many_small_regrets_each_side_has(noisy_pool) -> None:
    judgement = judge_greedy(noisy_pool, POLICY, seed=0)
    rate = next(b for b in judgement.bounds if b.name == "greedy_regret_rate")
    counts = re.search(r"above 0.05 nat: (\d+) of (\d+) candidate tokens, (\d+) of", rate.message)
    small, tokens, _ = map(int, counts.groups())
    assert tokens == judgement.tokens
    forks = [turn.fork.regret for turn in judgement.turns if turn.fork is not None]
    assert small >= sum(regret > 0.05 for regret in forks) > 0


def test_a_suspect_that_the_baseline_repeats_is_excused(quiet_pool) -> None:
    judgement = judge_greedy(quiet_pool, POLICY, seed=0)
    plan = plan_far_swap(Survey.of(quiet_pool, judgement.turns), judgement)
    (swap,) = plan.swaps
    name = (swap.turn.session, swap.turn.turn)
    others = [turn for turn in quiet_pool if (turn.session, turn.turn) != name]
    first = judge_greedy([*others, swap.turn], POLICY, seed=0)
    suspect = next(suspect for suspect in first.suspects if suspect.index == swap.index)
    assert suspect.regret > 1.0
    token = swap.turn.candidate.tokens[swap.index]
    asked = replace(swap.turn, own_tokens={swap.index: token})
    again = judge_greedy([*others, asked], POLICY, seed=0)
    judged = next(turn for turn in again.turns if (turn.session, turn.turn) == name)
    assert swap.index in judged.excused
    assert swap.index not in judged.hard


def test_processed_logits_never_calibrate_and_tails_are_not_judged(noisy_pool) -> None:
    processed = [
        replace(t, processing=("repetition_penalty",), processed_logprobs=True) for t in noisy_pool
    ]
    judgement = judge_greedy(processed, POLICY, seed=0)
    assert [noise.tokens for noise in judgement.noise] == [0, 0]
    assert judgement.processed > 0
    assert judgement.unscored == 0
    raw = [replace(t, processed_logprobs=False) for t in processed]
    assert set(judge_greedy(raw, POLICY, seed=0).not_judged) == {
        "raw scores of processed logits mean nothing"
    }


def test_a_path_that_refuses_or_reads_other_tokens_is_not_judged(quiet_pool) -> None:
    turn = quiet_pool[0]
    refused = replace(turn, candidate=replace(turn.candidate, status=400))
    other = replace(turn, candidate=replace(turn.candidate, prompt_token_ids=(7,)))
    reasons = judge_greedy([refused, replace(other, turn="t9")], POLICY, seed=0).not_judged
    assert set(reasons) == {"the candidate answered 400", "the prompt token ids differ"}


def test_traffic_that_is_sampled_throughout_leaves_no_greedy_bound_open() -> None:
    judged = judge_greedy([], POLICY, seed=0)
    assert {bound.state for bound in judged.bounds} == {"not_applicable"}
    nothing = Survey.of([], judged.turns)
    plans = (plan_far_swap(nothing, judged), plan_frequent_swaps(nothing, judged, seed=0))
    controls = [_judged(plan, [], {}, POLICY) for plan in plans]
    assert [control.state for control in controls] == ["not_applicable", "not_applicable"]


def _beaten(response, place: int):
    """The answer with another token of the list ahead of the one that was sent at `place`."""
    tokens = list(response.tokens)
    token = tokens[place]
    top = tuple(
        replace(one, logprob=one.logprob if one.id == token.id else token.logprob + 0.1)
        for one in token.top
    )
    tokens[place] = replace(token, top=top)
    return replace(response, tokens=tokens)


def test_a_token_that_is_no_argmax_on_either_path_is_the_servers_flaw(quiet_pool) -> None:
    turn = quiet_pool[0]
    alone = replace(turn, candidate=_beaten(turn.candidate, 5))
    both = replace(alone, baseline=_beaten(turn.baseline, 5))
    states = [
        _states(judge_greedy([first, *quiet_pool[1:]], POLICY, seed=0))["candidate_argmax"]
        for first in (alone, both)
    ]
    assert states == ["fail", "pass"]
