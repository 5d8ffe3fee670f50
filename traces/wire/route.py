"""Which route a request goes to, and how the end of its stream looks."""

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


def is_ended(route: Route, body: bytes) -> bool:
    """Whether the last event of a body is the one that ends a stream of the route.

        event: message_stop
        data: {"type":"message_stop"}

    Only the last event is looked at; time is linear in its length.
    """
    body = body.rstrip()
    start = max(body.rfind(b"\n\n"), body.rfind(b"\r\n\r\n"), -1)
    last = body[start + 1 :].strip()
    if route in ("chat", "completions"):
        return last.rsplit(b"\n", 1)[-1] in (b"data: [DONE]", b"data:[DONE]")
    ends = ("message_stop",) if route == "messages" else RESPONSES_ENDS
    name = last.split(b"\n", 1)[0].strip().removeprefix(b"event:").strip()
    return name.decode(errors="replace") in ends
