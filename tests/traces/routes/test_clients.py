"""The official clients read the same streams and hand on the same text, calls and stop reasons."""

import json
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.clients import (
    Got,
    completion_by_openai,
    deltas_by_openai,
    read_by_anthropic,
    read_by_openai,
)
from tests.support.recorded_streams import recorded_streams
from tests.support.route_streams import Block, captured, messages_events, responses_events, wire
from tests.traces.routes.test_streams import BLOCKS, cut
from traces.routes.reading import read_capture
from traces.wire.response import Response
from traces.wire.route import Route

FINISHES = {"end_turn": "stop", "tool_use": "tool_calls", "max_tokens": "length"}

CLIENTS: dict[Route, Callable[[Sequence[bytes]], Got]] = {
    "messages": read_by_anthropic,
    "responses": read_by_openai,
    "completions": completion_by_openai,
}


def as_read(route: Route, response: Response) -> tuple[Any, ...]:
    """As `by_client`, of the reading of this project."""
    inputs = json.loads if route == "messages" else str
    calls = tuple((c.id, c.name, inputs(c.arguments)) for c in response.tool_calls)
    finish = response.finish_reason
    if route == "responses":
        # A response tells that it is complete, and leaves it to its items that there are calls.
        finish = {"tool_calls": "completed", "stop": "completed"}.get(finish or "", "incomplete")
    return response.content, response.reasoning, calls, finish


def by_client(got: Got) -> tuple[Any, ...]:
    return got.text, got.reasoning, got.calls, FINISHES.get(got.finish or "", got.finish)


def is_json(text: str) -> bool:
    try:
        json.loads(text)
    except ValueError:
        return False
    return True


def agree(route: Route, reads: Sequence[bytes]) -> None:
    response = read_capture(captured(route, reads))
    assert (response.protocol, response.malformed) == ((), ())
    if route == "messages" and not all(is_json(c.arguments) for c in response.tool_calls):
        # What the model wrote wrongly is no fault of the stream; anthropic's client raises, or
        # hands on the part that it can read.
        with suppress(ValueError):
            assert CLIENTS[route](reads).text == response.content
        return
    assert as_read(route, response) == by_client(CLIENTS[route](reads))
    if route == "responses":
        assert deltas_by_openai(reads) == response.content


def test_recorded_streams_are_read_as_by_the_clients() -> None:
    counts: dict[str, int] = {}
    for number, (route, body) in enumerate(recorded_streams()):
        counts[route] = counts.get(route, 0) + 1
        if route in CLIENTS:
            size = (1 << 30, 1, 7, 100, 4096)[number % 5]
            agree(route, [body[at : at + size] for at in range(0, len(body), size)])
    assert sum(counts.values()) >= 200
    assert set(counts) == {"chat", *CLIENTS}


@pytest.mark.parametrize("route", ["messages", "responses"])
@given(blocks=BLOCKS, size=st.integers(1, 60), newline=st.sampled_from(["\n", "\r\n"]))
@settings(max_examples=20)
def test_made_up_streams_are_read_as_by_the_clients(
    route: Route, blocks: list[Block], size: int, newline: str
) -> None:
    make = messages_events if route == "messages" else responses_events
    body = wire(make(blocks, cut), newline)
    agree(route, [body[at : at + size] for at in range(0, len(body), size)])


@pytest.mark.parametrize("route", ["messages", "responses"])
@given(blocks=BLOCKS.filter(bool), data=st.data())
@settings(max_examples=30)
def test_what_breaks_a_client_is_no_sound_stream(
    route: Route, blocks: list[Block], data: st.DataObject
) -> None:
    """An event lost, sent twice, or out of its place: where a client raises, or hands on something
    else than was meant, the reading tells."""
    make = messages_events if route == "messages" else responses_events
    events = make(blocks, cut)
    whole = CLIENTS[route]([wire(events)])
    place = data.draw(st.integers(0, len(events) - 1))
    other = data.draw(st.integers(0, len(events) - 1))
    damage = data.draw(st.sampled_from(["lost", "twice", "moved"]))
    event = events[place]
    rest = [*events[:place], *events[place + 1 :]]
    damaged = {
        "lost": rest,
        "twice": [*events[: place + 1], *events[place:]],
        "moved": [*rest[:other], event, *rest[other:]],
    }[damage]
    try:
        harmed = CLIENTS[route]([wire(damaged)]) != whole
    except Exception:
        harmed = True
    response = read_capture(captured(route, [wire(damaged)]))
    sound = read_capture(captured(route, [wire(events)]))
    noticed = (
        response.protocol
        or response.malformed
        or not response.done
        or read_or_raw(route, response) != read_or_raw(route, sound)
    )
    assert noticed or not harmed, (damage, event)


def read_or_raw(route: Route, response: Response) -> tuple[Any, ...]:
    """`as_read`, where the arguments may be no JSON."""
    try:
        return as_read(route, response)
    except ValueError:
        return (response.content, response.reasoning, response.tool_calls)
