"""Regret: how much less likely the baseline finds a token than its own best at the same prefix.

    g_t = max_v log p_B(v | h_t) - log p_B(y_t | h_t)   >= 0, in nat

The normaliser cancels, so regret is a gap between two logits and needs no comparison of
probabilities across engines. Rank is not used: bf16 ties are common, and vLLM gives both members
of a tie the rank 2. Regrets of decode shape (one row per step, the baseline's own stream) and of
prefill shape (teacher forcing, ``prompt_logprobs``) round differently and are never mixed.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from traces.errors import DraftgateError
from traces.journal.score import Score, Shape
from traces.wire.response import Token
from traces.wire.tokens import Tokens


class ScoreError(DraftgateError):
    """A score does not fit the tokens that were to be scored."""


@dataclass(frozen=True, slots=True)
class Scored:
    """Baseline log probabilities (nat) of output tokens `start`, `start + 1`, ... of one turn.

    `ids[i]` is the token that was read, `logprobs[i]` its log probability, `best[i]` the largest
    one at that place and `best_ids[i]` the token that has it. They are raw: before penalties,
    grammar and temperature. `shape` is how they were computed: ``prefill`` by teacher forcing,
    ``decode`` in lockstep.
    """

    start: int
    ids: tuple[int, ...]
    logprobs: npt.NDArray[np.float64]
    best: npt.NDArray[np.float64]
    best_ids: tuple[int, ...]
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
    return Scored(start, tuple(ids[start:]), own, best, score.top_ids, score.shape)


SHAPES: tuple[Shape, ...] = ("decode", "prefill")

REST_FLOOR = 1e-6
"""Least probability left to unlisted tokens: float32 log probabilities sum to 1 only so closely."""


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


def listed_logprob(token: Token, wanted: int | None) -> tuple[float, bool] | None:
    """(log probability, whether it is only an upper bound) of token id `wanted` at this position.

    A token missing from the list has at most ``log(1 - sum of listed probabilities)``. `None`
    where the position carries no list or no id to look for.
    """
    if wanted is None or token.logprob is None:
        return None
    if token.id == wanted:
        return token.logprob, False
    for entry in token.top:
        if entry.id == wanted:
            return entry.logprob, False
    listed = {entry.id: entry.logprob for entry in token.top} | {token.id: token.logprob}
    if len(listed) < 2 or None in listed:
        return None
    rest = 1.0 - sum(math.exp(value) for value in listed.values())
    return math.log(max(rest, REST_FLOOR)), True


def best_logprob(token: Token) -> float | None:
    """The largest log probability known at a position."""
    known = [entry.logprob for entry in token.top if not math.isnan(entry.logprob)]
    if token.logprob is not None and not math.isnan(token.logprob):
        known.append(token.logprob)
    return max(known, default=None)


def regret_at(baseline: Token, wanted: int | None) -> tuple[float, bool] | None:
    """(regret in nat, whether it is only a lower bound) of token id `wanted`; `None`: unknown."""
    best, found = best_logprob(baseline), listed_logprob(baseline, wanted)
    if best is None or found is None or not math.isfinite(best) or math.isnan(found[0]):
        return None
    return max(best - found[0], 0.0), found[1]


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
