"""The ratio of two rates of accepted drafts, with an error that takes sessions for the unit.

    r = sum accepted / sum drafts,   change = r_C / r_R

The error is studentized by session sums (linearized ratio); sessions that both runs replayed are
paired, and each counts by its leverage (MacKinnon & White 1985, HC3). It is never less than drafts
independent of each other would give, of the least variance that whole numbers of their mean can
have. Degrees of freedom are those
of the effective number of sessions, ``1 / sum h^2`` of their shares h of the drafts, less 1
(Carter, Schnepel & Steigerwald 2017): one huge session is one witness.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy import stats

Floats = npt.NDArray[np.float64]
Counted = Mapping[str, tuple[int, int]]
"""Session -> (drafts, accepted)."""


@dataclass(frozen=True, slots=True)
class RateChange:
    """`ratio` of the candidate's rate to the reference's, and its standard `error`; `None` where
    the reference accepted nothing, or where fewer than two effective sessions give no error.
    `drafts` and `sessions` are the fewer of both."""

    ratio: float | None
    error: float | None
    freedom: float
    drafts: int
    sessions: int

    def p_below(self, share: float) -> float:
        """One-sided p of a true ratio of at least `share`; 1 where nothing is known."""
        if self.ratio is None or self.error is None:
            return 1.0
        if self.error == 0:
            return float(self.ratio >= share)
        return float(stats.t.cdf((self.ratio - share) / self.error, self.freedom))


def rate_change(candidate: Counted, reference: Counted) -> RateChange:
    """Both by session; they may share sessions."""
    names = sorted(candidate.keys() | reference.keys())
    here, there = (
        np.array([side.get(name, (0, 0)) for name in names], dtype=np.float64).reshape(-1, 2)
        for side in (candidate, reference)
    )
    drafts = min(int(side[:, 0].sum()) for side in (here, there))
    sessions = min(int(np.count_nonzero(side[:, 0])) for side in (here, there))
    if drafts == 0 or there[:, 1].sum() == 0:
        return RateChange(None, None, 0.0, drafts, sessions)
    rate, other = (float(side[:, 1].sum() / side[:, 0].sum()) for side in (here, there))
    freedom = min(_effective(side[:, 0]) for side in (here, there)) - 1
    if freedom < 1:
        return RateChange(rate / other, None, freedom, drafts, sessions)
    residual = _residual(here) - rate / other * _residual(there)
    least = _least(here) + (rate / other) ** 2 * _least(there)
    error = max(float((residual**2).sum()), least) ** 0.5 / other
    return RateChange(rate / other, error, freedom, drafts, sessions)


def _least(counts: Floats) -> float:
    """Variance of the mean of whole numbers that differ no more than their mean m makes them:
    f (1 - f) / n of its fraction f. Half a count keeps a share off 0 and 1."""
    drafts, accepted = (float(total) for total in counts.sum(axis=0))
    if accepted <= drafts:
        drafts, accepted = drafts + 1, accepted + 0.5
    fraction = accepted / drafts % 1.0
    return fraction * (1.0 - fraction) / drafts


def _effective(drafts: Floats) -> float:
    """How many sessions of one size would weigh alike."""
    share = drafts / drafts.sum()
    return float(1 / (share**2).sum())


def _residual(counts: Floats) -> Floats:
    """What each session moves the rate by, as if it had been left out: [sessions]."""
    drafts, accepted = counts.T
    share = drafts / drafts.sum()
    moved = (accepted - accepted.sum() / drafts.sum() * drafts) / drafts.sum()
    return np.asarray(moved / np.maximum(1 - share, 1e-9))
