"""Which route a request goes to, and how the end of its stream looks."""

from collections.abc import Sequence
from typing import Literal, get_args

Route = Literal["chat", "completions", "messages", "responses"]

ROUTES: tuple[Route, ...] = get_args(Route)

PATHS: dict[Route, str] = {
    "chat": "/v1/chat/completions",
    "completions": "/v1/completions",
    "messages": "/v1/messages",
    "responses": "/v1/responses",
}

END: dict[Route, str] = {
    "chat": "data: [DONE]",
    "completions": "data: [DONE]",
    "messages": "event: message_stop",
    "responses": "event: response.completed",
}
"""What ends a stream, as findings name it."""

RESPONSES_ENDS = ("response.completed", "response.incomplete", "response.failed")
"""Events that end a stream of `/v1/responses`."""

_AGENTS: dict[str, Route] = {
    "claude-code": "messages",
    "codex": "responses",
    "codex-exec": "responses",
    "openai-agents": "responses",
}


def route_of_format(session_format: str) -> Route:
    """The route that the agent behind a recorded-session format sends its requests to."""
    return _AGENTS.get(session_format, "chat")


MOST_TRAILING = 8
"""So many comments, or events that a gateway adds, may follow the last one of the server."""


def is_ended(route: Route, body: bytes) -> bool:
    """Whether the last event of a body is the one that ends a stream of the route.

        event: message_stop
        data: {"type":"message_stop"}

    Comments behind it are passed over, and on these routes a ``[DONE]`` that a gateway adds. Time
    is linear in the last events.
    """
    for _ in range(MOST_TRAILING):
        body = body.rstrip()
        start = max(body.rfind(b"\n\n"), body.rfind(b"\r\n\r\n"))
        lines = [
            line
            for line in body[start + 1 :].splitlines()
            if line.strip() and not line.startswith(b":")
        ]
        done = bool(lines) and lines[-1] in (b"data: [DONE]", b"data:[DONE]")
        if route in ("chat", "completions") and lines:
            return done
        if lines and not done:
            return _ends(route, lines)
        if start < 0:
            return False
        body = body[:start]
    return False


def _ends(route: Route, lines: Sequence[bytes]) -> bool:
    """Whether the lines of one event name, or hold, the end of a stream of a route with names."""
    ends = (b"message_stop",) if route == "messages" else tuple(e.encode() for e in RESPONSES_ENDS)
    names = {line[6:].strip() for line in lines if line.startswith(b"event:")}
    if names:
        return not names.isdisjoint(ends)
    held = [line for line in lines if line.startswith(b"data:")]
    spelled = [b'"type":%s"%s"' % (space, end) for end in ends for space in (b"", b" ")]
    return any(text in line for text in spelled for line in held)
