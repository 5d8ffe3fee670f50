"""A raw exchange as two JSON objects: the request, and the whole answer whatever it came as."""

import zlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from replay.writing.exchanged import TURN_BYTES, Exchanged
from traces.json_bytes import decode_json
from traces.readers.formats.requests.exchange import is_request
from traces.readers.formats.requests.sse_fold import folded
from traces.wire.route import PATHS, Route, is_ended

EVENTS = "text/event-stream"


class NotATurn(ValueError):
    """An exchange that cannot be recorded; `reason` is one of `replay.recording.tally`."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


@dataclass(frozen=True, slots=True)
class Bodies:
    """`request` as the client sent it, `answer` as one object of the same API."""

    request: dict[str, Any]
    answer: dict[str, Any]


def bodies_of(exchanged: Exchanged) -> Bodies:
    """The bodies of an exchange. Raises NotATurn."""
    asked, answered = exchanged.encodings
    request = _object(_plain(exchanged.request, asked))
    if not _has_prompt(request, exchanged.route):
        raise NotATurn("not_a_request")
    body = _plain(exchanged.answer, answered)
    streamed = EVENTS in exchanged.answer_type
    if exchanged.cut and not (streamed and _has_ended(body, exchanged.route)):
        raise NotATurn("unfinished")
    text = body.decode("utf-8", "replace")
    try:
        answer = folded(text)
    except (ValueError, TypeError, LookupError, AttributeError, RecursionError):
        raise NotATurn("unreadable") from None
    if not answer:
        raise NotATurn("unreadable")
    if answer.get("error") or (streamed and _reports_error(text)):
        raise NotATurn("answer_error")
    return Bodies(request, answer)


def _has_prompt(request: dict[str, Any], route: str) -> bool:
    """Whether the whole prompt is in the body: as text, and not as a reference to the server."""
    if route == PATHS["completions"]:
        return isinstance(request.get("prompt"), str)
    return is_request(request) and not request.get("previous_response_id")


ROUTE_OF: dict[str, Route] = {path: route for route, path in PATHS.items()}


def _has_ended(body: bytes, path: str) -> bool:
    """Whether the last event of a stream is there, and whole; who has read it may leave."""
    return body.endswith((b"\n\n", b"\r\n\r\n")) and is_ended(ROUTE_OF[path], body)


ERRORS = ('data: {"error":', 'data: {"type":"error"', "event: error", "event: response.failed")
"""How vLLM 0.32 begins an event that ends an answer by an error."""


def _reports_error(text: str) -> bool:
    return any(line.startswith(ERRORS) for line in text.splitlines())


def _object(data: bytes) -> dict[str, Any]:
    try:
        value = decode_json(data)
    except (ValueError, RecursionError):
        raise NotATurn("unreadable") from None
    if not isinstance(value, dict):
        raise NotATurn("not_a_request")
    return value


def _plain(data: bytes, encoding: str) -> bytes:
    """A body without its compression, at most `TURN_BYTES` of it. Raises NotATurn."""
    if encoding.strip().lower() in ("", "identity"):
        return data
    opener = OPENERS.get(encoding.strip().lower())
    if opener is None:
        raise NotATurn("unreadable")
    inflating = opener()
    try:
        plain: bytes = inflating.decompress(data, TURN_BYTES + 1)
    except zlib.error:
        raise NotATurn("unreadable") from None
    if len(plain) > TURN_BYTES:
        raise NotATurn("too_large")
    return plain


OPENERS: dict[str, Callable[[], Any]] = {
    "gzip": lambda: zlib.decompressobj(zlib.MAX_WBITS | 16),
    "x-gzip": lambda: zlib.decompressobj(zlib.MAX_WBITS | 16),
    "deflate": zlib.decompressobj,
}
