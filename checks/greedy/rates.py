"""How often regret exceeds the soft bound: candidate against baseline, session by session.

The quantity is ``D = rate_C - 2 rate_A`` per token. Shapes are standardised to the candidate's mix
(decode and prefill shape round differently), so that D compares like with like:

    D = sum over shapes  N_C,shape / N_C  *  (X_C,shape / N_C,shape - 2 X_A,shape / N_A,shape)
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy import stats

from checks.stats.sessions import resampling_weights

Counts = npt.NDArray[np.float64]
LEVEL = 0.95
LEAST_P = 1e-9
"""Tails beyond are the approximation's and not the data's."""


@dataclass(frozen=True, slots=True)
class RateTable:
    """Exceedances and tokens per session and shape: four arrays of shape [sessions, shapes]."""

    candidate_exceed: Counts
    candidate_tokens: Counts
    noise_exceed: Counts
    noise_tokens: Counts


@dataclass(frozen=True, slots=True)
class RateEstimate:
    """`excess` is D per token; `low` and `high` are its one-sided 95% limits.

    The limits are the wider of the session bootstrap (percentile) and MOVER on exact Poisson
    limits with counts deflated by the design effect: with few exceedances the bootstrap alone is
    too narrow, and with none it says nothing. Without any exceedance `high` is 3.0 DEFF / n.
    `session_high` is the Clopper-Pearson limit of the share of sessions with an exceedance.
    """

    excess: float
    low: float
    high: float
    candidate_rate: float
    noise_rate: float
    exceedances: int
    noise_exceedances: int
    tokens: int
    noise_tokens: int
    sessions: int
    sessions_exceeding: int
    session_high: float
    deff: float


def poisson_limits(
    count: float, exposure: float, deff: float, level: float = LEVEL
) -> tuple[float, float]:
    """One-sided limits (95% by default) of a rate from `count` events in `exposure` tokens.

    Exact Poisson limits (Garwood 1936) of the effective count ``count / deff``; none seen gives
    ``3.0 deff / exposure``.
    """
    if exposure <= 0:
        return 0.0, float("inf")
    effective = count / deff
    low = stats.chi2.ppf(1 - level, 2 * effective) / 2 if effective > 0 else 0.0
    high = stats.chi2.isf(1 - level, 2 * effective + 2) / 2
    return float(low) * deff / exposure, float(high) * deff / exposure


def clopper_pearson(successes: int, trials: int) -> tuple[float, float]:
    """One-sided 95% limits of a share (Clopper & Pearson 1934); 0 of n gives 1 - 0.05^(1/n)."""
    if trials == 0:
        return 0.0, 1.0
    test = stats.binomtest(successes, trials)
    interval = test.proportion_ci(confidence_level=2 * LEVEL - 1, method="exact")
    return float(interval.low), float(interval.high)


def excess(table: RateTable, noise_ratio: float, weights: Counts | None = None) -> Counts:
    """D for each row of session weights (all ones by default), shape [rows]."""
    if weights is None:
        weights = np.ones((1, len(table.candidate_tokens)))
    candidate = weights @ table.candidate_exceed
    tokens = weights @ table.candidate_tokens
    noise_tokens = weights @ table.noise_tokens
    noise = (weights @ table.noise_exceed) / np.maximum(noise_tokens, 1.0)
    total = np.maximum(tokens.sum(axis=1), 1.0)
    return np.asarray((candidate.sum(axis=1) - noise_ratio * (tokens * noise).sum(axis=1)) / total)


def estimate(
    table: RateTable, deff: float, noise_ratio: float, samples: int, seed: int
) -> RateEstimate:
    """D with its limits. Needs at least one session and one candidate token."""
    sessions = len(table.candidate_tokens)
    centre = float(excess(table, noise_ratio)[0])
    drawn = excess(table, noise_ratio, resampling_weights(sessions, samples, seed))
    low, high = mover_limits(table, deff, noise_ratio)
    exceeding = int((table.candidate_exceed.sum(axis=1) > 0).sum())
    with_tokens = int((table.candidate_tokens.sum(axis=1) > 0).sum())
    tokens, exceedances = table.candidate_tokens.sum(), table.candidate_exceed.sum()
    return RateEstimate(
        excess=centre,
        low=min(low, float(np.quantile(drawn, 1 - LEVEL))),
        high=max(high, float(np.quantile(drawn, LEVEL))),
        candidate_rate=float(exceedances / tokens),
        noise_rate=_noise_rate(table),
        exceedances=int(exceedances),
        noise_exceedances=int(table.noise_exceed.sum()),
        tokens=int(tokens),
        noise_tokens=int(table.noise_tokens.sum()),
        sessions=with_tokens,
        sessions_exceeding=exceeding,
        session_high=clopper_pearson(exceeding, with_tokens)[1],
        deff=deff,
    )


def _shares(table: RateTable) -> Counts:
    tokens = table.candidate_tokens.sum(axis=0)
    return np.asarray(tokens / tokens.sum())


def _noise_rate(table: RateTable) -> float:
    rates = table.noise_exceed.sum(axis=0) / np.maximum(table.noise_tokens.sum(axis=0), 1.0)
    return float(_shares(table) @ rates)


def mover_limits(
    table: RateTable, deff: float, noise_ratio: float, level: float = LEVEL
) -> tuple[float, float]:
    """Limits of D from those of its single rates (MOVER; Zou & Donner 2008, Stat Med 27:1693)."""
    centre = float(excess(table, noise_ratio)[0])
    tokens, count = table.candidate_tokens.sum(), table.candidate_exceed.sum()
    rate = count / tokens
    low, high = poisson_limits(float(count), float(tokens), deff, level)
    below, above = (rate - low) ** 2, (high - rate) ** 2
    for shape, share in enumerate(_shares(table)):
        exposure = float(table.noise_tokens[:, shape].sum())
        if share == 0 or exposure == 0:
            continue
        seen = float(table.noise_exceed[:, shape].sum())
        noise_low, noise_high = poisson_limits(seen, exposure, deff, level)
        below += (noise_ratio * share * (noise_high - seen / exposure)) ** 2
        above += (noise_ratio * share * (seen / exposure - noise_low)) ** 2
    return centre - float(np.sqrt(below)), centre + float(np.sqrt(above))


def excess_p(table: RateTable, deff: float, noise_ratio: float) -> float:
    """One-sided p-value of ``D <= 0``: 1 minus the highest level whose lower limit lies above 0.

    The limit is MOVER's; 1.0 where no level has one, and never below `LEAST_P`.
    """

    def rejected(p: float) -> bool:
        return mover_limits(table, deff, noise_ratio, 1 - p)[0] > 0

    low, high = LEAST_P, 0.5
    if not rejected(high):
        return 1.0
    if rejected(low):
        return low
    while high / low > 1.01:
        middle = (low * high) ** 0.5
        low, high = (low, middle) if rejected(middle) else (middle, high)
    return high
