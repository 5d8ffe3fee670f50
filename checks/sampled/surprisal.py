"""Surprisal of sampled tokens against what the law expects: a martingale, and an equivalence test.

    excess_t = f_t(y_t) - E f_t,   f_t = -ln p_t(cell),   Z = sum excess / sqrt(sum Var f_t)

Each excess has mean zero given the prefix, so Z is asymptotically standard normal (martingale
central limit theorem). A flatter law (temperature too high, lenient acceptance) makes it positive.
"""

from dataclasses import dataclass

import numpy as np
from scipy import stats

from checks.sampled.distribution import Floats, Law

LEAST = 1e-9
"""Probability below which surprisal no longer grows; keeps one impossible token finite."""


@dataclass(frozen=True, slots=True)
class Surprisal:
    """Excess surprisal and its variance under the law, per judged position (nat, nat^2)."""

    excess: Floats
    variance: Floats


def surprisal_of(law: Law) -> Surprisal:
    """Of the judged positions of one turn."""
    probs, chosen = law.probs[law.judged], law.chosen[law.judged]
    value = -np.log(np.maximum(probs, LEAST))
    mean = (probs * value).sum(axis=1)
    variance = (probs * value**2).sum(axis=1) - mean**2
    drawn = value[np.arange(len(chosen)), chosen]
    return Surprisal(drawn - mean, np.maximum(variance, 0.0))


def martingale_z(excess: Floats, variance: Floats) -> tuple[float, float]:
    """(Z, two-sided p); (0, 1) where no position has any spread."""
    spread = float(variance.sum())
    if spread <= 0:
        return 0.0, 1.0
    z = float(excess.sum()) / spread**0.5
    return z, float(2 * stats.norm.sf(abs(z)))


def tokens_for_equivalence(variance: float, margin: float, deff: float = 1.0) -> int:
    """Tokens that show equivalence (TOST, level 5%) with power 0.9 where the paths are equal.

        n = deff Var ((z_0.95 + z_0.95) / margin)^2        (Schuirmann 1987)

    Variance 0.3 nat^2 and a margin of 0.02 nat need about 8,100 tokens.
    """
    z = 2 * float(stats.norm.ppf(0.95))
    return int(np.ceil(deff * variance * (z / margin) ** 2))
