"""Regret: how much less likely the baseline finds a token than its own best at the same prefix.

    g_t = max_v log p_B(v | h_t) - log p_B(y_t | h_t)   >= 0, in nat

The normalizer cancels, so regret is a gap between two logits and needs no comparison of
probabilities across engines. Rank is not used: bf16 ties are common, and vLLM gives both members
of a tie the rank 2. Regrets of decode shape (one row per step, the baseline's own stream) and of
prefill shape (teacher forcing, ``prompt_logprobs``) round differently and are never mixed.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple, overload

import numpy as np
import numpy.typing as npt

from traces.errors import DraftgateError
from traces.journal.score import Score, Shape
from traces.wire.response import Token
from traces.wire.tokens import UNKNOWN, Tokens


class ScoreError(DraftgateError):
    """A score does not fit the tokens that were to be scored."""


@dataclass(frozen=True, slots=True)
class Scored:
    """Baseline log probabilities (nat) of output tokens `start`, `start + 1`, ... of one turn.

    `ids[i]` is the token that was read, `logprobs[i]` its log probability, `best[i]` the largest
    one at that place. They are raw: before penalties, grammar and temperature. `shape` is how they
    were computed: ``prefill`` by teacher forcing, ``decode`` in lockstep.
    """

    start: int
    ids: tuple[int, ...]
    logprobs: npt.NDArray[np.float64]
    best: npt.NDArray[np.float64]
    shape: Shape = "prefill"


def scored_of(score: Score, ids: Sequence[int], start: int = 0) -> Scored | None:
    """The score of output tokens ``ids[start:]``; `None` where the server gave none, or numbers
    that are not finite.

    Raises `ScoreError` where it has another number of tokens.
    """
    if score.outcome != "scored":
        return None
    if len(score.logprobs) != len(ids) - start:
        raise ScoreError(
            f"{len(score.logprobs)} scores for {len(ids) - start} tokens",
            "score the captured output token ids, all of them from `start` on",
        )
    own = np.asarray(score.logprobs, dtype=np.float64)
    best = np.asarray(score.top_logprobs, dtype=np.float64)
    if not (np.isfinite(own).all() and np.isfinite(best).all()):
        return None
    return Scored(start, tuple(ids[start:]), own, best, score.shape)


SHAPES: tuple[Shape, ...] = ("decode", "prefill")

REST_FLOOR = 1e-6
"""Least probability left to unlisted tokens: float32 log probabilities sum to 1 only so closely."""

ROUNDING = 1e-9
"""nat: scores are written in decimals, and -1.39 - -2.39 is a little above 1 in binary."""


@dataclass(frozen=True, slots=True)
class Regrets:
    """Regrets of consecutive output tokens of one turn, all of one shape.

    `values[i]` (nat) belongs to the output token at index `start + i`. Where `bounded[i]`, the
    token was missing from the baseline's list and the value is the least its regret can be.
    """

    shape: Shape
    start: int
    values: npt.NDArray[np.float64]
    bounded: npt.NDArray[np.bool_]

    def __len__(self) -> int:
        return len(self.values)

    def head(self, count: int) -> "Regrets":
        """The first `count` positions."""
        return Regrets(self.shape, self.start, self.values[:count], self.bounded[:count])


class Regret(NamedTuple):
    """`value` in nat, at least 0; the least it can be where `at_least` is set."""

    value: float
    at_least: bool


def regret_at(baseline: Token, wanted: int | None) -> Regret | None:
    """The regret of token id `wanted` at one position of the baseline.

    Its own score alone is a list of one entry, and enough: a token that is missing from the list
    has at most ``log(1 - sum of listed p)``. Entries that are no number, or of unknown id, are not
    listed, which lowers that bound and keeps it true. `None` where the baseline's own score is not
    finite, or where the wanted token's is no number: then nothing is known.
    """
    own = baseline.logprob
    if wanted is None or own is None or not math.isfinite(own):
        return None
    best = max([own, *(entry.logprob for entry in baseline.top if not math.isnan(entry.logprob))])
    listed = {entry.id: entry.logprob for entry in baseline.top if entry.id is not None}
    listed[UNKNOWN if baseline.id is None else baseline.id] = own
    found = listed.get(wanted)
    if found is not None:
        return None if math.isnan(found) else Regret(best - found, False)
    rest = 1 - math.fsum(math.exp(value) for value in listed.values() if not math.isnan(value))
    return Regret(max(best - math.log(max(rest, REST_FLOOR)), 0.0), True)


@overload
def above(regrets: float, bound: float) -> bool: ...


@overload
def above(regrets: npt.NDArray[np.float64], bound: float) -> npt.NDArray[np.bool_]: ...


def above(regrets: float | npt.NDArray[np.float64], bound: float) -> bool | npt.NDArray[np.bool_]:
    """Whether regrets (nat, one or an array) exceed a bound, the rounding of decimals aside."""
    return regrets > bound + ROUNDING


def stream_regrets(
    ids: Sequence[int], baseline: Sequence[Token], divergence: int | None
) -> Regrets | None:
    """Decode-shape regrets that the baseline's own stream gives for free.

    They cover `ids` up to and including the first divergence, the last place where both have the
    same prefix; `divergence` is its index, `None` where there is none. `None` is returned where
    the stream carries no usable lists at one of those places.
    """
    end = min(len(ids), len(baseline))
    if divergence is not None:
        end = min(end, divergence + 1)
    seen = Tokens.of(baseline)
    best, own = seen.best[:end], seen.logprobs[:end]
    same = np.asarray(ids[:end], np.int64) == seen.ids[:end]
    if not np.all(~same | np.isfinite(best) & ~np.isnan(own)):
        return None
    with np.errstate(invalid="ignore"):
        values = np.maximum(best - own, 0.0)
    bounded = np.zeros(end, np.bool_)
    for place in np.flatnonzero(~same).tolist():
        found = regret_at(seen[place], ids[place])
        if found is None:
            return None
        values[place], bounded[place] = found
    return Regrets("decode", 0, values, bounded)


def scored_regrets(scored: Scored, start: int) -> Regrets:
    """Regrets of a scored continuation, in the shape it was scored in, from index `start` on."""
    skip = max(start - scored.start, 0)
    values = np.maximum(scored.best[skip:] - scored.logprobs[skip:], 0.0)
    return Regrets(scored.shape, scored.start + skip, values, np.zeros(len(values), dtype=np.bool_))
