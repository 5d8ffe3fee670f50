"""Tokens the distribution finds next to impossible: are there more of them than it predicts?

Linear statistics do not see rare corruption. The set of cells below 1e-4 is known before the token
is drawn, so the expected count is exactly the sum of their masses; against it the count is Poisson
(Le Cam 1960). The tolerated violation rate of the policy is added, for rounding may let in a token
that truncation cuts off, and so is what the baseline's own tokens show beyond their expectation.
"""

import math
from dataclasses import dataclass

from scipy import stats

from checks.sampled.distribution import Distribution

TAIL_INDEX = 3.0

TAIL_PROBABILITY = 1e-4
"""Probability below which a token belongs to the tail."""


@dataclass(frozen=True, slots=True)
class TailCount:
    """Observed and expected tail tokens, and how many positions were looked at."""

    observed: int
    expected: float
    positions: int

    def __add__(self, other: "TailCount") -> "TailCount":
        return TailCount(
            self.observed + other.observed,
            self.expected + other.expected,
            self.positions + other.positions,
        )

    def tolerated(self, rate: float, baseline: "TailCount", scale: float) -> float:
        """Expected count where `rate` more per token is allowed, and as much more than the baseline
        shows beyond its own expectation as rounding at `scale` times its size makes of it.

        Rates above a limit grow with the scale's power of the tail index; 3 is the heaviest that
        the policy knows (Pareto 3).
        """
        beyond = max(baseline.observed - baseline.expected, 0.0) / max(baseline.positions, 1)
        return self.expected + (rate + float(scale**TAIL_INDEX) * beyond) * self.positions


def tail_p(observed: int, mean: float, deff: float = 1.0) -> float:
    """One-sided Poisson p of so many or more, both deflated by the design effect."""
    return float(stats.poisson.sf(math.floor(observed / deff) - 1, mean / deff))


def tail_count(distribution: Distribution, probability: float = TAIL_PROBABILITY) -> TailCount:
    """Tail tokens among the judged positions of one turn."""
    probs, chosen = (
        distribution.probs[distribution.judged],
        distribution.chosen[distribution.judged],
    )
    tail = probs < probability
    observed = int(tail[range(len(chosen)), chosen].sum())
    return TailCount(observed, float((probs * tail).sum()), len(chosen))
