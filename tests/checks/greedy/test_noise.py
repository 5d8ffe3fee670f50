"""The noise floor, and the bounds it gives."""

import numpy as np
import pytest

from checks.greedy.noise import explained_regret, measure_noise
from checks.policy import Policy

POLICY = Policy()


def _noise(learn, test=()):
    return measure_noise("decode", [np.asarray(learn, float)], [np.asarray(test, float)], POLICY)


def test_too_few_tokens_leave_the_floors() -> None:
    found = _noise([0.2] * 29_999)
    assert (found.calibrated, found.hard, found.soft) == (False, 1.0, 0.30)
    assert found.maximum == 0.2


@pytest.mark.parametrize(
    ("largest", "hard", "soft"),
    [(0.1, 1.0, 0.30), (0.4, 1.6, 0.4), (0.45, 1.8, 0.45), (2.0, 4.0, 2.0)],
)
def test_bounds_follow_the_quantile(largest: float, hard: float, soft: float) -> None:
    # the 99.99% quantile of 30,000 values, upper order statistic, is the third largest
    found = _noise([0.0] * 29_997 + [largest] * 3)
    assert found.quantile == largest
    assert (found.hard, found.soft) == pytest.approx((hard, soft))
    assert found.too_noisy is None


def test_a_baseline_near_its_own_bound_is_too_noisy() -> None:
    found = _noise([0.0] * 30_000, [0.55])
    assert "would exceed the hard bound" in found.too_noisy
    assert _noise([0.0] * 30_000, [0.45]).too_noisy is None


def test_declared_heavy_tails_condemn_no_single_token() -> None:
    heavy = Policy(noise_tails="heavy")
    assert measure_noise("decode", [np.zeros(10)], [], heavy).too_noisy is not None


def test_a_fork_above_the_hard_bound_is_explained_by_a_noisy_baseline_alone() -> None:
    quiet, loud = _noise([0.0] * 30_000, [0.45]), _noise([0.0] * 30_000, [1.5])
    assert (quiet.hard, quiet.explained) == (1.0, 1.0)
    assert (loud.hard, loud.explained) == (1.0, 6.0)  # four times the largest, not below 4 nat
    assert explained_regret([loud]) == 6.0
    heavy = measure_noise("decode", [np.zeros(10)], [], Policy(noise_tails="heavy"))
    assert heavy.explained == 4.0
    assert explained_regret([]) == 1.0


def test_a_baseline_with_frequent_large_regrets_is_too_noisy() -> None:
    found = _noise([0.0] * 29_960 + [0.6] * 40)
    assert "99.9%" in found.too_noisy


def test_no_tokens_measure_nothing() -> None:
    found = _noise([])
    assert (found.maximum, found.upper, found.quantile) == (None, None, None)
