"""Surprisal of sampled tokens against what the distribution expects.

    excess_t = f_t(y_t) - E f_t,   f_t = -ln p_t(cell)

Each excess has mean zero given the prefix. A flatter distribution (temperature too high, lenient
acceptance) makes it positive.
"""

from dataclasses import dataclass

import numpy as np
from scipy import stats

from checks.sampled.distribution import Distribution, Floats

LEAST = 1e-9
"""Probability below which surprisal no longer grows; keeps one impossible token finite."""


@dataclass(frozen=True, slots=True)
class Surprisal:
    """Excess surprisal and its variance under the distribution, per judged position (nat, nat²)."""

    excess: Floats
    variance: Floats


def surprisal_of(distribution: Distribution) -> Surprisal:
    """Of the judged positions of one turn."""
    probs, chosen = (
        distribution.probs[distribution.judged],
        distribution.chosen[distribution.judged],
    )
    value = -np.log(np.maximum(probs, LEAST))
    mean = (probs * value).sum(axis=1)
    variance = (probs * value**2).sum(axis=1) - mean**2
    drawn = value[np.arange(len(chosen)), chosen]
    return Surprisal(drawn - mean, np.maximum(variance, 0.0))


def tokens_for_equivalence(variance: float, margin: float, deff: float = 1.0) -> int:
    """Tokens of each path that show equivalence (TOST, 5%) with power 0.9 where they are equal.

        n = 2 deff Var ((z_0.95 + z_0.95) / margin)^2        (Schuirmann 1987; 2: two paths)

    Variance 0.3 nat^2 and a margin of 0.02 nat need about 16,200 tokens.
    """
    z = 2 * float(stats.norm.ppf(0.95))
    return int(np.ceil(2 * deff * variance * (z / margin) ** 2))
