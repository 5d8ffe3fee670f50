"""Size and power of the sampled tests on streams whose distribution is known."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from checks.policy import Policy
from checks.sampled.distribution import distribution_of
from checks.sampled.draft_acceptance import draft_count
from checks.sampled.e_process import Growth, e_value, increments
from checks.sampled.judge import judge_sampled
from checks.sampled.pit import legendre, pit, pit_draws
from checks.sampled.sampling import Sampling
from checks.sampled.shift import SessionSums, noise_factor, shift_between
from checks.sampled.surprisal import surprisal_of, tokens_for_equivalence
from checks.sampled.tail_count import TailCount, tail_count, tail_p
from checks.sampled.turn import SampledTurn, listed_tokens, score_turn, top_lists
from checks.stats.holm import holm
from checks.stats.witnesses import rows_of, witnesses
from evidence.simulated.sampled_faults import (
    LISTED,
    contexts,
    draw,
    lenient,
    listed,
    sound,
    tempered,
    wrong_residual,
)
from traces.journal.score import Score

SEEDS = 200
PLAIN = Sampling(1.0)


def _run(fault, count: int, seed: int):
    rng = np.random.default_rng(seed)
    c = contexts(rng, count)
    tokens = draw(rng, fault(c))
    distribution = distribution_of(listed(c, tokens), PLAIN)
    return c, distribution, pit(distribution, pit_draws(seed, "s", "t", count))


def _within(rejections: int, level: float) -> bool:
    """Inside the central 99.9% of a binomial of 200 draws."""
    low, high = stats.binom.interval(0.999, SEEDS, level)
    return low <= rejections <= high


def _p(total: float, variance: float) -> float:
    """Two-sided, of a sum of mean 0 and this variance."""
    return float(2 * stats.norm.sf(abs(total) / variance**0.5))


def _surprisal_p(distribution) -> float:
    found = surprisal_of(distribution)
    return _p(found.excess.sum(), found.variance.sum())


def _draft_p(distribution, drafts) -> float:
    found = draft_count(distribution, drafts)
    return _p(found.emitted - found.expected, found.variance)


def _smooth_p(u) -> float:
    """Neyman's smooth test: n times the squared component means, chi-square of 4."""
    return float(stats.chi2.sf(len(u) * (legendre(u).mean(axis=0) ** 2).sum(), 4))


def test_every_statistic_keeps_its_size() -> None:
    surprisal, smooth, drafts, e = 0, 0, 0, 0
    tail = TailCount(0, 0.0, 0)
    for seed in range(SEEDS):
        c, distribution, u = _run(sound, 400, seed)
        surprisal += _surprisal_p(distribution) <= 0.05
        smooth += _smooth_p(u) <= 0.05
        drafts += _draft_p(distribution, c.drafts) <= 0.05
        e += e_value(increments(distribution, u, c.drafts), 20).crossed is not None
        tail += tail_count(distribution, 2e-3)
    assert _within(surprisal, 0.05)
    assert _within(smooth, 0.05)
    assert _within(drafts, 0.05)
    assert e <= stats.binom.ppf(0.999, SEEDS, 0.05)
    assert tail.expected > 20
    assert 0.001 < stats.poisson.cdf(tail.observed, tail.expected) < 0.999


def _predicted(fault, statistic, seed: int = 99) -> int:
    """Tokens for power 0.9 at two-sided 1%, from the distributions alone (no draws)."""
    c = contexts(np.random.default_rng(seed), 4000)
    value, mean, null, alternative = statistic(c, fault(c))
    z = stats.norm.ppf(0.995) * np.sqrt(null) + stats.norm.ppf(0.9) * np.sqrt(alternative)
    return int(np.ceil((z / mean) ** 2)) if value else 0


def _surprisal_moments(c, distribution):
    order = np.argsort(-c.probs, axis=1)
    p, q = (np.take_along_axis(x, order, axis=1) for x in (c.probs, distribution))
    p, q = (np.concatenate([x[:, :LISTED], x[:, LISTED:].sum(1, keepdims=True)], 1) for x in (p, q))
    f = -np.log(np.maximum(p, 1e-300))
    center = (p * f).sum(1, keepdims=True)
    excess = f - center
    mean = (q * excess).sum(1).mean()
    return True, mean, (p * excess**2).sum(1).mean(), (q * excess**2).sum(1).mean() - mean**2


def _draft_moments(c, distribution):
    rows = np.arange(len(c.drafts))
    p, q = c.probs[rows, c.drafts], distribution[rows, c.drafts]
    mean = (q - p).mean()
    return True, mean, (p * (1 - p)).mean(), (q * (1 - q)).mean() + (q - p).var()


@pytest.mark.parametrize(
    "fault", [wrong_residual, lenient(0.9), tempered(1.1)], ids=["residual", "lenient", "T 1.1"]
)
def test_faults_are_caught_at_the_predicted_number_of_tokens(fault) -> None:
    count = _predicted(fault, _surprisal_moments)
    assert 100 < count < 20_000
    runs = min(SEEDS, 200_000 // count)
    caught = 0
    for seed in range(runs):
        _, distribution, _ = _run(fault, count, 1000 + seed)
        caught += _surprisal_p(distribution) <= 0.01
    low, high = stats.binom.interval(0.9999, runs, 0.9)
    assert low <= caught <= high


@pytest.mark.parametrize("fault", [wrong_residual, lenient(0.9)], ids=["residual", "lenient"])
def test_known_drafts_need_fewer_tokens(fault) -> None:
    count, blind = _predicted(fault, _draft_moments), _predicted(fault, _surprisal_moments)
    assert count < blind / 2
    runs = min(SEEDS, 200_000 // count)
    caught = 0
    for seed in range(runs):
        c, distribution, _ = _run(fault, count, 2000 + seed)
        caught += _draft_p(distribution, c.drafts) <= 0.01
    low, high = stats.binom.interval(0.9999, runs, 0.9)
    assert low <= caught <= high


def test_the_e_process_catches_a_wrong_residual_and_a_temperature() -> None:
    c, distribution, u = _run(wrong_residual, 4000, 5)
    blind = e_value(increments(distribution, u), 100).crossed
    assert blind is not None
    assert e_value(increments(distribution, u, c.drafts), 100).crossed < blind
    _, distribution, u = _run(tempered(1.1), 6000, 6)
    assert e_value(increments(distribution, u), 100).crossed is not None


def test_one_tail_token_in_ten_thousand_is_tolerated_and_fifty_are_not() -> None:
    quiet = TailCount(0, 0.01, 10_000)
    assert quiet.tolerated(1e-4, quiet, 2.0) == pytest.approx(1.01)
    assert tail_p(1, 1.01) > 0.1
    assert tail_p(50, 1.01) < 1e-6
    # Six that lie in one session count as one: (6 - 0)^2 over a mean of 6 / 4 and so on.
    assert tail_p(6, 1.0, deff=6.0) == pytest.approx(stats.poisson.sf(0, 1 / 6))


def test_tail_tokens_that_the_baseline_shows_are_tolerated_at_twice_its_rounding() -> None:
    """3 of the baseline's 10,000, none expected: 8 times as many are explained, and the margin."""
    own = TailCount(3, 0.0, 10_000)
    assert TailCount(20, 0.0, 10_000).tolerated(1e-4, own, 2.0) == pytest.approx(1 + 8 * 3)


def test_tokens_for_equivalence_of_two_paths_are_twice_the_published_sizes() -> None:
    assert tokens_for_equivalence(0.3, 0.02) == pytest.approx(16_200, rel=0.01)
    assert tokens_for_equivalence(1.0, 0.02) == pytest.approx(54_000, rel=0.01)


def test_growth_factors_have_mean_0_and_the_spread_that_is_said() -> None:
    """Of a distribution of three tokens, by summing over them: no draw is needed."""
    lists = top_lists([0, 1, 2], [{0: np.log(0.6), 1: np.log(0.3), 2: np.log(0.1)}] * 3, 3)
    distribution = distribution_of(lists, PLAIN)
    growth = increments(distribution, np.full(3, 0.5), np.array([1, 1, 1]))
    p = np.array([0.6, 0.3, 0.1])
    tempered_and_boosted = slice(0, 8)
    x = growth.factor[:, tempered_and_boosted]
    assert p @ x == pytest.approx(np.zeros(8), abs=1e-12)
    assert np.sqrt(p @ x**2) == pytest.approx(growth.spread[0, tempered_and_boosted])


def test_a_tolerated_mean_takes_the_growth_back() -> None:
    """A factor of 1.02 with a spread of 0.2 in 1,000 places is no evidence where a tenth of the
    spread is tolerated."""
    steady = Growth(np.full((1000, 1), np.log(1.02)), np.full((1000, 1), 0.2))
    assert e_value(steady, 500).crossed == 314  # ln 500 / ln 1.02 = 313.8
    assert e_value(steady, 500, 0.1).crossed is None


def sums(totals, tokens=100.0, variance=1.0) -> SessionSums:
    size = len(totals)
    return SessionSums(
        np.asarray(totals), np.full(size, variance * tokens), np.full(size, float(tokens))
    )


def test_a_shift_of_both_paths_is_none() -> None:
    both = sums([30.0, 31.0, 29.0, 30.0])
    assert shift_between(both, both, 0.02, 2.0).p == 1.0


def test_a_shift_beyond_the_margin_by_hand() -> None:
    """Means 0.5 and 0 of 400 tokens each: D = 0.5, error sqrt(2 / 400), margin 0.02, t of 3."""
    found = shift_between(sums([50.0] * 4), sums([0.0] * 4), 0.02, 2.0)
    assert (found.difference, found.margin) == pytest.approx((0.5, 0.02))
    assert found.error == pytest.approx((2 / 400) ** 0.5)
    assert found.p == pytest.approx(2 * stats.t.sf(0.48 / (2 / 400) ** 0.5, 3))


def test_what_rounding_at_twice_the_scale_explains_is_no_shift() -> None:
    """The baseline strays by 0.2: a candidate at twice its rounding by 2.5 times that."""
    assert noise_factor(2.0) == 2.5
    strays = sums([20.0] * 100)
    assert shift_between(sums([50.0] * 100), strays, 0.02, 2.0).p == 1.0
    assert shift_between(sums([90.0] * 100), strays, 0.02, 2.0).p < 1e-6


def test_a_shift_in_one_session_of_many_is_none() -> None:
    """By tokens z would be 14; by sessions it is one of 20."""
    heaped = sums([400.0] + [0.0] * 19)
    assert shift_between(heaped, sums([0.0] * 20), 0.02, 2.0).p > 0.3


def test_sessions_that_share_a_seed_are_one_witness() -> None:
    turns = [("a", 7), ("b", 7), ("c", None), ("c", 8), ("d", 8), ("e", None)]
    assert witnesses(turns) == {"a": "a", "b": "a", "c": "c", "d": "c", "e": "e"}
    assert rows_of(turns) == ([0, 0, 1, 1, 1, 2], 3)
    assert rows_of([]) == ([], 0)


def test_holm() -> None:
    # Holm 1979: three tests, the textbook adjustment
    assert holm({"a": 0.01, "b": 0.04, "c": 0.03}) == pytest.approx(
        {"a": 0.03, "c": 0.06, "b": 0.06}
    )


def _turns(fault, sessions: int, length: int, request=None) -> list[SampledTurn]:
    turns = []
    for s in range(sessions):
        rng = np.random.default_rng(s)
        c = contexts(rng, length)
        candidate, baseline = draw(rng, fault(c)), draw(rng, c.probs)
        turns.append(
            SampledTurn(
                f"s{s}",
                "t",
                request or {"temperature": 1.0},
                listed(c, candidate),
                listed(c, baseline),
                tuple(int(d) for d in c.drafts),
            )
        )
    return turns


POLICY = Policy(excess_surprisal_margin=0.1)


def test_a_sound_path_passes() -> None:
    judged = judge_sampled(_turns(sound, 24, 500), POLICY, seed=0)
    assert [bound.state for bound in judged.bounds] == ["pass", "pass"]
    assert judged.findings == ()
    again = judge_sampled(_turns(sound, 24, 500)[::-1], POLICY, seed=0)
    assert again.bounds == judged.bounds


def test_a_wrong_residual_fails() -> None:
    judged = judge_sampled(_turns(wrong_residual, 24, 500), POLICY, seed=0)
    assert judged.bounds[0].state == "fail"
    assert {finding.code for finding in judged.findings} == {"SAMPLED_SHIFT"}


def test_a_distribution_that_even_the_baseline_breaks_condemns_nobody() -> None:
    turns = [
        SampledTurn(t.session, t.turn, {"temperature": 0.7}, t.candidate, t.baseline)
        for t in _turns(sound, 24, 500)
    ]
    judged = judge_sampled(turns, POLICY, seed=0)
    assert judged.candidate is not None
    assert judged.candidate.excess > 0.3
    assert judged.bounds[0].state == "inconclusive"
    assert judged.findings == ()


def test_without_the_baseline_s_tokens_nothing_is_decided() -> None:
    turns = [replace(turn, baseline=None) for turn in _turns(wrong_residual, 24, 500)]
    judged = judge_sampled(turns, POLICY, seed=0)
    assert [bound.state for bound in judged.bounds] == ["inconclusive", "inconclusive"]


def test_one_seed_for_all_turns_makes_one_witness_and_no_pass() -> None:
    request = {"temperature": 1.0, "seed": 42}
    judged = judge_sampled(_turns(sound, 24, 500, request), POLICY, seed=0)
    assert judged.compared is not None
    assert judged.compared.witnesses == 1
    assert judged.bounds[1].state == "inconclusive"


def test_what_cannot_be_rebuilt_is_counted() -> None:
    turns = _turns(sound, 4, 50, {"temperature": 1.0, "repetition_penalty": 1.2})
    judged = judge_sampled(turns, POLICY, seed=0)
    assert judged.not_judged == {"the distribution cannot be rebuilt: repetition_penalty": 4}
    assert [bound.state for bound in judged.bounds] == ["inconclusive", "inconclusive"]


def test_no_sampled_turn_is_not_applicable() -> None:
    assert {bound.state for bound in judge_sampled([], POLICY, 0).bounds} == {"not_applicable"}


def test_lists_leave_out_the_token_that_was_added() -> None:
    lists = top_lists([9], [{1: -0.1, 2: -3.0, 9: -8.0}], width=2)
    assert lists.ids.tolist() == [[1, 2]]
    assert distribution_of(lists, PLAIN).chosen.tolist() == [2]


def test_lists_come_from_a_wide_score() -> None:
    entry = {1: -0.1, 2: -3.0, 9: -8.0}
    score = Score("scored", (-8.0,), (-0.1,), (1,), listed=(entry,))
    assert listed_tokens(score, [9], 2).ids.tolist() == [[1, 2]]
    assert listed_tokens(score, [9], 4) is None
    assert listed_tokens(Score("scored", (-8.0,), (-0.1,), (1,)), [9], 2) is None
    assert listed_tokens(None, [9], 2) is None


def test_a_request_that_leaves_the_temperature_to_the_server_is_not_judged_and_says_why() -> None:
    """Journals of live traffic hold such requests; the gate's own always say."""
    turn = SampledTurn("s", "t", {"messages": []}, None, None, None, 3)
    scored = score_turn(turn, 0)
    assert scored.not_judged == "the request leaves the temperature to the server"
    assert scored.sent == 3
