"""Greedy equivalence on a synthetic model whose logits are known."""

from dataclasses import replace

import pytest

from checks.controls.swap import judge_swap, plan_hard_swap, plan_soft_swaps
from checks.equivalence import judge_greedy
from checks.greedy_turn import GreedyTurn
from checks.policy import Policy
from evidence.synthetic import SyntheticModel, gaussian, greedy_pool

POLICY = Policy(rate_margin=1e-3, bootstrap_samples=400)
NOISY = {
    ("candidate", "decode"): gaussian(0.05),
    ("repeat", "decode"): gaussian(0.05),
    ("baseline", "decode"): gaussian(0.05),
    ("baseline", "prefill"): gaussian(0.05),
}


@pytest.fixture(scope="module")
def quiet_pool() -> list[GreedyTurn]:
    return greedy_pool(SyntheticModel(), sessions=24, turns=4, length=80)


@pytest.fixture(scope="module")
def noisy_pool() -> list[GreedyTurn]:
    return greedy_pool(SyntheticModel(noise=NOISY), sessions=24, turns=4, length=80)


def _states(judgement):
    return {bound.name: bound.state for bound in judgement.bounds}


def test_equal_paths_pass_every_bound(quiet_pool) -> None:
    judgement = judge_greedy(quiet_pool, POLICY, seed=0)
    assert judgement.tokens == 24 * 4 * 80
    assert set(_states(judgement).values()) == {"pass"}
    assert judgement.findings == ()
    assert judgement.rate.high == pytest.approx(2 * 2.9957 / judgement.tokens, rel=1e-3)


def test_rounding_noise_forks_and_is_a_near_tie(noisy_pool) -> None:
    judgement = judge_greedy(noisy_pool, POLICY, seed=0)
    forks = [turn.fork for turn in judgement.turns if turn.fork is not None]
    assert len(forks) > 20
    assert {fork.kind for fork in forks} == {"near_tie"}
    assert all(fork.regret <= 0.5 for fork in forks)
    assert {finding.code for finding in judgement.findings} == {"NEAR_TIE_FORK"}
    assert _states(judgement)["greedy_hard_regret"] == "pass"
    assert judgement.unscored == 0


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


def test_a_planted_rank_2_token_is_caught(quiet_pool) -> None:
    model = SyntheticModel()
    judgement = judge_greedy(quiet_pool, POLICY, seed=0)
    plan = plan_hard_swap(quiet_pool, judgement)
    (swap,) = plan.swaps
    assert swap.turn.candidate.content != quiet_pool[0].candidate.content
    scores = {request.digest: model.score(request) for request in plan.to_score}
    result = judge_swap(plan, quiet_pool, scores, POLICY, seed=0)
    assert (result.state, result.expected) == ("caught", "GREEDY_DIVERGENCE")


def test_frequent_small_swaps_are_caught(quiet_pool) -> None:
    model = SyntheticModel()
    judgement = judge_greedy(quiet_pool, POLICY, seed=0)
    plan = plan_soft_swaps(quiet_pool, judgement, POLICY, seed=0)
    assert len(plan.swaps) == 16
    scores = {request.digest: model.score(request) for request in plan.to_score}
    result = judge_swap(plan, quiet_pool, scores, POLICY, seed=0)
    assert result.state == "caught"
    assert "REGRET_RATE" in result.fired


def test_a_blind_judgement_would_miss_the_swap(quiet_pool) -> None:
    judgement = judge_greedy(quiet_pool, POLICY, seed=0)
    plan = plan_hard_swap(quiet_pool, judgement)
    blind = Policy(hard_floor=50.0, hard_ceiling=60.0, bootstrap_samples=400)
    assert judge_swap(plan, quiet_pool, {}, blind, seed=0).state == "missed"
