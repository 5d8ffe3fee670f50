"""Reading the answer of a scoring request.

    {"choices": [{"prompt_logprobs": [null, {"17": {"logprob": -0.4, "rank": 1, …}}, …]}]}

One entry per prompt position holds the token that stands there and, where that is another, the
best one. Only the continuation's entries are kept.
"""

import math
from typing import Any

import orjson

from replay.refusal import TOO_LONG, error_message
from traces.capture import Capture
from traces.score import Outcome, Score, ScoreRequest

NON_FINITE = "Out of range float values"
"""Words of Python's json module: vLLM cannot write NaN or infinity, and refuses the request."""


def read_score(request: ScoreRequest, answer: Capture) -> Score:
    """The score, or why there is none."""
    if answer.status is None or answer.ended in ("error", "timeout"):
        return Score("no_answer", error=answer.error)
    message = error_message(answer)
    if message is not None:
        return Score(refusal_outcome(message), error=message)
    try:
        entries = orjson.loads(answer.body)["choices"][0].get("prompt_logprobs")
    except (orjson.JSONDecodeError, KeyError, IndexError, AttributeError, TypeError):
        return Score("unsupported", error="the answer is not a completion")
    wanted = len(request.prompt) + len(request.continuation)
    if not isinstance(entries, list) or len(entries) != wanted:
        return Score("unsupported", error="the answer has no prompt_logprobs for every position")
    return _continuation(request, entries[len(request.prompt) :])


def _continuation(request: ScoreRequest, entries: list[dict[str, Any] | None]) -> Score:
    own, top, top_ids = [], [], []
    for token, entry in zip(request.continuation, entries, strict=True):
        scores = {int(key): value["logprob"] for key, value in (entry or {}).items()}
        if not all(value is not None and math.isfinite(value) for value in scores.values()):
            return Score("non_finite", error="prompt_logprobs hold NaN or infinity")
        if token not in scores:
            return Score("unsupported", error=f"prompt_logprobs lack the token {token} itself")
        best = max(scores, key=scores.__getitem__)
        own.append(scores[token])
        top.append(scores[best])
        top_ids.append(best)
    return Score("scored", tuple(own), tuple(top), tuple(top_ids))


def refusal_outcome(message: str) -> Outcome:
    """What the server's words mean."""
    if NON_FINITE in message:
        return "non_finite"
    return "too_long" if any(words in message for words in TOO_LONG) else "refused"
