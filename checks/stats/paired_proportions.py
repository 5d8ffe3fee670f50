"""Two proportions measured on the same units: McNemar's test, and Newcombe's interval.

a  both succeed          b  only the baseline
c  only the candidate    d  neither
"""

import math
from dataclasses import dataclass

from scipy import stats


@dataclass(frozen=True, slots=True)
class PairedTable:
    """Counts of pairs; `difference` is candidate minus baseline."""

    both: int
    only_baseline: int
    only_candidate: int
    neither: int

    @property
    def pairs(self) -> int:
        """All pairs."""
        return self.both + self.only_baseline + self.only_candidate + self.neither

    @property
    def difference(self) -> float:
        """Candidate's share of successes minus the baseline's."""
        return (self.only_candidate - self.only_baseline) / self.pairs


def exact_mcnemar(table: PairedTable) -> float:
    """Two-sided exact p: the discordant pairs against a fair coin (McNemar 1947)."""
    discordant = table.only_baseline + table.only_candidate
    if discordant == 0:
        return 1.0
    return float(stats.binomtest(table.only_candidate, discordant, 0.5).pvalue)


def wilson(successes: int, trials: int, level: float = 0.95) -> tuple[float, float]:
    """Wilson score interval (Wilson 1927), without continuity correction."""
    interval = stats.binomtest(successes, trials).proportion_ci(level, method="wilson")
    return float(interval.low), float(interval.high)


def newcombe(table: PairedTable, level: float = 0.95) -> tuple[float, float]:
    """Interval of the paired difference: Newcombe 1998, Stat Med 17:2635, method 10.

    Two Wilson intervals, joined with the correlation phi of the pairs; its numerator is reduced
    by n/2 where positive, but not below 0.
    """
    n = table.pairs
    first, second = table.both + table.only_candidate, table.both + table.only_baseline
    p1, p2 = first / n, second / n
    (l1, u1), (l2, u2) = wilson(first, n, level), wilson(second, n, level)
    phi = _phi(table)
    low = math.sqrt(max((p1 - l1) ** 2 - 2 * phi * (p1 - l1) * (u2 - p2) + (u2 - p2) ** 2, 0.0))
    high = math.sqrt(max((u1 - p1) ** 2 - 2 * phi * (u1 - p1) * (p2 - l2) + (p2 - l2) ** 2, 0.0))
    return p1 - p2 - low, p1 - p2 + high


def _phi(table: PairedTable) -> float:
    a, b, c, d = table.both, table.only_baseline, table.only_candidate, table.neither
    product = (a + b) * (c + d) * (a + c) * (b + d)
    if product == 0:
        return 0.0
    numerator = float(a * d - b * c)
    if numerator > 0:
        numerator = max(numerator - (a + b + c + d) / 2, 0.0)
    return numerator / math.sqrt(product)


def zero_discordant_bound(pairs: int, level: float = 0.95) -> float:
    """Largest share of discordant pairs still plausible where none was seen: 1 - 0.05^(1/n).

    149 pairs bring it below 0.02.
    """
    return float(-math.expm1(math.log(1 - level) / pairs))


def loss_beyond(table: PairedTable, margin: float) -> float:
    """One-sided p of a loss of at most `margin`: Tango's score test (Tango 1998, Stat Med 17:891).

        z = (d + margin) / sqrt((2 q + margin - margin^2) / n),   d = (c - b) / n

    q is the share of pairs won by the candidate alone that fits the counts best where the true
    difference is ``-margin``: the larger root of
    ``2 n q^2 - [(b + c)(1 - margin) - 2 margin (a + c + d')] q - c margin (1 - margin) = 0`` with
    a and d' the concordant pairs.
    """
    n, won, lost = table.pairs, table.only_candidate, table.only_baseline
    linear = (won + lost) * (1 - margin) - 2 * margin * (n - lost)
    q = (linear + math.sqrt(linear**2 + 8 * n * won * margin * (1 - margin))) / (4 * n)
    spread = max(2 * q + margin - margin**2, 0.0) / n
    if spread == 0:
        return 1.0
    return float(stats.norm.cdf((table.difference + margin) / math.sqrt(spread)))


def share_limit(successes: int, trials: int, level: float = 0.95) -> float:
    """One-sided upper limit of a share (Clopper & Pearson 1934); 0 of n gives 1 - 0.05^(1/n)."""
    if trials == 0 or successes >= trials:
        return 1.0
    return float(stats.beta.ppf(level, successes + 1, trials - successes))


def pairs_for_margin(discordant: float, margin: float) -> int:
    """Pairs that show non-inferiority with power 0.9 at one-sided 0.025 if the paths are equal.

        n = (z_0.975 + z_0.9)^2 * discordant / margin^2        (Connor 1987)

    4% discordance and a margin of 2 points need 1,051 pairs.
    """
    z = float(stats.norm.ppf(0.975) + stats.norm.ppf(0.9))
    return math.ceil(z**2 * discordant / margin**2)
