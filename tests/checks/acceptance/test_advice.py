"""Speed-up and break-even against figures worked out by hand and by simulation."""

import numpy as np
import pytest

from checks.acceptance.advice import Prediction, SliceCounts, StepTimes, fallback_ratio, predictions
from checks.acceptance.recommendation import prediction_json, recommend
from checks.stats.session_interval import Estimate

SESSIONS = tuple(f"s{i}" for i in range(30))


def counts(shares: list[float], dimension: str = "all", name: str = "all") -> SliceCounts:
    """1000 drafts per session, each position accepted with its share, without noise."""
    reached = [1000.0]
    for share in shares[:-1]:
        reached.append(reached[-1] * share)
    accepted = [r * share for r, share in zip(reached, shares, strict=True)]
    rows = len(SESSIONS)
    return SliceCounts(
        dimension, name, SESSIONS, np.tile(reached, (rows, 1)), np.tile(accepted, (rows, 1))
    )


def times(cost: float, drafting: float = 1.0, concurrency: int = 4) -> StepTimes:
    """Baseline steps of 10 ms; candidate steps cost `cost` times that."""
    row = [10_000.0, 1000.0, 10.0 * cost * 1000, 1000.0, 1000.0 * drafting]
    return StepTimes(concurrency, SESSIONS, np.tile(row, (len(SESSIONS), 1)))


def by_k(found: list[Prediction]) -> dict[int, Prediction]:
    return {p.k: p for p in found}


def test_the_announced_speed_ups_follow_from_their_own_figures() -> None:
    """τ = 3.013 at k = 3 and C = 1.48 give the 2.03x of the EAGLE 3.1 announcement."""
    roots = np.roots([1, 1, 1, 1 - 3.013])
    share = float(roots[np.isreal(roots)].real[0])
    found = by_k(predictions([counts([share] * 3)], times(1.4842)))
    assert found[3].length.value == pytest.approx(3.013)
    assert found[3].speedup.value == pytest.approx(2.03, abs=0.001)


def test_by_hand_for_each_k() -> None:
    """c = 0.8, 0.5, 0.25; a step costs 1.6: 0.2 per draft token."""
    found = by_k(predictions([counts([0.8, 0.5, 0.25])], times(1.6)))
    assert [found[k].length.value for k in (1, 2, 3)] == pytest.approx([1.8, 2.2, 2.3])
    assert [found[k].break_even.value for k in (1, 2, 3)] == pytest.approx([1.2, 1.4, 1.6])
    speedups = [found[k].speedup.value for k in (1, 2, 3)]
    assert speedups == pytest.approx([1.8 / 1.2, 2.2 / 1.4, 2.3 / 1.6])
    assert found[1].pessimistic == pytest.approx(1.8 / 1.6)
    assert found[3].state == "pays"


def test_a_smaller_k_pays_only_where_it_does_at_the_cost_of_the_one_that_ran() -> None:
    """c = 0.75, 0.67; a step costs 1.9: at k = 1 between 1.75 / 1.9 and 1.75 / 1.45."""
    found = by_k(predictions([counts([0.75, 2 / 3])], times(1.9)))
    assert (found[1].speedup.low, found[1].speedup.high) == pytest.approx((1.75 / 1.9, 1.75 / 1.45))
    assert found[1].speedup.value == pytest.approx(1.75 / 1.45)
    assert (found[1].state, found[2].state) == ("undecided", "pays")
    assert (found[2].speedup.low, found[2].speedup.high) == pytest.approx((2.25 / 1.9, 2.25 / 1.9))


def test_steps_that_draft_nothing_cost_what_the_baseline_costs() -> None:
    """Half of the steps draft; a step costs 1.2 on average, so a drafting one 1.4."""
    found = by_k(predictions([counts([0.5, 0.5])], times(1.2, drafting=0.5)))
    assert found[2].break_even.value == pytest.approx(1.4)
    assert found[2].speedup.value == pytest.approx((0.5 * 1.75 + 0.5) / 1.2)


def test_below_break_even_it_costs() -> None:
    found = by_k(predictions([counts([0.1, 0.1])], times(1.6)))
    assert {found[k].state for k in (1, 2)} == {"costs"}
    advice = recommend(list(found.values()), 2)
    assert (advice.enable, advice.k, advice.confirm_by_run) == (False, 0, False)


def test_recommendation_names_k_and_slices() -> None:
    slices = [
        counts([0.8, 0.5, 0.02]),
        counts([0.9, 0.7, 0.1], "template", "swe"),
        counts([0.05, 0.0, 0.0], "template", "chat"),
        counts([0.9, 0.9, 0.9], "boundary", "code"),
    ]
    advice = recommend(predictions(slices, times(1.6)), 3)
    assert advice.enable is True
    assert advice.k == 2
    assert advice.confirm_by_run
    assert advice.pays == (("template", "swe"),)
    assert advice.costs == (("template", "chat"),)
    said = advice.as_json()
    assert said["num_speculative_tokens"] == 2
    assert said["slices"]["costs"] == [{"dimension": "template", "slice": "chat"}]


def test_noise_between_sessions_leaves_it_undecided() -> None:
    rng = np.random.default_rng(1)
    share = rng.uniform(0.0, 1.0, len(SESSIONS))
    reached = np.full((len(SESSIONS), 1), 100.0)
    noisy = SliceCounts("all", "all", SESSIONS, reached, reached * share[:, None])
    advice = recommend(predictions([noisy], times(1.0 + float(share.mean()))), 1)
    assert advice.enable is None


def test_too_few_drafts_say_nothing() -> None:
    one = SliceCounts("all", "all", ("a",), np.array([[99.0]]), np.array([[50.0]]))
    (found,) = predictions([one], times(1.5))
    assert found.speedup.value is None
    assert found.state == "undecided"
    assert recommend([found], 1).k is None
    assert prediction_json(found)["speedup"]["value"] is None


def test_more_slices_need_more_certainty() -> None:
    def width(estimate: Estimate) -> float:
        assert estimate.low is not None
        assert estimate.high is not None
        return estimate.high - estimate.low

    rng = np.random.default_rng(2)
    reached = np.full((len(SESSIONS), 1), 100.0)

    def one(name: str) -> SliceCounts:
        share = rng.uniform(0.4, 0.8, (len(SESSIONS), 1))
        return SliceCounts("tool", name, SESSIONS, reached, reached * share)

    first = one("a")
    (alone,) = predictions([first], times(1.2))
    among = predictions([first, *(one(str(i)) for i in range(20))], times(1.2))[0]
    assert width(among.speedup) > width(alone.speedup)


def test_fallback_counts_empty_and_skipped_steps() -> None:
    """1000 steps a session, 600 draft, 100 of those accept nothing."""
    assert fallback_ratio(100, 600, 1000) == pytest.approx(0.5)
    assert fallback_ratio(0, 0, 0) is None


def test_truncating_drafts_is_what_a_smaller_k_does() -> None:
    """A drafter simulated at k = 4 predicts the acceptance length it has when run at k = 2."""
    rng = np.random.default_rng(3)

    def run(k: int) -> tuple[np.ndarray, np.ndarray, float]:
        reached, accepted, steps, total = np.zeros(k), np.zeros(k), 0, 0
        for _ in range(20_000):
            steps += 1
            for i in range(k):
                reached[i] += 1
                if rng.random() > 0.7 - 0.1 * i:
                    break
                accepted[i] += 1
                total += 1
        return reached, accepted, 1 + total / steps

    reached, accepted, _ = run(4)
    one = SliceCounts("all", "all", ("a",), reached[None, :], accepted[None, :])
    single = StepTimes(1, ("a",), np.array([[10.0, 1.0, 15.0, 1.0, 1.0]]))
    found = by_k(predictions([one], single))
    assert found[2].length.value == pytest.approx(run(2)[2], abs=0.02)
