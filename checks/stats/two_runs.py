"""The same quantities of two runs, compared with each other: what changed beyond noise.

    difference = new - old, interval by MOVER (Zou & Donner 2008, Stat Med 27:1693): its limits
    add in squares, the runs being independent

Many quantities are compared, so a change is one only where the interval widened for their number
(Bonferroni) excludes 0.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from scipy import stats

Change = Literal["worse", "better", "changed", "unclear", "same"]

LEVEL = 0.05


@dataclass(frozen=True, slots=True)
class Measured:
    """A value with its 95% interval, `None` where there is none, and which direction is better."""

    value: float
    low: float | None
    high: float | None
    better: Literal["higher", "lower"] | None = None


@dataclass(frozen=True, slots=True)
class Difference:
    """New minus old, with its 95% interval; `change` is `None` where there is no interval.

    ``worse``, ``better``, or ``changed`` where neither direction is better: beyond noise for the
    number of quantities compared; ``unclear``: beyond it for this one alone.
    """

    value: float
    low: float | None
    high: float | None
    change: Change | None


def differences(pairs: Sequence[tuple[Measured, Measured]]) -> list[Difference]:
    """One difference per (old, new), allowing for the number of those that have an interval."""
    reaches = [_reach(old, new) for old, new in pairs]
    compared = sum(reach is not None for reach in reaches)
    widened = _quantile(compared) / _quantile(1) if compared else 1.0
    found = []
    for (old, new), reach in zip(pairs, reaches, strict=True):
        value = new.value - old.value
        if reach is None:
            found.append(Difference(value, None, None, None))
            continue
        down, up = reach
        against = down if value > 0 else up
        change: Change = "changed"
        if abs(value) <= against:
            change = "same"
        elif abs(value) <= against * widened:
            change = "unclear"
        elif new.better is not None:
            change = "better" if (value > 0) == (new.better == "higher") else "worse"
        found.append(Difference(value, value - down, value + up, change))
    return found


def _reach(old: Measured, new: Measured) -> tuple[float, float] | None:
    """How far the interval of new - old goes down and up from the difference."""
    if old.low is None or old.high is None or new.low is None or new.high is None:
        return None
    down = math.hypot(new.value - new.low, old.high - old.value)
    up = math.hypot(new.high - new.value, old.value - old.low)
    return down, up


def _quantile(compared: int) -> float:
    return float(stats.norm.isf(LEVEL / 2 / compared))
