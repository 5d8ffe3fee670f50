"""Is each greedy token the best of its own path's list? Needs no baseline and no tolerance.

A sound greedy sampler emits the argmax of its own logits, whatever drafted the token; ties and
float32 rounding apart. Under penalties or a grammar this holds for processed log probabilities
(``--logprobs-mode processed_logprobs``), not for raw ones.
"""

from checks.regret import best_logprob
from traces.response import Response, Token


def checkable(token: Token) -> bool:
    """True where the position lists at least two tokens beside a score of its own."""
    return token.logprob is not None and len(token.top) >= 2


def not_argmax(response: Response, tolerance: float) -> tuple[int, ...]:
    """Indices of output tokens more than `tolerance` nat below the best of their own list."""
    wrong = []
    for index, token in enumerate(response.tokens or ()):
        best, own = best_logprob(token), token.logprob
        if not checkable(token) or best is None or own is None:
            continue
        if best - own > tolerance:
            wrong.append(index)
    return tuple(wrong)
