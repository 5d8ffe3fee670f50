"""Does a mean of the candidate's tokens differ from the baseline's by more than rounding may?

Every statistic of a token has mean 0 and a known variance under the distribution it is
checked against. That distribution is read off scores that carry rounding, so the baseline's own
tokens have a mean a little off 0; what counts is the candidate's beside it.

    D(k) = mean_C - k mean_A,   k = 1 and k = (scale^2 + 1) / 2

Rounding moves a mean by a term of second order, in proportion to the variance of the tokens'
rounding and of the scores' together: at `scale` times the tokens' rounding, by (scale^2 + 1) / 2
times as much. A shift exceeds the margin by the test of D(1), and on the same side by that of the
other, at 5%. The standard error is that of session sums (linearized ratio; Cochran 1977, ch. 6),
never less than the distribution's own; p from Student's t with sessions - 1 degrees of freedom.
"""

from dataclasses import dataclass

import numpy as np
from scipy import stats

from checks.sampled.distribution import Floats

NOISE_P = 0.05
"""Level at which a shift must exceed what larger rounding would make of the baseline's."""


@dataclass(frozen=True, slots=True)
class SessionSums:
    """Of one statistic and one path, by session [sessions]: sum, variance under the distribution,
    tokens."""

    total: Floats
    variance: Floats
    tokens: Floats

    @property
    def mean(self) -> float:
        """Per token; 0 where there is none."""
        tokens = self.tokens.sum()
        return float(self.total.sum() / tokens) if tokens else 0.0


@dataclass(frozen=True, slots=True)
class Shift:
    """`difference` is candidate minus baseline per token, `error` its standard error, `margin` what
    is tolerated of it; `p` is two-sided, of a shift beyond. `freedom`: degrees of freedom."""

    difference: float
    error: float
    margin: float
    p: float
    freedom: int

    def interval(self, level: float) -> tuple[float, float] | None:
        """Two-sided limits of the difference; `None` of fewer than two sessions."""
        if self.freedom < 1:
            return None
        reach = float(stats.t.ppf(0.5 + level / 2, self.freedom)) * self.error
        return self.difference - reach, self.difference + reach


def shift_between(
    candidate: SessionSums, baseline: SessionSums | None, deviations: float, scale: float
) -> Shift:
    """Rows of both are the same sessions; `deviations` is the margin in standard deviations."""
    tokens = candidate.tokens.sum()
    freedom = int(np.count_nonzero(candidate.tokens)) - 1
    spread = (candidate.variance.sum() / max(tokens, 1.0)) ** 0.5
    margin = float(deviations * spread)
    found = _difference(candidate, baseline, 0.0 if baseline is None else 1.0)
    noisier = _difference(candidate, baseline, noise_factor(scale))
    p = min(
        _beyond(sign * found[0] - margin, found[1], freedom)
        if _beyond(sign * noisier[0] - margin, noisier[1], freedom) <= NOISE_P
        else 1.0
        for sign in (1, -1)
    )
    return Shift(*found, margin, min(1.0, 2 * p), freedom)


def noise_factor(scale: float) -> float:
    """How much further a mean strays where the tokens' rounding has `scale` times its size."""
    return (scale**2 + 1) / 2


def _difference(
    candidate: SessionSums, baseline: SessionSums | None, factor: float
) -> tuple[float, float]:
    value, residual, own = _part(candidate)
    if baseline is not None and factor:
        other, baseline_residual, noise = _part(baseline)
        value, residual = value - factor * other, residual - factor * baseline_residual
        own += factor**2 * noise
    sessions = len(residual)
    clustered = float((residual**2).sum()) * sessions / max(sessions - 1, 1)
    return value, max(clustered, own) ** 0.5


def _part(sums: SessionSums) -> tuple[float, Floats, float]:
    """(mean, its residual by session, its variance under the distribution)."""
    tokens = max(float(sums.tokens.sum()), 1.0)
    residual = (sums.total - sums.mean * sums.tokens) / tokens
    return sums.mean, residual, float(sums.variance.sum()) / tokens**2


def _beyond(value: float, error: float, freedom: int) -> float:
    if freedom < 1 or error <= 0:
        return 1.0
    return float(stats.t.sf(value / error, freedom))
