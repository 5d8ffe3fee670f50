"""Is each greedy token the best of its own path's list? Needs no baseline and no tolerance.

A sound greedy sampler emits the argmax of its own logits, whatever drafted the token; ties and
float32 rounding apart. Under penalties or a grammar this holds for processed log probabilities
(``--logprobs-mode processed_logprobs``), not for raw ones.
"""

import numpy as np
import numpy.typing as npt

from traces.wire.response import Response
from traces.wire.tokens import Tokens


def checkable_places(tokens: Tokens) -> npt.NDArray[np.bool_]:
    """True where a position lists at least two tokens beside a score of its own; shape (n,)."""
    return tokens.scored & (tokens.listed >= 2)


def not_argmax(response: Response, tolerance: float) -> tuple[int, ...]:
    """Indices of output tokens more than `tolerance` nat below the best of their own list."""
    tokens = Tokens.of(response.tokens or ())
    with np.errstate(invalid="ignore"):
        below = tokens.best - tokens.logprobs > tolerance
    return tuple(np.flatnonzero(checkable_places(tokens) & below).tolist())
