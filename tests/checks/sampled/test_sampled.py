"""Size and power of the sampled tests on streams whose law is known."""

import numpy as np
import pytest
from scipy import stats

from checks.policy import Policy
from checks.sampled.distribution import law_of
from checks.sampled.draft_acceptance import draft_count
from checks.sampled.e_process import e_value, increments
from checks.sampled.judge import judge_sampled
from checks.sampled.pit import pit, pit_draws, smooth_test
from checks.sampled.sampling import Sampling
from checks.sampled.surprisal import martingale_z, surprisal_of, tokens_for_equivalence
from checks.sampled.tail_count import TailCount, tail_count
from checks.sampled.turn import SampledTurn, listed_tokens, top_lists
from checks.stats.holm import holm
from evidence.sampled_faults import (
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
    law = law_of(listed(c, tokens), PLAIN)
    return c, law, pit(law, pit_draws(seed, "s", "t", count))


def _within(rejections: int, level: float) -> bool:
    """Inside the central 99.9% of a binomial of 200 draws."""
    low, high = stats.binom.interval(0.999, SEEDS, level)
    return low <= rejections <= high


def test_every_test_keeps_its_size() -> None:
    surprisal, smooth, drafts, e = 0, 0, 0, 0
    tail = TailCount(0, 0.0, 0)
    for seed in range(SEEDS):
        c, law, u = _run(sound, 400, seed)
        found = surprisal_of(law)
        surprisal += martingale_z(found.excess, found.variance)[1] <= 0.05
        smooth += smooth_test(u).p <= 0.05
        drafts += draft_count(law, c.drafts).p <= 0.05
        e += e_value(increments(law, u, c.drafts), 20).crossed is not None
        tail += tail_count(law, 2e-3)
    assert _within(surprisal, 0.05)
    assert _within(smooth, 0.05)
    assert _within(drafts, 0.05)
    assert e <= stats.binom.ppf(0.999, SEEDS, 0.05)
    assert tail.expected > 20
    assert 0.001 < stats.poisson.cdf(tail.observed, tail.expected) < 0.999


def _predicted(fault, statistic, seed: int = 99) -> int:
    """Tokens for power 0.9 at two-sided 1%, from the laws alone (no draws)."""
    c = contexts(np.random.default_rng(seed), 4000)
    value, mean, null, alternative = statistic(c, fault(c))
    z = stats.norm.ppf(0.995) * np.sqrt(null) + stats.norm.ppf(0.9) * np.sqrt(alternative)
    return int(np.ceil((z / mean) ** 2)) if value else 0


def _surprisal_moments(c, law):
    order = np.argsort(-c.probs, axis=1)
    p, q = (np.take_along_axis(x, order, axis=1) for x in (c.probs, law))
    p, q = (np.concatenate([x[:, :LISTED], x[:, LISTED:].sum(1, keepdims=True)], 1) for x in (p, q))
    f = -np.log(np.maximum(p, 1e-300))
    centre = (p * f).sum(1, keepdims=True)
    excess = f - centre
    mean = (q * excess).sum(1).mean()
    return True, mean, (p * excess**2).sum(1).mean(), (q * excess**2).sum(1).mean() - mean**2


def _draft_moments(c, law):
    rows = np.arange(len(c.drafts))
    p, q = c.probs[rows, c.drafts], law[rows, c.drafts]
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
        _, law, _ = _run(fault, count, 1000 + seed)
        found = surprisal_of(law)
        caught += martingale_z(found.excess, found.variance)[1] <= 0.01
    low, high = stats.binom.interval(0.9999, runs, 0.9)
    assert low <= caught <= high


@pytest.mark.parametrize("fault", [wrong_residual, lenient(0.9)], ids=["residual", "lenient"])
def test_known_drafts_need_fewer_tokens(fault) -> None:
    count, blind = _predicted(fault, _draft_moments), _predicted(fault, _surprisal_moments)
    assert count < blind / 2
    runs = min(SEEDS, 200_000 // count)
    caught = 0
    for seed in range(runs):
        c, law, _ = _run(fault, count, 2000 + seed)
        caught += draft_count(law, c.drafts).p <= 0.01
    low, high = stats.binom.interval(0.9999, runs, 0.9)
    assert low <= caught <= high


def test_the_e_process_catches_a_wrong_residual_and_a_temperature() -> None:
    c, law, u = _run(wrong_residual, 4000, 5)
    blind = e_value(increments(law, u), 100).crossed
    assert blind is not None
    assert e_value(increments(law, u, c.drafts), 100).crossed < blind
    _, law, u = _run(tempered(1.1), 6000, 6)
    assert e_value(increments(law, u), 100).crossed is not None


def test_one_tail_token_in_ten_thousand_is_tolerated_and_fifty_are_not() -> None:
    assert TailCount(1, 0.01, 10_000).p(1e-4) > 0.1
    assert TailCount(50, 0.01, 10_000).p(1e-4) < 1e-6


def test_tokens_for_equivalence_agrees_with_the_published_sizes() -> None:
    assert tokens_for_equivalence(0.3, 0.02) == pytest.approx(8_100, rel=0.01)
    assert tokens_for_equivalence(1.0, 0.02) == pytest.approx(27_000, rel=0.01)


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
        ours, theirs = draw(rng, fault(c)), draw(rng, c.probs)
        turns.append(
            SampledTurn(
                f"s{s}",
                "t",
                request or {"temperature": 1.0},
                listed(c, ours),
                listed(c, theirs),
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


def test_a_law_that_even_the_baseline_breaks_condemns_nobody() -> None:
    turns = [
        SampledTurn(t.session, t.turn, {"temperature": 0.7}, t.candidate, t.baseline)
        for t in _turns(sound, 24, 500)
    ]
    judged = judge_sampled(turns, POLICY, seed=0)
    assert judged.bounds[0].state == "inconclusive"
    assert judged.findings == ()


def test_what_cannot_be_rebuilt_is_counted() -> None:
    turns = _turns(sound, 4, 50, {"temperature": 1.0, "repetition_penalty": 1.2})
    judged = judge_sampled(turns, POLICY, seed=0)
    assert judged.not_judged == {"the law cannot be rebuilt: repetition_penalty": 4}
    assert [bound.state for bound in judged.bounds] == ["inconclusive", "inconclusive"]


def test_no_sampled_turn_is_not_applicable() -> None:
    assert {bound.state for bound in judge_sampled([], POLICY, 0).bounds} == {"not_applicable"}


def test_lists_leave_out_the_token_that_was_added() -> None:
    lists = top_lists([9], [{1: -0.1, 2: -3.0, 9: -8.0}], width=2)
    assert lists.ids.tolist() == [[1, 2]]
    assert law_of(lists, PLAIN).chosen.tolist() == [2]


def test_lists_come_from_a_wide_score() -> None:
    entry = {1: -0.1, 2: -3.0, 9: -8.0}
    score = Score("scored", (-8.0,), (-0.1,), (1,), listed=(entry,))
    assert listed_tokens(score, [9], 2).ids.tolist() == [[1, 2]]
    assert listed_tokens(score, [9], 4) is None
    assert listed_tokens(Score("scored", (-8.0,), (-0.1,), (1,)), [9], 2) is None
    assert listed_tokens(None, [9], 2) is None
