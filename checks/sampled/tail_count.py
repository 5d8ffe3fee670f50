"""Tokens the law finds next to impossible: are there more of them than it predicts?

Linear statistics do not see rare corruption. The set of cells below 1e-4 is known before the token
is drawn, so the expected count is exactly the sum of their masses; against it the count is Poisson
(Le Cam 1960). The tolerated violation rate of the policy is added: rounding may let in a token that
truncation cuts off.
"""

from dataclasses import dataclass

from scipy import stats

from checks.sampled.distribution import Law

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

    def p(self, tolerated_rate: float) -> float:
        """One-sided Poisson p of so many or more."""
        mean = self.expected + tolerated_rate * self.positions
        return float(stats.poisson.sf(self.observed - 1, mean))


def tail_count(law: Law, probability: float = TAIL_PROBABILITY) -> TailCount:
    """Tail tokens among the judged positions of one turn."""
    probs, chosen = law.probs[law.judged], law.chosen[law.judged]
    tail = probs < probability
    observed = int(tail[range(len(chosen)), chosen].sum())
    return TailCount(observed, float((probs * tail).sum()), len(chosen))
