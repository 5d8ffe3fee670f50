"""A capture as one JSON line of a journal, and back.

    {"run": "r1", "path": "candidate", "arm": "main", "session": "s", "turn": "t3", "attempt": 0,
     "request": {…}, "status": 200, "headers": {"content-type": "text/event-stream"},
     "sent_at": 1764429485.1, "events": [[12.4, "data: {…}\\n\\n"], [13.0, {"b64": "4p8="}]],
     "done": true, "ended": "done", "error": null}

A network read that is not valid UTF-8 (a read may end inside a character) is kept as base64.
"""

import base64
from itertools import pairwise
from typing import Annotated, Any

from msgspec import Meta, Struct, convert

from traces.json_bytes import decode_json, encode_json
from traces.routes.asking import chat_view
from traces.wire.capture import Capture, CaptureKey
from traces.wire.route import Route


class _Base64(Struct):
    b64: str


class _Event(Struct, array_like=True, forbid_unknown_fields=True):
    at: Annotated[float, Meta(ge=0)]
    read: str | _Base64


class _Record(Struct):
    """The line. Records of other writers may lack `arm`, `ended`, `headers` and `error`."""

    run: str
    path: str
    session: str
    turn: str
    attempt: Annotated[int, Meta(ge=0)]
    request: dict[str, Any]
    status: int | None
    sent_at: Annotated[float, Meta(ge=0)]
    events: list[_Event]
    done: bool = False
    arm: str = "main"
    ended: str | None = None
    headers: dict[str, str] | None = None
    error: str | None = None
    lost_ms: Annotated[float, Meta(ge=0)] | None = None
    route: Route = "chat"


class _Request(Struct):
    """What the judgement reads of a request; a server takes a number that is written as text."""

    messages: list[dict[str, Any]] | None = None
    tools: list[dict[str, Any]] | None = None
    temperature: float | None = None
    max_tokens: int | None = None
    max_completion_tokens: int | None = None
    stop: str | list[str] | None = None
    stream_options: dict[str, Any] | None = None
    response_format: dict[str, Any] | None = None


def encode_record(capture: Capture) -> bytes:
    """One line, newline included."""
    key = capture.key
    record = {
        "run": key.run,
        "path": key.path,
        "arm": key.arm,
        "session": key.session,
        "turn": key.turn,
        "attempt": key.attempt,
        "request": capture.request,
        "status": capture.status,
        "headers": capture.headers,
        "sent_at": capture.sent_at,
        "events": [[at, _encode_read(read)] for at, read in capture.events],
        "done": capture.ended == "done",
        "ended": capture.ended,
        "error": capture.error,
        **({} if capture.lost_ms is None else {"lost_ms": capture.lost_ms}),
        **({} if capture.route == "chat" else {"route": capture.route}),
    }
    return encode_json(record) + b"\n"


def decode_record(line: bytes) -> Capture:
    """The capture of one line; ValueError, which names the field, for anything else."""
    record = convert(decode_json(line), _Record)
    convert(chat_view(record.route, record.request), _Request, strict=False)
    times = [event.at for event in record.events]
    if any(later < earlier for earlier, later in pairwise(times)):
        raise ValueError("events go back in time")
    return Capture(
        key=CaptureKey(
            run=record.run,
            path=record.path,
            arm=record.arm,
            session=record.session,
            turn=record.turn,
            attempt=record.attempt,
        ),
        request=record.request,
        status=record.status,
        sent_at=record.sent_at,
        events=tuple((event.at, _decode_read(event.read)) for event in record.events),
        ended=record.ended or _ended(record),
        headers=record.headers or {},
        error=record.error,
        lost_ms=record.lost_ms,
        route=record.route,
    )


def _encode_read(read: str | bytes) -> str | dict[str, str]:
    if isinstance(read, str):
        return read
    try:
        return read.decode()
    except UnicodeDecodeError:
        return {"b64": base64.b64encode(read).decode()}


def _decode_read(read: "str | _Base64") -> str | bytes:
    return read if isinstance(read, str) else base64.b64decode(read.b64, validate=True)


def _ended(record: "_Record") -> str:
    """For records of other writers, which need not hold `ended`."""
    if record.done:
        return "done"
    return "error" if record.error else "closed"
