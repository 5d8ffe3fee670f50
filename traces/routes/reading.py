"""What came back on any route, as one `Response`."""

from collections.abc import Callable, Mapping

from traces.routes.messages_stream import read_messages
from traces.routes.responses_stream import read_responses
from traces.wire.capture import Capture
from traces.wire.reassembly import response_of
from traces.wire.response import Response
from traces.wire.route import Route

_READERS: Mapping[Route, Callable[[Capture], Response]] = {
    "chat": response_of,
    "completions": response_of,
    "messages": read_messages,
    "responses": read_responses,
}


def read_capture(capture: Capture) -> Response:
    """The response a capture holds, by its route. Never raises: see `response_of`."""
    return _READERS[capture.route](capture)
