"""Write a response again as the shortest stream that shows the same.

A case file holds chunk objects. They are made from the response's facts, not copied: text comes in
one delta, a call in one where its header was whole, and only chunks whose token and logprob counts
disagree are kept apart.
"""

import math
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

from traces.wire.response import Response, Token, ToolCall

Chunk = dict[str, Any]


def chunks_of_response(response: Response) -> list[Chunk]:
    """Chunk objects from which the same response is assembled again, up to where it is cut."""
    before, *behind = _between_seams(response) if response.tool_calls else [response.content]
    delta: dict[str, Any] = {}
    if before:
        delta["content"] = before
    if response.reasoning:
        delta["reasoning"] = response.reasoning
    chunks = [_chunk(delta)] if delta else []
    chunks += [_chunk({"tool_calls": [part]}) for part in _call_parts(response.tool_calls)]
    for text in behind:
        chunks += [_chunk({"content": text}), _chunk({"tool_calls": [SEAM]})]
    chunks += _counted(response)
    if response.finish_reason:
        last = _chunk({}, finish_reason=response.finish_reason)
        if response.stop_reason is not None:
            last["choices"][0]["stop_reason"] = response.stop_reason
        chunks.append(last)
    if response.error is not None:
        chunks.append(response.error)
    elif response.broken_event is not None:
        chunks.append({"error": {"message": response.broken_event}})
    if response.usage is not None:
        chunks.append({"choices": [], "usage": _usage(response)})
    return chunks


SEAM = {"index": 0, "function": {"arguments": ""}}
"""A delta that adds nothing to the first call, and tells that calls came here."""


def _between_seams(response: Response) -> list[str]:
    """The content, cut where calls or reasoning came in between; at least one piece."""
    seams = [seam for seam in response.seams if 0 < seam < len(response.content)]
    return [response.content[a:b] for a, b in pairwise([0, *seams, len(response.content)])]


def times_around_the_longest_gap(response: Response, chunks: list[Chunk]) -> list[float]:
    """Arrival times (ms) that keep the longest gap of the response: before the last chunk."""
    times = [chunk.at_ms for chunk in response.chunks]
    before, after = max(pairwise(times), key=lambda pair: pair[1] - pair[0], default=(0.0, 0.0))
    return [before] * (len(chunks) - 1) + [after]


def _chunk(delta: dict[str, Any], **choice: Any) -> Chunk:
    return {"choices": [{"index": 0, "delta": delta, **choice}]}


def _call_parts(calls: tuple[ToolCall, ...]) -> Iterator[dict[str, Any]]:
    for call in calls:
        function = {"name": call.name, "arguments": call.arguments}
        whole = {"index": call.index, "id": call.id, "type": "function", "function": function}
        if call.header_complete or not (call.id and call.name):
            yield {key: value for key, value in whole.items() if value is not None}
        else:
            yield {"index": call.index, "function": {"arguments": ""}}
            yield whole
        for other in call.renamed:
            yield {"index": call.index, "function": {"name": other, "arguments": ""}}
        for other in call.ids[1:]:
            yield {"index": call.index, "id": other, "function": {"arguments": ""}}


def _counted(response: Response) -> list[Chunk]:
    """Token ids and logprobs: one chunk, but for those whose two counts disagree."""
    tokens = list(response.tokens or ())
    sent = [chunk for chunk in response.chunks if chunk.token_ids or chunk.logprobs]
    agree = all((c.token_ids or 0) == (c.logprobs or 0) for c in sent)
    if agree or not any(chunk.logprobs for chunk in sent):
        ids = [token.id for token in tokens if token.id is not None]
        return [_chunk({}, token_ids=ids)] if ids else []
    chunks: list[Chunk] = []
    at = 0
    for chunk in sent:
        part = tokens[at : at + max(chunk.token_ids or 0, chunk.logprobs or 0)]
        at += len(part)
        ids = [token.id for token in part[: chunk.token_ids or 0] if token.id is not None]
        entries = [_entry(token) for token in part[: chunk.logprobs or 0]]
        chunks.append(_chunk({}, token_ids=ids, logprobs={"content": entries}))
    return chunks


def _entry(token: Token) -> dict[str, Any]:
    score = token.logprob
    return {
        "token": f"token_id:{token.id}" if token.text is None else token.text,
        "logprob": None if score is None or math.isnan(score) else score,
    }


def _usage(response: Response) -> dict[str, Any]:
    assert response.usage is not None
    usage: dict[str, Any] = {
        "prompt_tokens": response.usage.prompt,
        "completion_tokens": response.usage.completion,
    }
    if response.usage.cached is not None:
        usage["prompt_tokens_details"] = {"cached_tokens": response.usage.cached}
    return usage
