"""A scripted server that decodes and scores by a small fixed distribution over token ids."""

import json
import math
from collections.abc import Sequence
from typing import Any

from tests.support.scripted.server import DONE, Answer, Seen, sse

VOCABULARY = 30
END = 29


def logprobs(prefix: Sequence[int]) -> list[float]:
    """log p(v | prefix): a fixed spread of logits, turned by the prefix's sum and length."""
    turn = (sum(prefix) * 7 + len(prefix) * 3) % VOCABULARY
    logits = [3.0 * math.cos(0.7 * ((v + turn) % VOCABULARY)) - 0.01 * v for v in range(VOCABULARY)]
    norm = math.log(sum(math.exp(x) for x in logits))
    return [x - norm for x in logits]


def greedy(prefix: Sequence[int], count: int) -> list[int]:
    """The next `count` tokens, the end token included and nothing after it."""
    tokens: list[int] = []
    while len(tokens) < count and END not in tokens:
        scores = logprobs([*prefix, *tokens])
        tokens.append(scores.index(max(scores)))
    return tokens


def answer(seen: Seen) -> Answer:
    """``/v1/completions``: streamed with logprobs, or whole with prompt logprobs."""
    body = seen.body
    return _streamed(body) if body["stream"] else _scored(body)


def _streamed(body: dict[str, Any]) -> Answer:
    prefix, chunks = list(body["prompt"]), []
    tokens = greedy(prefix, body["max_tokens"])
    for at, token in enumerate(tokens):
        scores = logprobs([*prefix, *tokens[:at]])
        order = sorted(range(VOCABULARY), key=lambda v: -scores[v])
        wanted = body.get("logprob_token_ids") or order[: body["logprobs"]]
        listed = {f"token_id:{v}": scores[v] for v in dict.fromkeys([token, *wanted])}
        row = {"token_logprobs": [scores[token]], "top_logprobs": [listed]}
        chunks.append({"choices": [{"token_ids": [token], "logprobs": row}]})
    return Answer(writes=[*sse(*chunks), DONE], gap_s=0.001)


def _scored(body: dict[str, Any]) -> Answer:
    ids = body["prompt"]
    entries: list[Any] = [None]
    for at in range(1, len(ids)):
        scores = logprobs(ids[:at])
        best = scores.index(max(scores))
        entries.append({str(v): {"logprob": scores[v]} for v in dict.fromkeys([ids[at], best])})
    whole = {"choices": [{"prompt_logprobs": entries}]}
    return Answer(writes=[json.dumps(whole).encode()], content_type="application/json")
