"""The noise floor, and the bounds it gives."""

import numpy as np
import pytest

from checks.greedy.noise import explained_regret, grid_step, measure_noise
from checks.policy import Policy

POLICY = Policy()


def _noise(learn, test=()):
    return measure_noise("decode", [np.asarray(learn, float)], [np.asarray(test, float)], POLICY)


def test_too_few_tokens_leave_the_floors() -> None:
    found = _noise([0.2] * 29_999)
    assert (found.calibrated, found.far, found.soft) == (False, 1.0, 0.30)
    assert found.maximum == 0.2


@pytest.mark.parametrize(("largest", "soft"), [(0.1, 0.30), (0.4, 0.4), (0.45, 0.45), (2.0, 2.0)])
def test_the_soft_bound_follows_the_quantile(largest: float, soft: float) -> None:
    # the 99.99% quantile of 30,000 values, upper order statistic, is the third largest
    found = _noise([0.0] * 29_997 + [largest] * 3)
    assert (found.quantile, found.soft) == pytest.approx((largest, soft))
    # Where q moves nothing, nothing was learned from the half that it comes from.
    assert found.calibrated == (largest > 0.30)


@pytest.mark.parametrize(("largest", "far"), [(0.1, 1.0), (0.25, 1.0), (0.5, 2.0), (1.5, 6.0)])
def test_far_is_four_times_the_largest_of_the_baseline(largest: float, far: float) -> None:
    found = _noise([0.0] * 30_000, [largest])
    assert found.far == far
    assert explained_regret([found]) == far


@pytest.mark.parametrize(
    ("tails", "words"), [("light", None), ("auto", "not known to be light"), ("heavy", "are heavy")]
)
def test_one_token_condemns_where_tails_are_known_to_be_light(tails, words) -> None:
    found = measure_noise("decode", [np.zeros(10)], [], Policy(noise_tails=tails))
    assert (found.open is None) if words is None else (words in found.open)
    assert found.far == (4.0 if tails == "heavy" else 1.0)
    assert explained_regret([]) == 1.0


@pytest.mark.parametrize(
    ("values", "step"),
    [
        ([0.25] * 9, None),  # too few
        ([0.25] * 8 + [0.5] * 4, 0.25),
        ([0.5] * 12, 0.5),
        ([0.125] * 10 + [0.25] * 5 + [0.500001], 0.125),
        ([0.0312, 0.107, 0.2] * 5, None),  # float32 logits
        ([0.03125] * 40 + [0.01], 0.03125),  # one of another magnitude
    ],
)
def test_the_grid_is_read_off_the_regrets(values, step) -> None:
    assert grid_step(np.asarray(values + [0.0] * 50)) == step


def test_one_step_of_a_wide_grid_is_no_exceedance() -> None:
    """Logits above 64 lie 0.5 apart: a flip of one step is rounding."""
    assert _noise([0.0] * 100 + [0.5] * 12).soft == pytest.approx(0.6)


def test_no_tokens_measure_nothing() -> None:
    found = _noise([])
    assert (found.maximum, found.step, found.quantile) == (None, None, None)
