"""A ladder of thresholds: are regrets above x more frequent than the baseline's noise allows?

    rate_C(x) <= 2 rate_A(x / 2),   x in 0.3, 0.5, 0.75, 1, 1.5, 2, 3 nat

Rounding at twice the baseline's scale has ``rate(g > x) = 2 rate_A(g > x / 2)`` wherever gaps
between the two best tokens are spread evenly near zero, so it breaks no rung; a fault does, at
whatever height it lies. No rung is switched off by one large regret of the baseline: its count only
takes power from the rungs below it. Every rung is asked of decode shape, of prefill shape, and of
both together. Two tests of a rung, the smaller p doubled:

    direct    k of n_C tokens above x, a of n_A baseline tokens above x / 2
    borrowed  a of n_A above half of the lowest rung, the rate falling as 1 / x or faster from there

Given k + a, k is binomial with share ``w / (1 + w)``, w = 2 n_C / n_A, times 0.3 / x where borrowed
(Przyborowski & Wilenski 1940): no count of the baseline is taken for its rate, zero included. Each
session has its own w, for sessions differ in their noise and in how much of them each shape holds.
Both counts are divided by a dispersion over sessions (`dispersion`). A rate above x that falls no
faster than 1 / x is heavier than Pareto jumps of index 2 would make it; where tails
are known to be heavy nothing is borrowed. All rungs share one level (Holm).

Logits of 16 bits lie on a grid, and regrets on multiples of its step: one that equals a threshold
but for the rounding of log probabilities (`STEP_SLACK`) is not above it.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Self

import numpy as np
import numpy.typing as npt

from checks.greedy.noise import STEP_SLACK
from checks.greedy.rate import EXCEEDANCE_SESSIONS, NOISE_RATIO
from checks.greedy.rate_table import DEFAULT_DEFF, FEWEST_SMALL, SMALL_REGRET
from checks.greedy.turn import TurnRegrets
from checks.policy import Policy
from checks.stats.clustering import design_effect
from checks.stats.excess_count import excess_count_p
from checks.stats.holm import holm
from checks.tokens.regret import SHAPES, Regrets
from traces.journal.score import Shape

RUNGS = (0.3, 0.5, 0.75, 1.0, 1.5, 2.0, 3.0)
"""Thresholds in nat: from just above one bf16 step of a logit in [32, 64) to nonsense."""

SHOWN_RATE = 0.05
"""A rung that would not fail a candidate with one such token in 20 is off."""

SHOWN = 3
"""Broken rungs that are spelled out; the others mostly hold the same tokens."""

BOTH = "both"

Floats = npt.NDArray[np.float64]
Rows = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Rung:
    """One threshold (nat): counts of the candidate above it, and of the baseline above it over the
    noise scale. `shape` is ``both`` where the counts of both are joined.

    `needed` is how many exceedances would have failed the run, `off` why none would; `p` is that of
    the counts, `None` where the rung is off, and `adjusted` it after Holm.
    """

    shape: str
    threshold: float
    exceedances: int
    tokens: int
    sessions: int
    noise_exceedances: int
    noise_tokens: int
    needed: int | None
    off: str | None
    p: float | None
    adjusted: float | None = None

    def __str__(self) -> str:
        where = "both shapes" if self.shape == BOTH else f"{self.shape} shape"
        return (
            f"above {self.threshold:g} nat in {where} {self.exceedances} of {self.tokens:,} "
            f"candidate tokens in {self.sessions} sessions, and above that over the noise scale "
            f"{self.noise_exceedances} of {self.noise_tokens:,} of the baseline's own"
        )


@dataclass(frozen=True, slots=True)
class Ladder:
    """All rungs: of decode shape, of prefill shape, of both, the lowest first; `level` is that of
    all of them together."""

    rungs: tuple[Rung, ...]
    level: float

    @property
    def broken(self) -> tuple[Rung, ...]:
        """The rungs that fail, the surest first."""
        failed = [r for r in self.rungs if r.adjusted is not None and r.adjusted <= self.level]
        return tuple(sorted(failed, key=lambda rung: rung.adjusted or 0.0))

    @property
    def breaks(self) -> tuple[str, ...]:
        """The surest of `broken`, in words."""
        return tuple(f"p = {rung.adjusted:.2g}: {rung}" for rung in self.broken[:SHOWN])

    @property
    def blind(self) -> bool:
        """Whether no rung of decode shape could fail, though there are tokens of it."""
        decode = [rung for rung in self.rungs if rung.shape == "decode"]
        return bool(decode) and all(rung.off is not None for rung in decode)


def climb(measured: Sequence[TurnRegrets], policy: Policy, level: float) -> Ladder:
    """Every rung of the turns of an arm; `level` is that of all rungs together."""
    of_shapes = [(shape, _Side.of(measured, shape)) for shape in SHAPES]
    sides: list[tuple[str, list[_Side]]] = [(s, [side]) for s, side in of_shapes if side.tokens]
    if len(sides) > 1:
        sides.append((BOTH, [side for _, (side,) in sides]))
    each = level / max(1, len(RUNGS) * len(sides))
    rungs = [
        _rung(name, parts, threshold, policy, each) for name, parts in sides for threshold in RUNGS
    ]
    adjusted = holm({str(place): r.p for place, r in enumerate(rungs) if r.p is not None})
    found = (replace(rung, adjusted=adjusted.get(str(place))) for place, rung in enumerate(rungs))
    return Ladder(tuple(found), level)


@dataclass(frozen=True, slots=True)
class _Side:
    """Regrets of one shape, both paths', and the session of each; tokens by session, and the
    `dispersion` of both counts."""

    candidate: Floats
    session: Rows
    bounded: npt.NDArray[np.bool_]
    noise: Floats
    noise_session: Rows
    tokens_by: Rows
    noise_by: Rows
    dispersion: float

    @classmethod
    def of(cls, measured: Sequence[TurnRegrets], shape: Shape) -> Self:
        row = {name: place for place, name in enumerate(sorted({m.session for m in measured}))}
        own = [(row[m.session], p) for m in measured for p in m.candidate if p.shape == shape]
        other = [(row[m.session], p) for m in measured for p in m.noise if p.shape == shape]
        (candidate, session), (noise, noise_session) = _joined(own), _joined(other)
        counts = [
            np.bincount(places, minlength=len(row))
            for places in (
                session[candidate > SMALL_REGRET],
                session,
                noise_session[noise > SMALL_REGRET],
                noise_session,
            )
        ]
        bounded = np.concatenate([np.empty(0, np.bool_), *(part.bounded for _, part in own)])
        return cls(
            candidate, session, bounded, noise, noise_session, counts[1], counts[3],
            dispersion(*counts),
        )  # fmt: skip

    @property
    def tokens(self) -> int:
        return len(self.candidate)

    def noise_above(self, bound: float) -> "Weighed":
        """The baseline's counts by session, each with what it makes expected of the candidate.

        Sessions that the baseline was not measured in are taken to be like the others together.
        """
        over = self.noise_session[self.noise > bound + STEP_SLACK]
        counts = np.bincount(over, minlength=len(self.noise_by))
        known = self.noise_by > 0
        covered = max(1, int(self.tokens_by[known].sum()))
        weights = NOISE_RATIO * self.tokens_by[known] / self.noise_by[known]
        mean = NOISE_RATIO * self.tokens / max(1, len(self.noise))
        return Weighed(counts[known], weights * self.tokens / covered, mean)


def _joined(parts: Sequence[tuple[int, Regrets]]) -> tuple[Floats, Rows]:
    """(regrets, the session of each)."""
    values = np.concatenate([np.empty(0), *(part.values for _, part in parts)])
    lengths = [len(part) for _, part in parts]
    return values, np.repeat([row for row, _ in parts], lengths).astype(np.int64)


@dataclass(frozen=True, slots=True)
class Weighed:
    """Counts of the baseline, and how many of the candidate each of them makes expected; `mean` is
    the weight where none was seen."""

    counts: Rows
    weights: Floats
    mean: float

    def times(self, factor: float) -> "Weighed":
        return Weighed(self.counts, self.weights * factor, self.mean * factor)

    def __add__(self, other: "Weighed") -> "Weighed":
        return Weighed(
            np.concatenate([self.counts, other.counts]),
            np.concatenate([self.weights, other.weights]),
            max(self.mean, other.mean),
        )


def dispersion(hits: Rows, tokens: Rows, noise_hits: Rows, noise_tokens: Rows) -> float:
    """How much more the two counts of a session differ than tokens independent of each other would
    make them: Pearson's chi-square over its degrees of freedom (McCullagh & Nelder 1989, 4.5.1),
    at least 1, with the common ratio of Mantel & Haenszel. All by session; what makes both counts
    of a session large alike does not matter.

    Of small regrets, for there are enough of them. `DEFAULT_DEFF` where there are not; no less, nor
    than the baseline's own design effect, where it was measured in other sessions than are tested.
    """
    paired = (tokens > 0) & (noise_tokens > 0)
    if tokens[paired].sum() * 2 < tokens.sum():
        effect = None
        if noise_hits.sum() >= FEWEST_SMALL:
            effect = design_effect(noise_hits.tolist(), noise_tokens.tolist())
        return max(DEFAULT_DEFF, effect or 0.0)
    hits, noise_hits = hits[paired], noise_hits[paired]
    if min(hits.sum(), noise_hits.sum()) < FEWEST_SMALL:
        return DEFAULT_DEFF
    own, other = tokens[paired].astype(np.float64), noise_tokens[paired].astype(np.float64)
    ratio = (hits * other / (own + other)).sum() / (noise_hits * own / (own + other)).sum()
    share = ratio * own / (ratio * own + other)
    both = hits + noise_hits
    some = both > 0
    if some.sum() < 2:
        return DEFAULT_DEFF
    square = ((hits - both * share) ** 2)[some] / (both * share * (1 - share))[some]
    return max(1.0, float(square.sum()) / (int(some.sum()) - 1))


def _rung(
    name: str, sides: Sequence[_Side], threshold: float, policy: Policy, share: float
) -> Rung:
    over = [side.candidate > threshold + STEP_SLACK for side in sides]
    tokens = sum(int((o | ~side.bounded).sum()) for o, side in zip(over, sides, strict=True))
    spread = {int(s) for o, side in zip(over, sides, strict=True) for s in side.session[o]}
    found = sum(int(o.sum()) for o in over)
    noise = _noise(sides, threshold / policy.noise_scale)
    floors = [noise]
    if threshold > RUNGS[0] and policy.noise_tails != "heavy":
        floors.append(_noise(sides, RUNGS[0] / policy.noise_scale).times(RUNGS[0] / threshold))
    test = _Test(tuple(floors), max(side.dispersion for side in sides))
    needed, seen = test.needed(share, int(SHOWN_RATE * tokens)), int(noise.counts.sum())
    off = None
    if not all(len(side.noise) for side in sides):
        off = "no baseline tokens"
    elif needed is None:
        off = "the baseline's own are too many" if seen else "too few tokens"
    return Rung(
        shape=name,
        threshold=threshold,
        exceedances=found,
        tokens=tokens,
        sessions=len(spread),
        noise_exceedances=seen,
        noise_tokens=sum(len(side.noise) for side in sides),
        needed=None if off else needed,
        off=off,
        p=None if off else _p(test, found, len(spread)),
    )


def _p(test: "_Test", found: int, sessions: int) -> float:
    """1 where the exceedances lie in too few sessions."""
    return float(test.p(np.array([found]))[0]) if sessions >= EXCEEDANCE_SESSIONS else 1.0


def _noise(sides: Sequence[_Side], bound: float) -> Weighed:
    first, *others = (side.noise_above(bound) for side in sides)
    return sum(others, first)


@dataclass(frozen=True, slots=True)
class _Test:
    """What the baseline makes expected: directly, and borrowed where that is allowed."""

    floors: tuple[Weighed, ...]
    dispersion: float

    def p(self, counts: Rows) -> Floats:
        """One-sided p of so many exceedances or more, of each count (Bonferroni over both ways)."""
        each = [
            excess_count_p(counts, floor.counts, floor.weights, floor.mean, self.dispersion)
            for floor in self.floors
        ]
        return np.asarray(np.minimum(1.0, len(self.floors) * np.minimum.reduce(each)))

    def needed(self, share: float, most: int) -> int | None:
        """Fewest exceedances with a p of at most `share`; `None` where not even `most` have."""
        counts = np.arange(EXCEEDANCE_SESSIONS, most + 1)
        enough = np.flatnonzero(self.p(counts) <= share)
        return int(counts[enough[0]]) if len(enough) else None
