"""Acceptance of a slice against the rest of the run: where a drafter does better or worse.

    difference = length(slice) - length(all other steps)

Sessions are resampled whole, with their steps inside and outside the slice; the intervals hold for
all slices at once (Bonferroni). Nothing here condemns: that one template accepts less than another
is a finding of interest, not a fault.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from checks.acceptance.profile import MIN_COUNT
from checks.acceptance.profile_sums import Sums
from checks.slices.slices import Slice
from checks.stats.session_interval import (
    Change,
    Estimate,
    Matrix,
    change_of,
    clustered,
    not_available,
)

BySession = Mapping[str, Sums]


@dataclass(frozen=True, slots=True)
class SliceAcceptance:
    """Acceptance length of a slice, and its difference to the rest of the run."""

    length: float | None
    difference: Estimate

    @property
    def change(self) -> Change | None:
        """``lower``, ``higher`` or ``alike``; `None` without an interval."""
        return change_of(self.difference)


def compare_slices(
    slices: Mapping[Slice, BySession], whole: BySession, *, seed: int = 0
) -> dict[Slice, SliceAcceptance]:
    """Every slice against the steps of `whole` that are not in it."""
    level = 1 - 0.05 / max(1, len(slices))
    return {name: _compare(mine, whole, level, seed) for name, mine in slices.items()}


def _compare(mine: BySession, whole: BySession, level: float, seed: int) -> SliceAcceptance:
    rows = [(*_steps(mine.get(session)), *_steps(sums)) for session, sums in whole.items()]
    sums = np.array(rows, float).reshape(len(rows), 4)
    drafts, accepted, of_all, _ = sums.sum(axis=0)
    count = int(min(drafts, of_all - drafts))
    length = float(1 + accepted / drafts) if drafts >= MIN_COUNT else None
    if count < MIN_COUNT:
        return SliceAcceptance(length, not_available(count, len(mine)))
    k = max(one.k for one in whole.values())
    found = clustered(_difference, sums, count, seed=seed, level=level, within=(-k, k))
    return SliceAcceptance(length, found)


def _steps(sums: Sums | None) -> tuple[int, int]:
    return (0, 0) if sums is None else (sums.drafts, sums.accepted_tokens)


def _difference(sums: Matrix) -> Matrix:
    drafts, accepted, of_all, accepted_of_all = sums.T
    return np.asarray(accepted / drafts - (accepted_of_all - accepted) / (of_all - drafts))
