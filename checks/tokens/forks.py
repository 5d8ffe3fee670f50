"""Where two greedy streams part, and whether rounding can explain it."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from checks.tokens.regret import regret_at
from traces.wire.response import Token

ForkKind = Literal["near_tie", "hard", "excused", "unscored"]
GRIDS = tuple(2.0**-power for power in range(0, 10))
GRID_SLACK = 2e-5
"""Rounding of float32 log probabilities near 30 nat, in nat: ten units in the last place."""


@dataclass(frozen=True, slots=True)
class Fork:
    """The first place where candidate and baseline emit different tokens.

    `regret` (nat) is the candidate's token seen by the baseline in decode shape, a lower bound
    where `bounded`; `prefill_regret` the same by teacher forcing. `margin` is the candidate's own
    lead of its token over the baseline's. `ulp` is `regret` in bf16 units in the last place,
    `None` where the logits are not on a bf16 grid. `baseline_top` and `candidate_top` hold the
    two best (token id, text, log probability) of each side.
    """

    index: int
    kind: ForkKind
    candidate: Token
    baseline: Token
    regret: float | None
    bounded: bool
    prefill_regret: float | None
    margin: float | None
    ulp: float | None
    baseline_top: tuple[tuple[int | None, str | None, float], ...]
    candidate_top: tuple[tuple[int | None, str | None, float], ...]


def first_divergence(ids: Sequence[int], other: Sequence[int]) -> int | None:
    """Index of the first differing token.

    Where one is a proper prefix of the other that is the shorter one's length; `None` where both
    are equal.
    """
    for index, (left, right) in enumerate(zip(ids, other, strict=False)):
        if left != right:
            return index
    return None if len(ids) == len(other) else min(len(ids), len(other))


def fork_at(
    candidate: Sequence[Token],
    baseline: Sequence[Token],
    index: int,
    kind: ForkKind,
    prefill_regret: float | None = None,
) -> Fork | None:
    """Describe the fork at `index`; `None` where one side has already ended there."""
    if index >= min(len(candidate), len(baseline)):
        return None
    ours, theirs = candidate[index], baseline[index]
    seen = regret_at(theirs, ours.id)
    own_lead = regret_at(ours, theirs.id)
    grid = bf16_grid([entry.logprob for entry in theirs.top])
    return Fork(
        index=index,
        kind=kind,
        candidate=ours,
        baseline=theirs,
        regret=None if seen is None else seen[0],
        bounded=seen is not None and seen[1],
        prefill_regret=prefill_regret,
        margin=None if own_lead is None else own_lead[0],
        ulp=None if seen is None or grid is None or seen[1] else seen[0] / grid,
        baseline_top=_top2(theirs),
        candidate_top=_top2(ours),
    )


def _top2(token: Token) -> tuple[tuple[int | None, str | None, float], ...]:
    listed = {entry.id: (entry.id, entry.text, entry.logprob) for entry in token.top}
    if token.logprob is not None:
        listed.setdefault(token.id, (token.id, token.text, token.logprob))
    return tuple(sorted(listed.values(), key=lambda entry: -entry[2])[:2])


def bf16_grid(logprobs: Sequence[float]) -> float | None:
    """The spacing (nat) of the bf16 logits behind listed log probabilities.

    bf16 keeps 8 significant bits, so logits in [16, 32) are multiples of 0.125, in [8, 16) of
    0.0625. The normaliser cancels in differences of log probabilities, so these lie on the
    logits' grid: the answer is the widest power of two that divides all of them. `None` where no
    spacing down to 2^-9 does (float32 logits), or fewer than three values tell.
    """
    if len(logprobs) < 3 or not all(map(math.isfinite, logprobs)):
        return None
    top = max(logprobs)
    gaps = [top - value for value in logprobs]
    for grid in GRIDS:
        if all(abs(gap - grid * round(gap / grid)) <= GRID_SLACK for gap in gaps):
            return grid
    return None
