"""Exact limits of a share whose trials come in sessions, be its events few or none.

Clopper-Pearson at the effective number of trials: those seen, divided by the design effect of the
sessions (at least 1), times (z / t with n-1 degrees of freedom)² for a design effect known from n
sessions only. Source: Korn & Graubard 1998, Survey Methodology 24:193.
"""

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy import stats


@dataclass(frozen=True, slots=True)
class Share:
    """A share with its one-sided limits, each at the level asked for."""

    value: float
    low: float
    high: float


def effective_share(sums: npt.NDArray[np.float64], level: float) -> Share | None:
    """Hits over trials of `sums`, one row (hits, trials) per session; `level` of each limit.

    `None` of fewer than two sessions with a trial: one says nothing about others.
    """
    sums = sums[sums[:, 1] > 0]
    sessions, trials = len(sums), float(sums[:, 1].sum())
    if sessions < 2:
        return None
    rate = float(sums[:, 0].sum()) / trials
    seen = sessions / (sessions - 1) * np.sum((sums[:, 0] - rate * sums[:, 1]) ** 2) / trials**2
    alone = rate * (1 - rate) / trials
    effect = max(1.0, float(seen / alone)) if alone > 0 else 1.0
    n = trials / effect * float(stats.norm.ppf(level) / stats.t.ppf(level, sessions - 1)) ** 2
    hits = rate * n
    low = float(stats.beta.ppf(1 - level, hits, n - hits + 1)) if rate > 0 else 0.0
    high = float(stats.beta.ppf(level, hits + 1, n - hits)) if rate < 1 else 1.0
    return Share(rate, low, high)


def excess_limits(rate: Share, noise: Share) -> tuple[float, float]:
    """One-sided limits of `rate` less `noise` (MOVER; Zou & Donner 2008, Stat Med 27:1693).

    Taken as independent, which of the same sessions errs on the wide side.
    """
    difference = rate.value - noise.value
    down = math.hypot(rate.value - rate.low, noise.high - noise.value)
    up = math.hypot(rate.high - rate.value, noise.value - noise.low)
    return difference - down, difference + up
