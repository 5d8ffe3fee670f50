"""Evidence against the distribution that stays valid however often one looks.

    E_n = mean over alternatives of  prod_t (1 + x_t) e^(-tolerated s_t)
    1 + x_t = q_t(y_t) / p_t(y_t)

Every alternative q is fixed before the token is drawn, so x_t has mean 0 and a known standard
deviation s_t under the distribution. Where rounding moves that mean by no more than `tolerated`
standard deviations, E is a non-negative supermartingale that begins at 1, for 1 + a <= e^a, and
``P(sup E >= 1/a) <= a`` (Ville 1939; Ramdas et al. 2023, arXiv 2210.01948). Alternatives: the
distribution at a temperature a little higher or lower, the best token preferred (lenient
acceptance), the drafted token preferred, and tilts of the randomized PIT.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.special import logsumexp

from checks.sampled.distribution import Distribution, Floats, Ints
from checks.sampled.pit import legendre

Flags = npt.NDArray[np.bool_]

TEMPERATURES = (0.9, 0.95, 1.05, 1.1)
BOOSTS = (0.02, 0.1)
TILTS = (-0.15, -0.05, 0.05, 0.15)
TILTED = 3
"""The first three Legendre components are tilted; |tilt * phi| stays below 1 (phi <= sqrt 7)."""


@dataclass(frozen=True, slots=True)
class Growth:
    """`logs` [n, alternatives]: log growth at the judged positions of one turn; `spread`, of the
    same shape: the standard deviation of the growth factor under the distribution."""

    logs: Floats
    spread: Floats

    @property
    def factor(self) -> Floats:
        """Growth factor less 1: mean 0 under the distribution."""
        return np.expm1(self.logs)


@dataclass(frozen=True, slots=True)
class EValue:
    """`last` after all tokens, `largest` along the way (at least the starting 1).

    `crossed` is the number of tokens after which the threshold was first reached; `None`: never.
    """

    last: float
    largest: float
    crossed: int | None


def increments(distribution: Distribution, u: Floats, drafts: Ints | None = None) -> Growth:
    """Growth of each alternative at the judged positions of one turn.

    `drafts` [n] holds drafted token ids, -1 where none is known; without it the draft-boosted
    alternatives stand still.
    """
    probs, chosen = (
        distribution.probs[distribution.judged],
        distribution.chosen[distribution.judged],
    )
    rows = np.arange(len(chosen))
    own = probs[rows, chosen]
    columns = [_tempered(probs, rows, chosen, temperature) for temperature in TEMPERATURES]
    best = np.zeros(len(chosen), dtype=np.int64)
    columns += [_boosted(probs, rows, best, chosen, boost) for boost in BOOSTS]
    drafted = _drafted(distribution, drafts)
    columns += [_boosted(probs, rows, drafted, chosen, boost) for boost in BOOSTS]
    logs = [np.where(own > 0, log, 0.0) for log, _ in columns]
    spread = [deviation for _, deviation in columns]
    tilted = legendre(u[distribution.judged])[:, :TILTED]
    for tilt in TILTS:
        logs += [np.log1p(tilt * tilted[:, k]) for k in range(TILTED)]
        spread += [np.full(len(chosen), abs(tilt))] * TILTED
    return Growth(np.stack(logs, axis=1), np.stack(spread, axis=1))


def _tempered(probs: Floats, rows: Ints, chosen: Ints, temperature: float) -> tuple[Floats, Floats]:
    """(log growth, its factor's standard deviation) at another temperature."""
    raised = probs ** (1.0 / temperature)
    raised /= raised.sum(axis=1, keepdims=True)
    with np.errstate(divide="ignore", invalid="ignore"):  # of the impossible, which counts nothing
        ratio = np.where(probs > 0, raised / probs, 0.0)
        log = np.log(ratio[rows, chosen])
    return log, np.sqrt(np.maximum((probs * ratio**2).sum(axis=1) - 1.0, 0.0))


def _boosted(
    probs: Floats, rows: Ints, cell: Ints, chosen: Ints, boost: float
) -> tuple[Floats, Floats]:
    """The same of ``((1 - boost) p + boost [cell]) / p``; cell -1: nothing is boosted."""
    known = cell >= 0
    p = np.where(known, probs[rows, np.maximum(cell, 0)], 1.0)
    known &= p > 0
    safe = np.where(p > 0, p, 1.0)
    grown = np.log((1 - boost) + boost * (chosen == cell) / safe)
    deviation = boost * np.sqrt(np.maximum(1.0 / safe - 1.0, 0.0))
    return np.where(known, grown, 0.0), np.where(known, deviation, 0.0)


def _drafted(distribution: Distribution, drafts: Ints | None) -> Ints:
    """Cell of the drafted token at judged positions; -1 where unknown, unlisted or impossible."""
    judged = np.flatnonzero(distribution.judged)
    if drafts is None:
        return np.full(len(judged), -1)
    hit = distribution.ids[judged] == drafts[judged][:, None]
    cell = distribution.cells[judged, hit.argmax(axis=1)]
    known = hit.any(axis=1) & (cell < distribution.ids.shape[1])
    return np.where(known, cell, -1)


def e_value(growth: Growth, threshold: float, tolerated: Floats | float = 0.0) -> EValue:
    """The averaged e-process over all positions in order.

    `tolerated` is by how many standard deviations rounding may move each alternative's mean.
    """
    if not len(growth.logs):
        return EValue(1.0, 1.0, None)
    paths = np.cumsum(growth.logs - tolerated * growth.spread, axis=0)
    logs = logsumexp(paths, axis=1) - np.log(paths.shape[1])
    crossed = np.flatnonzero(logs >= np.log(threshold))
    return EValue(
        _bounded(float(logs[-1])),
        _bounded(max(float(logs.max()), 0.0)),
        int(crossed[0]) + 1 if len(crossed) else None,
    )


def joined(parts: Sequence[Growth]) -> Growth:
    """One after the other."""
    return Growth(
        np.concatenate([part.logs for part in parts]), np.concatenate([p.spread for p in parts])
    )


def _bounded(log: float) -> float:
    """exp, short of overflow."""
    return float(np.exp(min(log, 700.0)))
