"""The paper server on `/v1/messages` and `/v1/responses`: the same answers in their events."""

from collections.abc import Sequence

from tests.support.paper.stream import Stream
from tests.support.route_streams import Block, Event, messages_events, responses_events
from traces.wire.route import Route

STOPS = {"stop": "end_turn", "tool_calls": "tool_use", "length": "max_tokens"}


def route_events(route: Route, stream: Stream) -> list[Event]:
    """The events of an answer; its texts come four characters at a time."""
    blocks: list[Block] = [("text", stream.content)] if stream.content else []
    for place, call in enumerate(stream.calls):
        function = call.get("function", call)
        identifier = f"call-{len(stream.prompt)}-{place}"
        blocks.append(("call", (identifier, function["name"], function["arguments"])))
    prompt = len(stream.prompt)
    if route == "messages":
        events = messages_events(blocks, _pieces, STOPS[stream.finish], prompt)
    else:
        status = "incomplete" if stream.finish == "length" else "completed"
        events = responses_events(blocks, _pieces, status, prompt)
    return events


def _pieces(text: str) -> Sequence[str]:
    return [text[at : at + 4] for at in range(0, len(text), 4)]
