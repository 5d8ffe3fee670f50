"""Where two token streams part, and what the baseline thinks of it."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from checks.pair import Pair
from checks.tokens.regret import above, regret_at
from traces.wire.response import Token
from traces.wire.tokens import known_ids

Kind = Literal["hard", "near_tie", "excused", "unscored", "sampled", "prefix"]
Entry = tuple[int | None, str | None, float]
"""A token's id, text and log probability (nat)."""

GRIDS = tuple(2.0**-power for power in range(0, 10))
GRID_SLACK = 2e-5
"""Rounding of float32 log probabilities near 30 nat, in nat: ten units in the last place."""


@dataclass(frozen=True, slots=True)
class Fork:
    """The first place where candidate and baseline emit different tokens.

    `kind`: ``hard`` regret above the bound; ``near_tie`` within it; ``excused`` above it, and the
    baseline shows as much itself (only a run knows); ``unscored`` the baseline's scores do not say;
    ``sampled`` the request is not greedy, so tokens may differ; ``prefix`` one stream ends where
    the other goes on, and one of the two tokens is `None`.

    `regret` (nat) is that of the candidate's token less that of the baseline's own, which is zero
    where the baseline is greedy: ``log p_B(baseline's token) - log p_B(candidate's)``, in decode
    shape. It is a lower bound where `at_least` is set. `prefill_regret` is the candidate's token by
    teacher forcing.
    """

    index: int
    kind: Kind
    candidate: Token | None = None
    baseline: Token | None = None
    regret: float | None = None
    at_least: bool = False
    prefill_regret: float | None = None

    @property
    def explains(self) -> bool:
        """Whether noise or sampling may explain everything after it."""
        return self.kind in ("near_tie", "excused", "unscored", "sampled")

    @property
    def margin(self) -> float | None:
        """The candidate's own lead (nat) of its token over the baseline's."""
        if self.candidate is None or self.baseline is None:
            return None
        seen = regret_at(self.candidate, self.baseline.id)
        return None if seen is None else seen.value

    @property
    def ulp(self) -> float | None:
        """`regret` in bf16 units in the last place; `None` where logits are on no bf16 grid."""
        if self.regret is None or self.at_least or self.baseline is None:
            return None
        grid = bf16_grid([entry.logprob for entry in self.baseline.top])
        return None if grid is None else self.regret / grid

    @property
    def texts(self) -> tuple[str | None, str | None]:
        """(the baseline's token, the candidate's), as text."""
        return (
            None if self.baseline is None else self.baseline.text,
            None if self.candidate is None else self.candidate.text,
        )

    @property
    def top(self) -> tuple[tuple[Entry, ...], tuple[Entry, ...]]:
        """The two best entries of (the baseline, the candidate), best first."""
        return _top2(self.baseline), _top2(self.candidate)


def first_fork(pair: Pair) -> Fork | None:
    """`None` where the tokens are equal or a side carries none.

    Texts that sampling or rounding may have parted though no tokens show it are a fork before all
    else.
    """
    if pair.sampled and not pair.both_have_tokens:
        return Fork(0, "sampled")
    if not pair.compare_text:
        return Fork(0, "unscored")
    if not pair.tokens_differ:
        return None
    fork = fork_between(pair.candidate.tokens or (), pair.baseline.tokens or (), pair.hard_bound)
    if fork is None or fork.kind == "prefix" or pair.greedy:
        return fork
    return replace(fork, kind="sampled", regret=None, at_least=False)


def fork_between(
    candidate: Sequence[Token], baseline: Sequence[Token], bound: float
) -> Fork | None:
    """The first fork of two token lists with ids; `bound` (nat) parts ``near_tie`` and ``hard``."""
    ids, other = (known_ids(side) or [token.id for token in side] for side in (candidate, baseline))
    index = first_divergence(ids, other)
    if index is None:
        return None
    emitted = candidate[index] if index < len(candidate) else None
    expected = baseline[index] if index < len(baseline) else None
    if emitted is None or expected is None:
        return Fork(index, "prefix", emitted, expected)
    seen, own = regret_at(expected, emitted.id), regret_at(expected, expected.id)
    if seen is None or own is None:
        return Fork(index, "unscored", emitted, expected)
    regret = seen.value - own.value
    kind: Kind = "unscored" if seen.at_least else "near_tie"
    if above(regret, bound):
        kind = "hard"
    return Fork(index, kind, emitted, expected, regret, seen.at_least)


def first_divergence(ids: Sequence[int | None], other: Sequence[int | None]) -> int | None:
    """Index of the first differing token.

    Where one is a proper prefix of the other that is the shorter one's length; `None` where both
    are equal.
    """
    for index, (left, right) in enumerate(zip(ids, other, strict=False)):
        if left != right:
            return index
    return None if len(ids) == len(other) else min(len(ids), len(other))


def _top2(token: Token | None) -> tuple[Entry, ...]:
    if token is None:
        return ()
    listed = {entry.id: (entry.id, entry.text, entry.logprob) for entry in token.top}
    if token.logprob is not None:
        listed.setdefault(token.id, (token.id, token.text, token.logprob))
    return tuple(sorted(listed.values(), key=lambda entry: -entry[2])[:2])


def bf16_grid(logprobs: Sequence[float]) -> float | None:
    """The spacing (nat) of the bf16 logits behind listed log probabilities.

    bf16 keeps 8 significant bits, so logits in [16, 32) are multiples of 0.125, in [8, 16) of
    0.0625. The normalizer cancels in differences of log probabilities, so these lie on the
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
