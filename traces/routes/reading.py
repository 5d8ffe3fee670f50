"""What came back on any route, as one `Response`."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from traces.json_bytes import encode_json
from traces.routes.messages_stream import read_messages
from traces.routes.responses_stream import read_responses
from traces.wire.capture import Capture, CaptureKey
from traces.wire.reassembly import response_of
from traces.wire.response import Response
from traces.wire.route import Route

_READERS: Mapping[Route, Callable[[Capture], Response]] = {
    "chat": response_of,
    "completions": response_of,
    "messages": read_messages,
    "responses": read_responses,
}


def read_events(
    route: Route, events: Sequence[Mapping[str, Any]], times_ms: Sequence[float] | None = None
) -> Response:
    """The response made of the JSON objects of a stream in order, as case files hold them.

    `times_ms` are milliseconds since the request was sent, one per event; unknown, all stand at 0.
    The events of `/v1/messages` and `/v1/responses` end by themselves; others get their ``[DONE]``.
    """
    times = times_ms or [0.0] * len(events)
    reads = [(at, _spelled(event)) for at, event in zip(times, events, strict=True)]
    if route in ("chat", "completions"):
        reads.append((reads[-1][0] if reads else 0.0, "data: [DONE]\n\n"))
    key = CaptureKey("", "candidate", "", "", "")
    return read_capture(Capture(key, {}, 200, 0.0, tuple(reads), "closed", route=route))


def _spelled(event: Mapping[str, Any]) -> str:
    name = f"event: {event['type']}\n" if isinstance(event.get("type"), str) else ""
    return f"{name}data: {encode_json(event).decode()}\n\n"


def read_capture(capture: Capture) -> Response:
    """The response a capture holds, by its route. Never raises: see `response_of`."""
    return _READERS[capture.route](capture)
