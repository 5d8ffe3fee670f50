"""The regrets of a run laid out by session and shape: calibration, and counts of exceedances."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from checks.greedy.noise import Noise, measure_noise
from checks.greedy.turn import TurnRegrets
from checks.policy import Policy
from checks.stats.clustering import design_effect
from checks.stats.sessions import calibration_half
from checks.tokens.regret import SHAPES, Regrets, above
from traces.journal.score import Shape

NoiseByShape = dict[Shape, Noise]
Counts = npt.NDArray[np.float64]

SMALL_REGRET = 0.05
"""Regret (nat) whose exceedances show how tokens of a session cluster; low, so that there are
enough of them."""

FEWEST_SMALL = 10
"""Fewest of them for an estimate of clustering."""

DEFAULT_DEFF = 2.0
"""Design effect where it cannot be estimated: an assumption on the safe side, under which a pass
takes twice the tokens."""


@dataclass(frozen=True, slots=True)
class Halves:
    """Sessions that calibrate the bounds, and sessions whose rates are tested."""

    calibration: frozenset[str]
    test: frozenset[str]


@dataclass(frozen=True, slots=True)
class RateTable:
    """Exceedances and tokens per session and shape: four arrays of shape [sessions, shapes]."""

    candidate_exceed: Counts
    candidate_tokens: Counts
    noise_exceed: Counts
    noise_tokens: Counts


def split_of(measured: Sequence[TurnRegrets], seed: int) -> Halves:
    """Both halves of the sessions, drawn by hash of seed and session."""
    sessions = {turn.session for turn in measured if turn.not_judged is None}
    calibration = calibration_half(sessions, seed)
    return Halves(calibration, frozenset(sessions - calibration))


def calibrate(measured: Sequence[TurnRegrets], halves: Halves, policy: Policy) -> NoiseByShape:
    """The noise floor of each shape, from the baseline's own tokens."""
    noise = {}
    for shape in SHAPES:
        learn: list[npt.NDArray[np.float64]] = []
        test: list[npt.NDArray[np.float64]] = []
        for turn in measured:
            place = learn if turn.session in halves.calibration else test
            place += [part.values for part in turn.noise if part.shape == shape]
        noise[shape] = measure_noise(shape, learn, test, policy)
    # A noisy session forks early, so most of its noise shows in one of the shapes alone.
    far = max(floor.far for floor in noise.values())
    return {shape: replace(floor, far=far) for shape, floor in noise.items()}


def tested_sessions(
    measured: Sequence[TurnRegrets], halves: Halves, noise: NoiseByShape
) -> tuple[list[str], str]:
    """Sessions whose rates are tested, of those that `measured` holds, and why these.

    Where a bound was learned from the calibration half, only the other half may test it. Where
    both shapes use the constant floors nothing was learned, and every session tests; that q of the
    calibration half is below them makes the baseline's own count there smaller, if anything, and a
    pass harder.
    """
    here = {turn.session for turn in measured if turn.not_judged is None}
    if any(floor.calibrated for floor in noise.values()):
        test = sorted(halves.test & here)
        return test, (
            f"bounds calibrated on {len(halves.calibration)} sessions, rates tested on the other "
            f"{len(test)}"
        )
    every = sorted((halves.calibration | halves.test) & here)
    return every, (
        "constant bounds, nothing learned from the baseline's own tokens: rates tested on all "
        f"{len(every)} sessions"
    )


def rate_table(
    measured: Sequence[TurnRegrets],
    sessions: Sequence[str],
    noise: NoiseByShape,
    noise_scale: float = 1.0,
) -> RateTable:
    """Exceedances of the soft bound and tokens, shape [sessions, shapes] each.

    The baseline's own regrets are compared with ``soft / noise_scale``: what would exceed the bound
    if its rounding were larger by that factor.

    A position of which only a lower bound is known counts where that bound exceeds; else it is
    left out of the tokens too.
    """
    row = {session: place for place, session in enumerate(sessions)}
    counts = np.zeros((4, len(sessions), len(SHAPES)))
    for turn in measured:
        if turn.session not in row:
            continue
        for offset, parts in ((0, turn.candidate), (2, turn.noise)):
            for part in parts:
                bound = noise[part.shape].soft / (noise_scale if offset else 1.0)
                over, tokens = _counts(part, bound)
                column = SHAPES.index(part.shape)
                counts[offset, row[turn.session], column] += over
                counts[offset + 1, row[turn.session], column] += tokens
    return RateTable(*counts)


def _counts(part: Regrets, bound: float) -> tuple[int, int]:
    over = above(part.values, bound)
    known = over | ~part.bounded
    return int(over.sum()), int(known.sum())


def clustering_of(measured: Sequence[TurnRegrets], sessions: Sequence[str]) -> tuple[float, str]:
    """(design effect, where it comes from): the candidate's small regrets, else the baseline's.

    The words hold how many small regrets each side has: the baseline's own are what its rounding
    makes of near ties, and a candidate with many times as many computes something else.
    """
    sides = [_small(measured, sessions, name) for name in ("candidate", "noise")]
    (candidate, candidate_tokens), (baseline, baseline_tokens) = (
        (sum(hits.values()), sum(sizes.values())) for hits, sizes in sides
    )
    words = (
        f"above {SMALL_REGRET:g} nat: {candidate} of {candidate_tokens} candidate tokens, "
        f"{baseline} of {baseline_tokens} of the baseline's own"
    )
    for hits, sizes in sides:
        if sum(hits.values()) >= FEWEST_SMALL:
            effect = design_effect(list(hits.values()), list(sizes.values()))
            if effect is not None:
                return effect, f"from small regrets; {words}"
    return DEFAULT_DEFF, f"assumed: too few small regrets to estimate it; {words}"


def _small(
    measured: Sequence[TurnRegrets], sessions: Sequence[str], side: str
) -> tuple[dict[str, int], dict[str, int]]:
    """Small regrets and tokens of one side, by session."""
    hits, sizes = dict.fromkeys(sessions, 0), dict.fromkeys(sessions, 0)
    for turn in measured:
        if turn.session not in hits:
            continue
        for part in turn.candidate if side == "candidate" else turn.noise:
            hits[turn.session] += int((part.values > SMALL_REGRET).sum())
            sizes[turn.session] += len(part)
    return hits, sizes
