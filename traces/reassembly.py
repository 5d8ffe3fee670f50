"""Put a streamed chat completion together exactly as a strict client would.

    data: {"choices":[{"index":0,"delta":{"content":"a"},"token_ids":[64],
           "logprobs":{"content":[{"token":"token_id:64","logprob":-0.1,"bytes":[97],
                                   "top_logprobs":[{"token":"token_id:64","logprob":-0.1}]}]}}]}
    data: {"choices":[],"usage":{"prompt_tokens":9,"completion_tokens":1},
           "metrics":{"speculative_decoding":{"per_step_accepted":[2],"per_step_drafted":[3]}}}
    data: [DONE]

Field names: vLLM 0.32 `entrypoints/openai/chat_completion/protocol.py`. Both `delta.reasoning` and
the older `delta.reasoning_content` are read. Only choice 0 is read: the gate asks for `n: 1`.
"""

import json
from collections.abc import Iterable
from typing import Any

from traces.capture import Capture
from traces.reassembly_calls import CallAssembler
from traces.reassembly_tokens import tokens_of_choice
from traces.response import Chunk, Response, Speculation, Token, Usage
from traces.sse import SseParser, events_of

DONE = "[DONE]"


def response_of(capture: Capture) -> Response:
    """The response a capture holds. A status other than 200 gives its error body."""
    if capture.status != 200:
        return _assemble([], capture.status, done=False, error=_error_body(capture.body))
    parser = SseParser()
    chunks: list[tuple[float, dict[str, Any]]] = []
    malformed: list[str] = []
    done = False
    for number, event in enumerate(events_of(capture.events, parser)):
        if event.data.startswith(DONE):
            done = True
            break
        chunk = _chunk(event.data)
        if chunk is None:
            malformed.append(f"event {number} is not a JSON object: {event.data[:80]!r}")
        else:
            chunks.append((event.at_ms, chunk))
    if not done and parser.left_over:
        malformed.append(f"the stream ends inside event {len(chunks) + len(malformed)}")
    if parser.undecodable:
        malformed.append(f"{parser.undecodable} lines are not UTF-8")
    return _assemble(chunks, capture.status, done=done, malformed=tuple(malformed))


def response_of_chunks(
    chunks: Iterable[dict[str, Any]],
    *,
    done: bool,
    status: int | None = 200,
    times_ms: Iterable[float] | None = None,
    raw_text: str | None = None,
    error: dict[str, Any] | None = None,
) -> Response:
    """The response made of chunk objects in order, as case files hold them.

    `times_ms` are milliseconds since the request was sent, one per chunk; where they are unknown
    every chunk stands at 0.
    """
    chunks = list(chunks)
    times = list(times_ms) if times_ms is not None else [0.0] * len(chunks)
    timed = list(zip(times, chunks, strict=True))
    return _assemble(timed, status, done=done, raw_text=raw_text, error=error)


def _chunk(data: str) -> dict[str, Any] | None:
    try:
        chunk = json.loads(data)
    except (ValueError, RecursionError):
        return None
    return chunk if isinstance(chunk, dict) else None


def _error_body(body: bytes) -> dict[str, Any]:
    text = body.decode(errors="replace")
    return _chunk(text) or {"error": {"message": text}}


def _assemble(
    chunks: list[tuple[float, dict[str, Any]]],
    status: int | None,
    *,
    done: bool,
    malformed: tuple[str, ...] = (),
    raw_text: str | None = None,
    error: dict[str, Any] | None = None,
) -> Response:
    content: list[str] = []
    reasoning: list[str] = []
    calls = CallAssembler()
    tokens: list[Token] = []
    seen: list[Chunk] = []
    ids_sent = False
    finish: str | None = None
    stop: str | int | None = None
    usage: Usage | None = None
    speculation: Speculation | None = None
    prompt_ids: tuple[int, ...] | None = None
    fingerprint: str | None = None
    model: str | None = None
    for at_ms, chunk in chunks:
        error = error or _error_object(chunk)
        usage = _usage(chunk.get("usage")) or usage
        speculation = _speculation(chunk.get("metrics")) or speculation
        fingerprint = chunk.get("system_fingerprint") or fingerprint
        model = chunk.get("model") or model
        if isinstance(chunk.get("prompt_token_ids"), list):
            prompt_ids = tuple(chunk["prompt_token_ids"])
        choice = _choice(chunk)
        delta = choice.get("delta") or {}
        content.append(delta.get("content") or "")
        reasoning.append(delta.get("reasoning") or delta.get("reasoning_content") or "")
        calls.add(delta.get("tool_calls") or [])
        finish = choice.get("finish_reason") or finish
        stop = choice.get("stop_reason") if choice.get("stop_reason") is not None else stop
        ids, entries = choice.get("token_ids"), (choice.get("logprobs") or {}).get("content")
        ids_sent = ids_sent or ids is not None or entries is not None
        tokens += tokens_of_choice(ids, entries)
        seen.append(
            Chunk(
                at_ms=at_ms,
                token_ids=None if ids is None else len(ids),
                logprobs=None if entries is None else len(entries),
                has_delta=bool(delta),
            )
        )
    return Response(
        status=status,
        content="".join(content),
        reasoning="".join(reasoning),
        tool_calls=calls.finished(),
        finish_reason=finish,
        tokens=tuple(tokens) if ids_sent else None,
        prompt_token_ids=prompt_ids,
        usage=usage,
        speculation=speculation,
        chunks=tuple(seen),
        done=done,
        error=error,
        malformed=malformed,
        system_fingerprint=fingerprint,
        model=model,
        stop_reason=stop,
        raw_text=raw_text,
    )


def _choice(chunk: dict[str, Any]) -> dict[str, Any]:
    for choice in chunk.get("choices") or []:
        if isinstance(choice, dict) and choice.get("index", 0) == 0:
            return choice
    return {}


def _error_object(chunk: dict[str, Any]) -> dict[str, Any] | None:
    """The error in a 200 stream: ``{"error": {...}}``, or the older ``{"object": "error"}``."""
    if chunk.get("error"):
        return chunk
    return chunk if chunk.get("object") == "error" else None


def _usage(usage: Any) -> Usage | None:
    if not isinstance(usage, dict):
        return None
    details = usage.get("prompt_tokens_details") or {}
    return Usage(
        prompt=usage.get("prompt_tokens"),
        completion=usage.get("completion_tokens"),
        cached=details.get("cached_tokens"),
    )


def _speculation(metrics: Any) -> Speculation | None:
    raw = metrics.get("speculative_decoding") if isinstance(metrics, dict) else None
    if not isinstance(raw, dict):
        return None
    accepted, drafted = raw.get("per_step_accepted"), raw.get("per_step_drafted")
    return Speculation(
        accepted=None if accepted is None else tuple(accepted),
        drafted=None if drafted is None else tuple(drafted),
        raw=raw,
    )
