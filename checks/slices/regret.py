"""Where in an answer the candidate's tokens cost more than the baseline's own at the same places.

    boundary   prose, code, tool.string, …                what the token is part of
    step       prefill, no draft, accepted, recovered, bonus   its place in the engine step
    event      after a rejection; first token of a tool call

A step accepts some drafts and ends with one token more: `recovered` where a draft was rejected,
`bonus` where none was. A rejection rolls the KV cache back, so the token behind it is the first to
show a wrong rollback. Recovered tokens stand where the drafter was unsure, and so is rounding: each
slice is therefore compared with the baseline's repeat at the very same places, up to the first fork
of either. These slices describe; they never condemn.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from checks.acceptance.profile import MIN_COUNT
from checks.acceptance.steps import Steps
from checks.greedy.rate_table import NoiseByShape
from checks.greedy.turn import TurnRegrets
from checks.stats.session_interval import (
    Change,
    Estimate,
    Matrix,
    change_of,
    clustered,
    not_available,
)
from checks.tokens.regret import Regrets
from traces.boundaries.label import LABELS

Part = tuple[str, str]
"""(dimension, slice)."""

Mask = npt.NDArray[np.bool_]
Sums = npt.NDArray[np.float64]
"""Tokens, their regrets summed (nat), and those above the soft bound, of the candidate; the same
three of the baseline's repeat; first forks."""

PREFILL, NO_DRAFT, ACCEPTED, RECOVERED, BONUS = STEP_SLICES = (
    "prefill",
    "no draft",
    "accepted",
    "recovered",
    "bonus",
)
AFTER_REJECTION, FIRST_OF_CALL = EVENTS = ("after a rejection", "first token of a tool call")
ORDER = {
    **{("boundary", name): place for place, name in enumerate(LABELS)},
    **{("step", name): len(LABELS) + place for place, name in enumerate(STEP_SLICES)},
    **{("event", name): len(LABELS) + 10 + place for place, name in enumerate(EVENTS)},
}
"""Every slice there can be, in the order of reports."""

TOOL = np.array([name.startswith("tool.") for name in LABELS])


@dataclass(frozen=True, slots=True)
class RegretSlice:
    """One slice. `difference` is the mean regret of the candidate's tokens less that of the
    baseline's repeat at the same places (nat per token), with an interval by session that holds for
    all slices at once."""

    part: Part
    tokens: int
    mean: float
    exceed: int
    noise_tokens: int
    noise_mean: float | None
    noise_exceed: int
    forks: int
    sessions: int
    difference: Estimate

    @property
    def change(self) -> Change | None:
        """``higher`` where the candidate's tokens cost surely more; `None` without an interval."""
        return change_of(self.difference)


def places(labels: npt.NDArray[np.int8] | None, steps: Steps | None) -> Iterator[tuple[Part, Mask]]:
    """The slices of one answer and the output tokens in each, as far as it shows them."""
    if labels is not None and len(labels):
        for code in np.unique(labels).tolist():
            yield ("boundary", LABELS[code]), labels == code
        inside = TOOL[labels]
        yield ("event", FIRST_OF_CALL), inside & ~np.concatenate(([False], inside[:-1]))
    if steps is not None and len(steps):
        yield from _of_steps(steps)


def _of_steps(steps: Steps) -> Iterator[tuple[Part, Mask]]:
    step = steps.of_token
    place = np.arange(len(step)) - steps.first[step]
    drafted, accepted = steps.drafted[step], steps.accepted[step]
    last = (drafted > 0) & (place == accepted)
    masks = {
        PREFILL: step == 0,
        NO_DRAFT: (drafted == 0) & (step > 0),
        ACCEPTED: place < accepted,
        RECOVERED: last & (accepted < drafted),
        BONUS: last & (accepted == drafted),
    }
    for name, mask in masks.items():
        yield ("step", name), mask
    yield ("event", AFTER_REJECTION), np.concatenate(([False], masks[RECOVERED][:-1]))


def regret_sums(
    measured: TurnRegrets,
    labels: npt.NDArray[np.int8] | None,
    steps: Steps | None,
    noise: NoiseByShape,
) -> dict[Part, Sums]:
    """The sums of one turn by slice; empty where it was not judged."""
    if measured.not_judged is not None:
        return {}
    fork, sent = measured.divergence, measured.sent
    candidate = _laid_out(measured.candidate, sent if fork is None else fork + 1, sent, noise)
    repeat = [part for part in measured.noise if part.shape == "decode"]
    own = _laid_out(repeat, sent if fork is None else fork, sent, noise)
    found = {}
    for part, mask in places(labels, steps):
        if len(mask) == sent:
            at_fork = float(fork is not None and fork < sent and bool(mask[fork]))
            sums = np.array([*_sums(candidate, mask), *_sums(own, mask), at_fork])
            if sums[0]:
                found[part] = sums
    return found


def _laid_out(
    parts: "tuple[Regrets, ...] | list[Regrets]", end: int, sent: int, noise: NoiseByShape
) -> tuple[Sums, Mask]:
    """(regret per output token, NaN where none is known; whether it exceeds the soft bound), before
    token `end`. A regret of which only the least is known counts where that exceeds."""
    values, over = np.full(sent, np.nan), np.zeros(sent, bool)
    for part in parts:
        stop = min(part.start + len(part), end, sent)
        size = max(stop - part.start, 0)
        shown, exceeds = part.values[:size], part.values[:size] > noise[part.shape].soft
        known = exceeds | ~part.bounded[:size]
        values[part.start : stop] = np.where(known, shown, np.nan)
        over[part.start : stop] = exceeds
    return values, over


def _sums(laid_out: tuple[Sums, Mask], mask: Mask) -> tuple[float, float, float]:
    values, over = laid_out
    known = mask & ~np.isnan(values)
    return float(known.sum()), float(values[known].sum()), float(over[known].sum())


def added(parts: "Iterator[Mapping[Part, Sums]] | list[dict[Part, Sums]]") -> dict[Part, Sums]:
    """Sums of several turns together."""
    found: dict[Part, Sums] = {}
    for one in parts:
        for part, sums in one.items():
            found[part] = found[part] + sums if part in found else sums
    return found


def judge_regret_slices(
    sessions: Mapping[str, Mapping[Part, Sums]], seed: int
) -> tuple[RegretSlice, ...]:
    """Every slice that holds tokens, from the sums of each session, in the order of reports."""
    parts = sorted({part for one in sessions.values() for part in one}, key=ORDER.__getitem__)
    level = 1 - 0.05 / max(1, len(parts))
    return tuple(_slice(part, sessions, level, seed) for part in parts)


def _slice(
    part: Part, sessions: Mapping[str, Mapping[Part, Sums]], level: float, seed: int
) -> RegretSlice:
    rows = np.array([one[part] for one in sessions.values() if part in one])
    tokens, regret, exceed, own_tokens, own_regret, own_exceed, forks = rows.sum(axis=0).tolist()
    count = int(min(tokens, own_tokens))
    difference = not_available(count, len(rows))
    if count >= MIN_COUNT:
        difference = clustered(_difference, rows, count, seed=seed, level=level)
    return RegretSlice(
        part,
        int(tokens),
        regret / tokens,
        int(exceed),
        int(own_tokens),
        own_regret / own_tokens if own_tokens else None,
        int(own_exceed),
        int(forks),
        len(rows),
        difference,
    )


def _difference(sums: Matrix) -> Matrix:
    return np.asarray(sums[:, 1] / sums[:, 0] - sums[:, 4] / sums[:, 3])
