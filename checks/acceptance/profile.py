"""Acceptance profile: how far drafts get, per boundary, crossing, distance, context, tool.

    acceptance length   1 + Σ accepted / Σ drafts         (token-weighted)
                        mean over requests of the same     (request mean)
    c_i                 accepted at i / reached at i       (conditional acceptance of position i)
    drift index         slope of logit c_i over i: EAGLE 3.1 claims to flatten it (arXiv 2605.09992)

Intervals are clustered by session; a cell with fewer than `MIN_COUNT` observations says n/a.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from checks.acceptance.profile_row import ProfileRow
from checks.acceptance.profile_sums import ProfileSums, Sums
from checks.bounds import Bound, State
from checks.stats.session_interval import Estimate, Matrix, clustered, not_available, ratio

MIN_COUNT = 30
"""Fewest drafts (or reached positions) an estimate is given for."""


@dataclass(frozen=True, slots=True)
class Cell:
    """The profile of one slice. `drift` needs two positions with enough observations."""

    dimension: str
    slice: str
    drafts: int
    draft_tokens: int
    accepted_tokens: int
    empty: int
    length: Estimate
    request_length: Estimate
    conditional: tuple[Estimate, ...]
    drift: Estimate

    @property
    def fallback(self) -> float | None:
        """Share of drafts of which nothing was accepted; `None` without drafts."""
        return self.empty / self.drafts if self.drafts else None


def profile(sums: ProfileSums, *, seed: int = 0) -> list[Cell]:
    """One cell per slice, in the order of the dimensions."""
    return [_cell(key[0], key[1], sessions, seed) for key, sessions in sums.slices()]


def profile_rows(sums: ProfileSums) -> list[ProfileRow]:
    """Rows as case files and reference runs hold them: per boundary and context band.

    Each context band also has a row with the boundary ``all``.
    """
    rows = []
    for (dimension, name), sessions in sums.slices():
        if dimension == "context":
            rows.append(_row("all", name, sessions))
        elif dimension == "boundary_context":
            boundary, band = name.split(" | ")
            rows.append(_row(boundary, band, sessions))
    return [row for row in rows if row.num_drafts]


def drift(sums: Matrix) -> Matrix:
    """Slope of logit c_i over i, weighted by the inverse variance of each logit.

    `sums` holds accepted[0..k-1] then reached[0..k-1]; half a count is added to both outcomes so
    that 0 and 1 have a logit. Positions reached less than `MIN_COUNT` times do not count.
    """
    k = sums.shape[1] // 2
    accepted, rejected = sums[:, :k] + 0.5, sums[:, k:] - sums[:, :k] + 0.5
    weight = np.where(sums[:, k:] >= MIN_COUNT, 1 / (1 / accepted + 1 / rejected), 0.0)
    logit = np.log(accepted / rejected)
    place = np.arange(k)
    total = weight.sum(axis=1, keepdims=True)
    centred = place - (weight * place).sum(axis=1, keepdims=True) / total
    return np.asarray((weight * centred * logit).sum(axis=1) / (weight * centred**2).sum(axis=1))


def _cell(dimension: str, name: str, sessions: Sequence[Sums], seed: int) -> Cell:
    with_steps = [s for s in sessions if s.drafts]
    drafts = sum(s.drafts for s in sessions)
    requests = sum(s.requests for s in sessions)
    reached = np.sum([s.reached for s in sessions], axis=0)
    k = len(reached)
    lengths = _matrix([(s.drafts + s.accepted_tokens, s.drafts) for s in with_steps])
    means = _matrix([(s.length_sum, s.requests) for s in with_steps])
    by_position = np.array([np.concatenate((s.accepted, s.reached)) for s in sessions], float)
    enough = int(np.count_nonzero(reached >= MIN_COUNT))
    few = drafts < MIN_COUNT
    return Cell(
        dimension,
        name,
        drafts,
        sum(s.draft_tokens for s in sessions),
        sum(s.accepted_tokens for s in sessions),
        sum(s.empty for s in sessions),
        not_available(drafts, len(with_steps))
        if few
        else clustered(ratio, lengths, drafts, seed=seed),
        not_available(requests, len(with_steps))
        if few
        else clustered(ratio, means, requests, seed=seed),
        tuple(
            not_available(int(n), len(sessions))
            if n < MIN_COUNT
            else clustered(ratio, by_position[:, [i, k + i]], int(n), seed=seed)
            for i, n in enumerate(reached)
        ),
        clustered(drift, by_position, int(reached.sum()), seed=seed)
        if enough >= 2
        else not_available(int(reached.sum()), len(sessions)),
    )


def _matrix(rows: Sequence[tuple[float, float]]) -> Matrix:
    return np.array(rows, float).reshape(len(rows), 2)


def _row(boundary: str, band: str, sessions: Sequence[Sums]) -> ProfileRow:
    return ProfileRow(
        boundary,
        band,
        sum(s.drafts for s in sessions),
        sum(s.draft_tokens for s in sessions),
        tuple(int(n) for n in np.sum([s.longer for s in sessions], axis=0)),
        sum(s.accepted_tokens for s in sessions),
    )


FLOOR_BOUND = "mean_acceptance_length"


def floor_bound(cells: Sequence[Cell], floor: float) -> Bound:
    """`cells` are those of a profile; the one over everything is held against `floor` (tokens per
    step that drafted). Passes where the whole 95% interval lies at or above it."""
    whole = next((cell.length for cell in cells if cell.dimension == "all"), None)
    if whole is None or whole.value is None or whole.low is None or whole.high is None:
        return Bound(FLOOR_BOUND, "inconclusive", "too few drafts for an acceptance length")
    state: State = "inconclusive"
    if whole.low >= floor:
        state = "pass"
    elif whole.high < floor:
        state = "fail"
    return Bound(
        FLOOR_BOUND,
        state,
        f"{whole.value:.3f} tokens per step, at least {floor:g} demanded",
        value=whole.value,
        low=whole.low,
        high=whole.high,
        margin=floor,
        unit="tokens per step",
        n=whole.count,
        sessions=whole.sessions,
    )
