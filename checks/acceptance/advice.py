"""Where a drafter pays, and with how many draft tokens: expected speed-up per k and slice.

    τ(k)  = 1 + Σ_{i<k} Π_{j<=i} c_j                 acceptance length at k drafts per step
    C     = (ms per step, candidate) / (ms per step, baseline)      relative cost of a step
    f     = share of the candidate's steps that drafted
    C_d   = 1 + (C - 1) / f                          relative cost of a step that drafts K tokens
    C_d(k)= 1 + (C_d - 1) · k / K                    ... k of the K that ran: cost grows with drafts
    S(k)  = (f · τ(k) + 1 - f) / (f · C_d(k) + 1 - f)               expected speed-up, per token

At the K that ran nothing is modelled but that slices cost alike. Below K the cost is interpolated
between no drafter (1) and the one that ran; `pessimistic` is S(k) if a step costs the same whatever
k is. Which of the two holds depends on the engine, so the interval of a smaller k covers
those of both. Such a k is a prediction until it has run. The
drafter pays where τ(k) exceeds its break-even
``C_d(k)``. Sources: Leviathan et al. 2023 (arXiv 2211.17192), section 3.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from checks.stats.session_interval import Estimate, Matrix, clustered, not_available

MIN_REACHED = 100
"""Fewest times the first position must have been reached in a slice."""

TIME_COLUMNS = 5


@dataclass(frozen=True, slots=True)
class SliceCounts:
    """Reached and accepted positions of one slice, one row per session; shape (sessions, K)."""

    dimension: str
    slice: str
    sessions: tuple[str, ...]
    reached: Matrix
    accepted: Matrix


@dataclass(frozen=True, slots=True)
class StepTimes:
    """Decode time and engine steps after the first token, at one concurrency.

    One row per session: baseline ms, baseline steps, candidate ms, candidate steps, of those the
    steps that drafted. Shape (sessions, 5).
    """

    concurrency: int
    sessions: tuple[str, ...]
    sums: Matrix


@dataclass(frozen=True, slots=True)
class Prediction:
    """What k draft tokens would give in a slice; `state`: ``pays``, ``costs``, ``undecided``."""

    dimension: str
    slice: str
    concurrency: int
    k: int
    length: Estimate
    break_even: Estimate
    speedup: Estimate
    pessimistic: float | None
    state: str


def predictions(
    slices: Sequence[SliceCounts], times: StepTimes, *, seed: int = 0
) -> list[Prediction]:
    """One prediction per slice and k, up to the K that ran.

    Intervals are clustered by session. The slices of a dimension share one 5% chance of a wrong
    ``pays`` or ``costs`` (Bonferroni).
    """
    found = []
    for one in slices:
        alike = sum(other.dimension == one.dimension for other in slices)
        level = 1 - 0.05 / alike
        sums = _joined(one, times)
        ran = one.reached.shape[1]
        found += [
            _predict(one, times.concurrency, sums, k, ran, level, seed) for k in range(1, ran + 1)
        ]
    return found


def _joined(counts: SliceCounts, times: StepTimes) -> Matrix:
    """Columns accepted, reached, times; rows of all sessions that either knows."""
    names = list(dict.fromkeys((*counts.sessions, *times.sessions)))
    place = {name: row for row, name in enumerate(names)}
    k = counts.reached.shape[1]
    sums = np.zeros((len(names), 2 * k + TIME_COLUMNS))
    rows = [place[name] for name in counts.sessions]
    sums[rows, :k], sums[rows, k : 2 * k] = counts.accepted, counts.reached
    sums[[place[name] for name in times.sessions], 2 * k :] = times.sums
    return sums


def _length(sums: Matrix, k: int, ran: int) -> Matrix:
    """τ(k); a position that was never reached adds nothing."""
    reached = sums[:, ran : ran + k]
    conditional = np.where(reached > 0, sums[:, :k] / np.maximum(reached, 1), 0.0)
    return np.asarray(1 + np.cumprod(conditional, axis=1).sum(axis=1))


def _costs(sums: Matrix, k: int, ran: int) -> tuple[Matrix, Matrix]:
    """C_d(k) and f."""
    baseline_ms, baseline_steps, candidate_ms, steps, drafting = sums[:, 2 * ran :].T
    cost = (candidate_ms / steps) / (baseline_ms / baseline_steps)
    share = drafting / steps
    return np.asarray(1 + (cost - 1) / share * k / ran), np.asarray(share)


def _speedup(sums: Matrix, k: int, ran: int, *, fixed: bool = False) -> Matrix:
    cost, share = _costs(sums, ran if fixed else k, ran)
    tokens = share * _length(sums, k, ran) + 1 - share
    return np.asarray(tokens / (share * cost + 1 - share))


def _predict(
    counts: SliceCounts,
    concurrency: int,
    sums: Matrix,
    k: int,
    ran: int,
    level: float,
    seed: int,
) -> Prediction:
    count, sessions = int(counts.reached[:, 0].sum()), len(counts.sessions)
    if count < MIN_REACHED:
        nothing = not_available(count, sessions)
        estimates = nothing, nothing, nothing
        pessimistic = None
    else:
        length, cost, speedup, fixed = (
            clustered(statistic, sums, count, seed=seed, level=level)
            for statistic in (
                lambda rows: _length(rows, k, ran),
                lambda rows: _costs(rows, k, ran)[0],
                lambda rows: _speedup(rows, k, ran),
                lambda rows: _speedup(rows, k, ran, fixed=True),
            )
        )
        estimates = length, cost, _covering(speedup, fixed)
        pessimistic = fixed.value
    return Prediction(
        counts.dimension,
        counts.slice,
        concurrency,
        k,
        *estimates,
        pessimistic,
        state(estimates[2]),
    )


def _covering(one: Estimate, other: Estimate) -> Estimate:
    """The first, with an interval that covers that of both."""
    if one.low is None or one.high is None or other.low is None or other.high is None:
        return replace(one, low=None, high=None)
    return replace(one, low=min(one.low, other.low), high=max(one.high, other.high))


def state(speedup: Estimate) -> str:
    """``pays`` where the whole interval is above 1, ``costs`` where it is below."""
    if speedup.low is None or speedup.high is None:
        return "undecided"
    return "pays" if speedup.low > 1 else "costs" if speedup.high < 1 else "undecided"


def fallback_ratio(empty: int, drafting: int, steps: int) -> float | None:
    """Share of the candidate's steps in which nothing was accepted or nothing drafted.

    `empty` of the `drafting` steps have no accepted token. `None` without steps.
    """
    return (empty + steps - drafting) / steps if steps else None
