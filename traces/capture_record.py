"""A capture as one JSON line of a journal, and back.

    {"run": "r1", "path": "candidate", "arm": "main", "session": "s", "turn": "t3", "attempt": 0,
     "request": {…}, "status": 200, "headers": {"content-type": "text/event-stream"},
     "sent_at": 1764429485.1, "events": [[12.4, "data: {…}\\n\\n"], [13.0, {"b64": "4p8="}]],
     "done": true, "ended": "done", "error": null}

A network read that is not valid UTF-8 (a read may end inside a character) is kept as base64.
"""

import base64
import json
from typing import Any

import orjson

from traces.capture import Capture, CaptureKey, Event


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
    }
    return encode_json(record) + b"\n"


def decode_record(line: bytes) -> Capture:
    """The capture of one line; KeyError, TypeError or ValueError for anything else."""
    record = decode_json(line)
    key = CaptureKey(
        run=record["run"],
        path=record["path"],
        arm=record.get("arm", "main"),
        session=record["session"],
        turn=record["turn"],
        attempt=record["attempt"],
    )
    return Capture(
        key=key,
        request=record["request"],
        status=record["status"],
        sent_at=record["sent_at"],
        events=tuple(_decode_read(event) for event in record["events"]),
        ended=record.get("ended") or _ended(record),
        headers=record.get("headers") or {},
        error=record.get("error"),
    )


def encode_json(value: Any) -> bytes:
    """UTF-8 JSON of `value`. Lone surrogates and integers beyond 64 bits, which recorded sessions
    may hold and orjson refuses, go through the standard library as escapes.
    """
    try:
        return orjson.dumps(value)
    except TypeError:
        return json.dumps(value, separators=(",", ":")).encode()


def decode_json(data: bytes | str) -> Any:
    """What `encode_json` wrote."""
    try:
        return orjson.loads(data)
    except orjson.JSONDecodeError:
        return json.loads(data)


def _encode_read(read: str | bytes) -> str | dict[str, str]:
    if isinstance(read, str):
        return read
    try:
        return read.decode()
    except UnicodeDecodeError:
        return {"b64": base64.b64encode(read).decode()}


def _decode_read(event: list[Any]) -> Event:
    at, read = event
    return (at, read if isinstance(read, str) else base64.b64decode(read["b64"], validate=True))


def _ended(record: dict[str, Any]) -> str:
    """For records of other writers, which need not hold `ended`."""
    if record["done"]:
        return "done"
    return "error" if record.get("error") else "closed"
