"""What the baseline thinks of output tokens it was made to read (teacher forcing)."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from traces.errors import DraftgateError
from traces.journal.score import Score, Shape


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
