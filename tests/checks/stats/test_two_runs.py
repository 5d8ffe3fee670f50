"""What changed between two runs, worked out by hand."""

import pytest

from checks.stats.two_runs import Difference, Measured, differences


def test_the_limits_add_in_squares() -> None:
    """10 (7 … 14) and 20 (16 … 23): down by sqrt(4² + 4²), up by sqrt(3² + 3²)."""
    (found,) = differences([(Measured(10, 7, 14, "higher"), Measured(20, 16, 23, "higher"))])
    assert found.value == 10
    assert found.low == pytest.approx(10 - 32**0.5)
    assert found.high == pytest.approx(10 + 18**0.5)
    assert found.change == "better"


@pytest.mark.parametrize(
    ("better", "new", "change"),
    [
        ("higher", 8.0, "worse"),
        ("lower", 8.0, "better"),
        (None, 8.0, "changed"),
        ("higher", 9.0, "same"),  # 1 is no more than sqrt(2)
        ("higher", 10.0, "same"),
        ("lower", 12.0, "worse"),
    ],
)
def test_a_change_is_named_by_its_direction(better: str, new: float, change: str) -> None:
    old = Measured(10.0, 9.0, 11.0, better)  # type: ignore[arg-type]
    now = Measured(new, new - 1, new + 1, better)  # type: ignore[arg-type]
    assert differences([(old, now)])[0].change == change


def test_among_many_a_change_must_be_larger() -> None:
    """Of 20, the 1 - 0.05 / 40 quantile counts: 3.0233 / 1.9600 = 1.5425 times the reach."""
    still = Measured(0.0, -1.0, 1.0, "higher")
    reach = 2**0.5
    above, below = 1.55 * reach, 1.53 * reach
    moved = [Measured(value, value - 1, value + 1, "higher") for value in (above, below)]
    pairs = [(still, one) for one in moved] + [(still, still)] * 18
    changes = [one.change for one in differences(pairs)]
    assert changes == ["better", "unclear", *["same"] * 18]
    assert differences(pairs[1:2])[0].change == "better"


def test_without_an_interval_nothing_is_said() -> None:
    pairs = [(Measured(1.0, None, None), Measured(2.0, 1.9, 2.1))]
    assert differences(pairs) == [Difference(1.0, None, None, None)]
    assert differences([]) == []
