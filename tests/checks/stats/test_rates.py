"""Rates, clustering and permutation: published numbers, coverage, size and power."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from checks.greedy.rate import (
    ASSURANCE,
    clopper_pearson,
    estimate,
    excess,
    growth_to_decide,
    mover_limits,
    poisson_limits,
)
from checks.greedy.rate_table import RateTable
from checks.policy import Policy
from checks.stats.clustering import design_effect, intraclass_correlation
from checks.stats.sessions import calibration_half, hash_order, resampling_weights
from checks.stats.sign_flip import sign_flip


def _table(x_c, n_c, x_a, n_a) -> RateTable:
    return RateTable(
        *(np.asarray(v, dtype=float).reshape(len(x_c), -1) for v in (x_c, n_c, x_a, n_a))
    )


def test_clopper_pearson_agrees_with_the_published_interval() -> None:
    # Newcombe 1998, Stat Med 17:857, table I, method 5 (95% two-sided): 15 of 148, 0 of 20
    two_sided = stats.binomtest(15, 148).proportion_ci(0.95, "exact")
    assert (two_sided.low, two_sided.high) == pytest.approx((0.0578, 0.1617), abs=5e-5)
    assert clopper_pearson(0, 20) == pytest.approx((0.0, 1 - 0.05 ** (1 / 20)))
    assert clopper_pearson(20, 20)[1] == 1.0
    assert clopper_pearson(0, 0) == (0.0, 1.0)


def test_poisson_limits_agree_with_the_published_table() -> None:
    # Garwood 1936: one-sided 95% limits of a count of 10 are 5.425 and 16.962; of 0, 2.996
    assert poisson_limits(10, 1.0, 1.0) == pytest.approx((5.4254, 16.9622), abs=1e-4)
    assert poisson_limits(0, 1.0, 1.0) == pytest.approx((0.0, 2.9957), abs=1e-4)
    assert poisson_limits(0, 30_000, 2.0)[1] == pytest.approx(2e-4, rel=2e-3)


def test_no_exceedance_is_the_rule_of_three() -> None:
    table = _table([0] * 20, [1000] * 20, [0] * 20, [1000] * 20)
    found = estimate(table, 1.0, 2.0, seed=0, samples=400)
    assert found.high == pytest.approx(3.0 / 20_000, rel=2e-3)
    assert found.excess == 0.0
    assert found.low <= 0.0
    assert found.session_high == pytest.approx(1 - 0.05 ** (1 / 20))


def test_excess_is_standardized_to_the_candidate_mix() -> None:
    # decode: 2/100 against 1/100; prefill: 9/300 against 10/1000. Mix 1/4, 3/4.
    table = _table([[2, 9]], [[100, 300]], [[1, 10]], [[100, 1000]])
    wanted = 0.25 * (0.02 - 2 * 0.01) + 0.75 * (0.03 - 2 * 0.01)
    assert excess(table, 2.0)[0] == pytest.approx(wanted)


def test_one_exceedance_never_gives_a_tighter_bound_than_none() -> None:
    n = [1000] * 20
    none = estimate(_table([0] * 20, n, [0] * 20, n), 2.0, 2.0, 0, 400).high
    one = estimate(_table([1] + [0] * 19, n, [0] * 20, n), 2.0, 2.0, 0, 400).high
    assert one > none


@pytest.mark.parametrize(("rate", "noise"), [(2e-3, 1e-3), (1e-3, 1e-3), (5e-4, 0.0)])
def test_the_upper_limit_covers(rate: float, noise: float) -> None:
    """One-sided 95%: the truth lies above the limit in at most 5% of runs, within error."""
    truth, missed, below = rate - 2 * noise, 0, 0
    n = np.full(24, 500)
    for seed in range(200):
        rng = np.random.default_rng(seed)
        table = _table(rng.binomial(n, rate), n, rng.binomial(n, noise), n)
        found = estimate(table, 1.0, 2.0, seed, 200)
        missed += found.high < truth
        below += found.low > truth
    assert missed <= stats.binom.ppf(0.999, 200, 0.05)
    assert below <= stats.binom.ppf(0.999, 200, 0.05)


def test_the_lower_limit_has_power() -> None:
    n, caught = np.full(24, 500), 0
    for seed in range(100):
        rng = np.random.default_rng(seed)
        table = _table(rng.binomial(n, 4e-3), n, rng.binomial(n, 5e-4), n)
        caught += mover_limits(table, 1.0, 2.0)[0] > 0
    assert caught >= 95


def test_clustering_by_hand() -> None:
    # two clusters of 4, one all hits, one none: no spread within, rho = 1, deff = 4
    assert intraclass_correlation([4, 0], [4, 4]) == pytest.approx(1.0)
    assert design_effect([4, 0], [4, 4]) == pytest.approx(4.0)
    # equal shares everywhere: rho = -1 / (m - 1), and the effect never falls below 1
    assert intraclass_correlation([2, 2], [4, 4]) == pytest.approx(-1 / 3)
    assert design_effect([2, 2], [4, 4]) == 1.0
    assert design_effect([0, 0], [4, 4]) is None
    assert intraclass_correlation([1], [4]) is None


def test_clustering_is_recovered() -> None:
    """Beta-binomial with rho = 1 / (a + b + 1) = 0.1, clusters of 20: deff = 1 + 19 * 0.1."""
    rng = np.random.default_rng(0)
    shares = rng.beta(1.8, 7.2, 4000)
    found = design_effect(rng.binomial(20, shares).tolist(), [20] * 4000)
    assert found == pytest.approx(2.9, rel=0.05)


def test_sign_flip_by_enumeration() -> None:
    # all five positive: 1 of 32 patterns reaches the sum
    assert sign_flip([1, 2, 3, 4, 5], seed=0).p == pytest.approx(1 / 32)
    # the smallest one negative: sums >= 13 are {+all, -1 flipped}: 2 of 32
    assert sign_flip([-1, 2, 3, 4, 5], seed=0).p == pytest.approx(2 / 32)
    assert sign_flip([0.0, 0.0], seed=0).p is None
    assert sign_flip([0.0, 1.0], seed=0).sessions == 1


def test_sign_flip_keeps_its_size_and_draws_agree_with_enumeration() -> None:
    rng = np.random.default_rng(1)
    p = [sign_flip(rng.normal(size=10), seed).p for seed in range(400)]
    rejected = sum(value <= 0.05 for value in p)
    low, high = stats.binom.interval(0.999, 400, 0.05)
    assert low <= rejected <= high
    many = np.r_[np.full(9, 1.0), np.full(5, -1.0)]
    # 14 signs, 9 or more positive: exact binomial
    assert sign_flip(many, 0).p == pytest.approx(stats.binom.sf(8, 14, 0.5), abs=0.01)


@given(st.sets(st.text(max_size=5), min_size=2), st.integers(0, 5))
def test_halves_are_even_and_depend_on_names_alone(names: set[str], seed: int) -> None:
    half = calibration_half(names, seed)
    assert len(half) == (len(names) + 1) // 2
    assert half == calibration_half(sorted(names), seed)
    assert hash_order(names, seed) == hash_order(sorted(names, reverse=True), seed)


def test_resampling_draws_as_many_sessions_as_there_are() -> None:
    weights = resampling_weights(7, 100, seed=3)
    assert weights.shape == (100, 7)
    assert set(weights.sum(axis=1)) == {7.0}


@pytest.mark.parametrize(("seen", "margin"), [(0, 1.25e-4), (2, 2e-4), (6, 4.5e-4)])
def test_a_run_of_the_size_that_is_asked_for_is_decided(seen: int, margin: float) -> None:
    """Runs of 20,000 tokens with `seen` exceedances, none of the baseline's own: grown to that size
    at their rate, 80% of them pass; with a quarter of what is added fewer do."""
    counts = [1.0] * seen + [0.0] * (10 - seen)

    def table(more: float = 0.0, growth: float = 1.0) -> RateTable:
        sizes = [2000.0 * growth] * 10
        return _table([count + more / 10 for count in counts], sizes, [0.0] * 10, sizes)

    found = estimate(table(), 1.0, 2.0, 0, 400)
    policy = Policy(rate_margin=margin)
    growth = growth_to_decide(table(), table(), found, policy, 1e-9)
    assert growth is not None

    def share(factor: float) -> float:
        more = np.random.default_rng(5).poisson(seen * (factor - 1), 400)
        grown = (mover_limits(table(float(x), factor), 1.0, 2.0)[1] for x in more)
        return float(np.mean([high <= margin for high in grown]))

    # Three points for 400 draws (standard error 2), and for the steps of a count.
    assert share(growth) >= ASSURANCE - 0.03
    assert share(1 + (growth - 1) / 4) < ASSURANCE
