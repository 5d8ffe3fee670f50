"""Streams of every route: sound ones are read whole, damaged ones are noticed, none raises."""

import json
import time
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.route_streams import (
    Block,
    captured,
    completion_events,
    messages_events,
    responses_events,
    wire,
)
from traces.routes.reading import read_capture
from traces.wire.capture import Capture
from traces.wire.response import Response
from traces.wire.route import ROUTES, Route, is_ended

TEXTS = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=20)
CALLS = st.tuples(
    st.just("call"),
    st.tuples(
        st.text("abc123", min_size=1, max_size=6),
        st.text("abc_", min_size=1, max_size=6),
        st.dictionaries(TEXTS, TEXTS, min_size=1, max_size=2).map(json.dumps),
    ),
)
BLOCKS = st.lists(
    st.one_of(st.tuples(st.sampled_from(["text", "thinking"]), TEXTS), CALLS),
    max_size=4,
    unique_by=lambda block: block[1][0] if block[0] == "call" else id(block),
)


def cut(text: str, size: int = 3) -> list[str]:
    return [text[at : at + size] for at in range(0, len(text), size)]


def events_of(route: Route, blocks: Sequence[Block]) -> list[dict[str, Any]]:
    return (messages_events if route == "messages" else responses_events)(blocks, cut)


def seen(response: Response) -> tuple[Any, ...]:
    calls = [(call.id, call.name, call.arguments) for call in response.tool_calls]
    return response.content, response.reasoning, calls


def meant(blocks: Sequence[Block]) -> tuple[Any, ...]:
    text = "".join(value for kind, value in blocks if kind == "text")
    thought = "".join(value for kind, value in blocks if kind == "thinking")
    return text, thought, [value for kind, value in blocks if kind == "call"]


@pytest.mark.parametrize("route", ["messages", "responses"])
@given(blocks=BLOCKS, size=st.integers(1, 40), newline=st.sampled_from(["\n", "\r\n", "\r"]))
def test_a_sound_stream_is_read_whole_however_it_is_cut(
    route: Route, blocks: list[Block], size: int, newline: str
) -> None:
    body = wire(events_of(route, blocks), newline)
    reads = [body[at : at + size] for at in range(0, len(body), size)]
    response = read_capture(captured(route, reads))
    assert seen(response) == meant(blocks)
    assert (response.protocol, response.malformed, response.irregular) == ((), (), ())
    assert response.done
    assert response.error is None
    assert response.usage is not None
    assert (response.usage.prompt, response.usage.completion) == (9, 5)


@given(text=TEXTS)
def test_a_completion_is_its_text(text: str) -> None:
    response = read_capture(captured("completions", [wire(completion_events(text, cut))]))
    assert (response.content, response.finish_reason, response.done) == (text, "stop", True)
    assert sum(chunk.has_delta for chunk in response.chunks) == len(cut(text)) + 1


@pytest.mark.parametrize("route", ["messages", "responses"])
@given(blocks=BLOCKS.filter(bool), data=st.data())
def test_no_event_can_be_lost_unnoticed(
    route: Route, blocks: list[Block], data: st.DataObject
) -> None:
    events = events_of(route, blocks)
    place = data.draw(st.integers(0, len(events) - 1))
    response = read_capture(captured(route, [wire(events[:place] + events[place + 1 :])]))
    whole = read_capture(captured(route, [wire(events)]))
    noticed = response.protocol or seen(response) != seen(whole)
    assert noticed or not response.done or response.finish_reason is None


@pytest.mark.parametrize("route", ["messages", "responses"])
@given(blocks=BLOCKS.filter(bool), data=st.data())
def test_no_event_can_come_twice_unnoticed(
    route: Route, blocks: list[Block], data: st.DataObject
) -> None:
    events = events_of(route, blocks)
    place = data.draw(st.integers(0, len(events) - 1))
    twice = [*events[: place + 1], *events[place:]]
    response = read_capture(captured(route, [wire(twice)]))
    # A signature twice is the same signature.
    signature = events[place].get("delta", {})
    if isinstance(signature, dict) and signature.get("type") == "signature_delta":
        return
    whole = read_capture(captured(route, [wire(events)]))
    again = route == "messages" and events[place]["type"] == "message_delta"
    assert response.protocol or seen(response) != seen(whole) or again


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner),
    max_leaves=8,
)
KEYS = [
    "type",
    "index",
    "delta",
    "text",
    "thinking",
    "partial_json",
    "stop_reason",
    "content_block",
    "id",
    "name",
    "input",
    "message",
    "usage",
    "item",
    "item_id",
    "output_index",
    "sequence_number",
    "arguments",
    "response",
    "output",
    "status",
    "error",
]
TYPES = [
    *(event["type"] for event in messages_events([("thinking", "a"), ("text", "b")], cut)),
    *(
        event["type"]
        for event in responses_events([("text", "b"), ("call", ("a", "b", "{}"))], cut)
    ),
    "error",
]


@pytest.mark.parametrize("route", ROUTES)
@given(
    events=st.lists(
        st.dictionaries(st.sampled_from(KEYS), JSON, max_size=5).flatmap(
            lambda event: st.sampled_from(TYPES).map(lambda kind: {"type": kind, **event})
        ),
        max_size=8,
    )
)
def test_no_event_of_any_shape_raises(route: Route, events: list[dict[str, Any]]) -> None:
    body = "".join(
        f"event: x\ndata: {json.dumps(event, default=str)}\n\n" for event in events
    ).encode(errors="replace")
    response = read_capture(captured(route, [body]))
    assert response.status == 200


@pytest.mark.parametrize("route", ROUTES)
@given(body=st.binary(max_size=200), status=st.sampled_from([200, 400, 503]))
def test_no_bytes_raise(route: Route, body: bytes, status: int) -> None:
    assert read_capture(captured(route, [body], status)).status == status


def test_the_end_of_a_stream_is_its_last_event() -> None:
    blocks: list[Block] = [("text", "event: message_stop data: [DONE]")]
    for route, events in (
        ("messages", messages_events(blocks, cut)),
        ("responses", responses_events(blocks, cut)),
        ("completions", completion_events("data: [DONE]", cut)),
    ):
        for newline in ("\n", "\r\n"):
            body = wire(events, newline)
            assert is_ended(route, body), (route, newline)  # type: ignore[arg-type]
            assert not is_ended(route, body[: len(body) // 2]), (route, newline)  # type: ignore[arg-type]
    assert not is_ended("chat", b"")


def test_a_call_without_pieces_is_an_empty_object() -> None:
    events = messages_events([("call", ("c1", "ls", ""))], cut, "tool_use")
    (call,) = read_capture(captured("messages", [wire(events)])).tool_calls
    assert call.arguments == "{}"


@pytest.mark.parametrize("route", ["messages", "responses"])
def test_two_calls_under_one_id_are_a_breach(route: Route) -> None:
    call = ("call", ("c1", "ls", "{}"))
    response = read_capture(captured(route, [wire(events_of(route, [call, call]))]))
    assert any("under one id" in breach for breach in response.protocol)


@pytest.mark.parametrize(
    ("reason", "finish"),
    [("end_turn", "stop"), ("max_tokens", "length"), ("tool_use", "tool_calls"), ("refusal",) * 2],
)
def test_stop_reasons_are_read_as_finish_reasons(reason: str, finish: str) -> None:
    events = messages_events([("text", "a")], cut, reason)
    assert read_capture(captured("messages", [wire(events)])).finish_reason == finish


def test_an_incomplete_response_ended_for_its_length() -> None:
    events = responses_events([("text", "a")], cut, "incomplete")
    assert read_capture(captured("responses", [wire(events)])).finish_reason == "length"


def test_cached_prompt_tokens_belong_to_the_prompt() -> None:
    events = messages_events([("text", "a")], cut)
    events[-2]["usage"] |= {"cache_read_input_tokens": 4, "cache_creation_input_tokens": 3}
    usage = read_capture(captured("messages", [wire(events)])).usage
    assert usage is not None
    assert (usage.prompt, usage.cached) == (16, 4)


def test_an_error_in_a_stream_is_kept() -> None:
    body = wire([{"type": "error", "error": {"type": "internal_error", "message": "boom"}}])
    for route in ("messages", "responses"):
        response = read_capture(captured(route, [body]))  # type: ignore[arg-type]
        assert response.error == {"error": {"type": "internal_error", "message": "boom"}}
        assert not response.done


@pytest.mark.parametrize("route", ["messages", "responses"])
def test_a_stream_of_many_parts_is_read_in_linear_time(route: Route) -> None:
    """Four times as many take four times as long, where quadratic reading takes sixteen."""

    def spent(parts: int) -> float:
        capture = captured(
            route, [wire(events_of(route, [("text", "a"), ("thinking", "b")] * parts))]
        )
        return min(timed(capture) for _ in range(3))

    def timed(capture: Capture) -> float:
        began = time.process_time()
        read_capture(capture)
        return time.process_time() - began

    assert spent(8_000) < 8 * spent(2_000)
