"""Is each greedy token the best of its own path's list? Needs no baseline and no tolerance.

A sound greedy sampler emits the argmax of its own logits, whatever drafted the token; ties and
float32 rounding apart. Under penalties or a grammar this holds for processed log probabilities
(``--logprobs-mode processed_logprobs``), not for raw ones.
"""

import numpy as np
import numpy.typing as npt

from traces.wire.response import Response
from traces.wire.tokens import Tokens

TOLERANCE = 1e-5
"""nat below its list's best that still is its argmax: ties are common in bf16, and float32 log
probabilities round. vLLM's own test allows as much (0.32,
`tests/v1/e2e/general/accuracy_utils.py`)."""


def checkable_places(tokens: Tokens) -> npt.NDArray[np.bool_]:
    """True where a position lists at least two tokens beside a score of its own; shape (n,)."""
    return tokens.scored & (tokens.listed >= 2)


def below_best(tokens: Tokens) -> npt.NDArray[np.float64]:
    """How far (nat) each token lies below the best of its own list; NaN where that is unknown,
    shape (n,).
    """
    with np.errstate(invalid="ignore"):
        gaps = tokens.best - tokens.logprobs
    return np.where(checkable_places(tokens), gaps, np.nan)


def not_argmax(response: Response) -> tuple[int, ...]:
    """Indices of output tokens that are not the best of their own list."""
    gaps = below_best(Tokens.of(response.tokens or ()))
    return tuple(np.flatnonzero(gaps > TOLERANCE).tolist())
