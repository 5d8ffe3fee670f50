"""Acceptance profile: how far drafts get, per boundary, crossing, distance, context, tool.

    acceptance length   1 + Σ accepted / Σ drafts         (token-weighted)
                        mean over requests of the same     (request mean)
    rate i              drafts that accepted position i / drafts, as vLLM counts it
                        (`spec_decode_per_position_acceptance_rates`)
    c_i                 accepted at i / reached at i       (conditional acceptance of position i)
    drift index         slope of logit c_i over i: EAGLE 3.1 claims to flatten it (arXiv 2605.09992)

Position i is reached by a draft that proposed a token there and had all before it accepted. The
rates of a slice are of the drafts that begin in it, and sum to the acceptance length - 1; c_i is of
the positions whose own token is in it.
Intervals are clustered by session; a cell with fewer than `MIN_COUNT` observations says n/a.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import add
from types import MappingProxyType

import numpy as np

from checks.acceptance.profile_row import ProfileRow, SessionCounts
from checks.acceptance.profile_sums import ProfileSums, Slice, Sums
from checks.bounds import Bound, State
from checks.stats.session_interval import (
    Estimate,
    Matrix,
    clustered,
    clustered_rate,
    not_available,
    ratio,
)

NO_TAGS: Mapping[str, Mapping[str, str]] = MappingProxyType({})

MIN_COUNT = 30
"""Fewest drafts (or reached positions) an estimate is given for, in every report and view.

Measured on made-up sessions, 1,500 runs each: the interval of an acceptance length covers 93.4% at
30 drafts in 3 sessions, 94.0% at 30 in 6, and no more at 90 (93.7%); it is wide, not wrong.
"""


@dataclass(frozen=True, slots=True)
class Cell:
    """The profile of one slice: the sums over its `sessions` sessions, and what they estimate.

    `rates` and `conditional` have one estimate per draft position; `drift` needs two positions with
    enough observations.
    """

    dimension: str
    slice: str
    total: Sums
    sessions: int
    length: Estimate
    request_length: Estimate
    rates: tuple[Estimate, ...]
    conditional: tuple[Estimate, ...]
    drift: Estimate


def profile(
    sums: ProfileSums, tags: Mapping[str, Mapping[str, str]] = NO_TAGS, *, seed: int = 0
) -> list[Cell]:
    """One cell per slice, in the order of the dimensions.

    `tags` (session -> its tags) add a dimension ``tag`` with slices ``name=value``.
    """
    cells = [_cell(key, sessions, seed) for key, sessions in sums.slices()]
    tagged: dict[str, list[Sums]] = {}
    for session, mine in sums.by_session().get(("all", "all"), {}).items():
        for name, value in tags.get(session, {}).items():
            tagged.setdefault(f"{name}={value}", []).append(mine)
    return [*cells, *(_cell(("tag", name), tagged[name], seed) for name in sorted(tagged))]


def profile_rows(sums: ProfileSums) -> list[ProfileRow]:
    """Rows as case files and reference runs hold them: per boundary and context band.

    Each context band also has a row with the boundary ``all``.
    """
    rows = []
    for (dimension, name), sessions in sums.by_session().items():
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
    centered = place - (weight * place).sum(axis=1, keepdims=True) / total
    return np.asarray((weight * centered * logit).sum(axis=1) / (weight * centered**2).sum(axis=1))


def _cell(key: Slice, sessions: Sequence[Sums], seed: int) -> Cell:
    total = reduce(add, sessions)
    with_steps = [s for s in sessions if s.drafts]
    lengths = _matrix([(s.drafts + s.accepted_tokens, s.drafts) for s in with_steps])
    means = _matrix([(s.length_sum, s.requests) for s in with_steps])
    by_position = np.array([np.concatenate((s.accepted, s.reached)) for s in sessions], float)
    k, reached = total.k, int(total.reached.sum())
    few = total.drafts < MIN_COUNT
    none = not_available(total.drafts, len(with_steps))
    possible = (1.0, 1.0 + k)
    return Cell(
        *key,
        total,
        len(sessions),
        none if few else clustered(ratio, lengths, total.drafts, seed=seed, within=possible),
        none if few else clustered(ratio, means, total.requests, seed=seed, within=possible),
        tuple(_rate([(int(s.longer[i]), s.drafts) for s in sessions]) for i in range(k)),
        tuple(_rate([(int(s.accepted[i]), int(s.reached[i])) for s in sessions]) for i in range(k)),
        clustered(drift, by_position, reached, seed=seed)
        if np.count_nonzero(total.reached >= MIN_COUNT) >= 2
        else not_available(reached, len(sessions)),
    )


def _rate(rows: Sequence[tuple[int, int]]) -> Estimate:
    """Of (hits, trials) by session; not given where the trials are too few."""
    matrix = _matrix(rows)
    trials, sessions = int(matrix[:, 1].sum()), int(np.count_nonzero(matrix[:, 1]))
    return not_available(trials, sessions) if trials < MIN_COUNT else clustered_rate(matrix)


def _matrix(rows: Sequence[tuple[float, float]]) -> Matrix:
    return np.array(rows, float).reshape(len(rows), 2)


def _row(boundary: str, band: str, by_session: Mapping[str, Sums]) -> ProfileRow:
    total = reduce(add, by_session.values())
    return ProfileRow(
        boundary,
        band,
        total.drafts,
        total.draft_tokens,
        tuple(total.longer.tolist()),
        total.accepted_tokens,
        tuple(total.tried.tolist()),
        sessions=tuple(
            (name, SessionCounts(s.drafts, tuple(s.longer.tolist()), tuple(s.tried.tolist())))
            for name, s in by_session.items()
            if s.drafts
        ),
    )


FLOOR_BOUND = "mean_acceptance_length"


def floor_bound(cells: Sequence[Cell], floor: float) -> Bound:
    """`cells` are those of a profile; the one over everything is compared with `floor` (tokens per
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
