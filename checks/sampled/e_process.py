"""Evidence against the law that stays valid however often one looks.

    E_n = mean over alternatives of  prod_t q_t(y_t) / p_t(y_t)

Every alternative q is fixed before the token is drawn, so E is a non-negative martingale with mean
1 under the law, and ``P(sup E >= 1/a) <= a`` (Ville 1939; Ramdas et al. 2023, arXiv 2210.01948).
Alternatives: the law at a temperature a little higher or lower, the best token preferred (lenient
acceptance), the drafted token preferred, and tilts of the randomised PIT.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.special import logsumexp

from checks.sampled.distribution import Floats, Ints, Law
from checks.sampled.pit import legendre

Flags = npt.NDArray[np.bool_]

TEMPERATURES = (0.9, 0.95, 1.05, 1.1)
BOOSTS = (0.02, 0.1)
TILTS = (-0.15, -0.05, 0.05, 0.15)
TILTED = 3
"""The first three Legendre components are tilted; |tilt * phi| stays below 1 (phi <= sqrt 7)."""


@dataclass(frozen=True, slots=True)
class EValue:
    """`last` after all tokens, `largest` along the way (at least the starting 1).

    `crossed` is the number of tokens after which the threshold was first reached; `None`: never.
    """

    last: float
    largest: float
    crossed: int | None


def increments(law: Law, u: Floats, drafts: Ints | None = None) -> Floats:
    """Log growth of each alternative at the judged positions of one turn: [n, alternatives].

    `drafts` [n] holds drafted token ids, -1 where none is known; without it the draft-boosted
    alternatives stand still.
    """
    probs, chosen = law.probs[law.judged], law.chosen[law.judged]
    rows = np.arange(len(chosen))
    own = probs[rows, chosen]
    possible = own > 0
    with np.errstate(divide="ignore"):
        logs = np.log(probs)
    columns = []
    for temperature in TEMPERATURES:
        tempered = logs / temperature
        total = logsumexp(tempered, axis=1)
        with np.errstate(invalid="ignore"):  # of the impossible, which counts nothing
            grown = tempered[rows, chosen] - total - logs[rows, chosen]
        columns.append(np.where(possible, grown, 0))
    for boost in BOOSTS:
        columns.append(_boosted(own, chosen == 0, possible, boost))
    drafted = _drafted(law, drafts)
    for boost in BOOSTS:
        grown = _boosted(own, chosen == drafted, possible, boost)
        columns.append(np.where(drafted >= 0, grown, 0.0))
    tilted = legendre(u[law.judged])[:, :TILTED]
    columns += [np.log1p(tilt * tilted[:, k]) for tilt in TILTS for k in range(TILTED)]
    return np.stack(columns, axis=1)


def _boosted(own: Floats, hit: Flags, possible: Flags, boost: float) -> Floats:
    """log of ``((1 - boost) p + boost [hit]) / p``."""
    safe = np.where(possible, own, 1.0)
    return np.where(possible, np.log((1 - boost) + boost * hit / safe), 0.0)


def _drafted(law: Law, drafts: Ints | None) -> Ints:
    """Cell of the drafted token at judged positions; -1 where unknown, unlisted or impossible."""
    judged = np.flatnonzero(law.judged)
    if drafts is None:
        return np.full(len(judged), -1)
    hit = law.ids[judged] == drafts[judged][:, None]
    cell = law.cells[judged, hit.argmax(axis=1)]
    known = hit.any(axis=1) & (cell < law.ids.shape[1])
    return np.where(known, cell, -1)


def e_value(growth: Floats, threshold: float) -> EValue:
    """The averaged e-process over all positions in order; `growth` is [n, alternatives]."""
    if not len(growth):
        return EValue(1.0, 1.0, None)
    paths = np.cumsum(growth, axis=0)
    logs = logsumexp(paths, axis=1) - np.log(growth.shape[1])
    crossed = np.flatnonzero(logs >= np.log(threshold))
    return EValue(
        _bounded(float(logs[-1])),
        _bounded(max(float(logs.max()), 0.0)),
        int(crossed[0]) + 1 if len(crossed) else None,
    )


def _bounded(log: float) -> float:
    """exp, short of overflow."""
    return float(np.exp(min(log, 700.0)))
