"""Counts against noise counts with weights."""

import numpy as np
import pytest
from scipy import stats

from checks.stats import excess_count


def excess_count_p(count: int, *args, effect: float = 1.0) -> float:
    return float(excess_count.excess_count_p(np.array([count]), *args, effect)[0])


@pytest.mark.parametrize(("count", "noise", "weight"), [(1, 0, 2.0), (7, 2, 2.0), (12, 9, 0.3)])
def test_against_one_count_it_is_the_binomial_test(count, noise, weight) -> None:
    exact = stats.binom.sf(count - 1, count + noise, weight / (1 + weight))
    found = excess_count_p(count, np.array([noise]), np.array([weight]), weight)
    assert found == pytest.approx(float(exact))


def test_a_count_of_the_baseline_is_not_its_rate() -> None:
    """None seen in as many tokens: at twice its rate k more have p = (2 / 3)^k."""
    found = excess_count_p(5, np.array([0]), np.array([2.0]), 2.0)
    assert found == pytest.approx((2 / 3) ** 5)


def test_equal_weights_are_one_count() -> None:
    split = excess_count_p(9, np.array([1, 0, 2]), np.array([1.5, 1.5, 1.5]), 1.5)
    assert split == pytest.approx(excess_count_p(9, np.array([3]), np.array([1.5]), 1.5))


def test_dispersion_and_nothing_seen() -> None:
    args = (np.array([2]), np.array([2.0]), 2.0)
    assert excess_count_p(0, *args) == 1.0
    assert excess_count_p(9, *args, effect=3.0) > excess_count_p(9, *args)


@pytest.mark.parametrize("weights", [[1.0, 1.0], [0.4, 3.0]])
def test_sound_counts_are_rejected_no_more_often_than_the_level(weights) -> None:
    """Two sessions, noise counts of mean 3 each; 5% of 4,000: 234 is the 99% quantile."""
    rng, w = np.random.default_rng(0), np.array(weights)
    rejected = 0
    for _ in range(4000):
        noise = rng.poisson(3.0, 2)
        count = rng.poisson((w * 3.0).sum())
        rejected += excess_count_p(int(count), noise, w, float(w.mean())) <= 0.05
    assert rejected <= 234
