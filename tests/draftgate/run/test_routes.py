"""Turns on the routes that agents use: a fault of their streams alone fails the run."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from checks.findings import (
    ARGS_NOT_JSON,
    CONTENT_DIFF,
    STREAM_NO_DONE,
    STREAM_NO_FINISH,
    STREAM_PROTOCOL,
    TOOL_CALL_LOST,
    USAGE_MISSING,
)
from draftgate.progress import SilentReporter
from draftgate.run.gate import run_gate
from draftgate.run.outcome import GateOutcome
from tests.support.paper.gate import K, paper_config, paper_paths, rows
from tests.support.paper.server import Faults
from tests.support.route_streams import Event
from traces.wire.route import Route

Rewire = Callable[[Route, list[Event]], list[Event]]


def gate(
    folder: Path,
    candidate: Faults | None = None,
    baseline: Faults | None = None,
    routes: Any = ("messages", "responses"),
) -> GateOutcome:
    with paper_paths(candidate, baseline) as servers:
        config = paper_config(folder, servers)
        run = config.run.model_copy(update={"routes": routes, "route_turns": 24})
        return run_gate(config.model_copy(update={"run": run}), SilentReporter())


def on(route: Route, edit: Callable[[list[Event]], list[Event]]) -> Rewire:
    """Edits the events of one route alone."""
    return lambda name, events: edit(events) if name == route else events


def without(kind: str, place: int = 0) -> Callable[[list[Event]], list[Event]]:
    """Loses the event of a type, by its place among those of that type."""

    def edit(events: list[Event]) -> list[Event]:
        found = [event for event in events if event["type"] == kind]
        lost = found[place] if len(found) > abs(place) - (place < 0) else None
        return [event for event in events if event is not lost]

    return edit


def test_sound_servers_pass_on_every_route(tmp_path: Path) -> None:
    outcome = gate(tmp_path)
    assert outcome.codes == {}
    assert outcome.verdict.verdict == "pass", outcome.verdict.reasons
    found = {row["route"]: row for row in rows(outcome, "from routes")}
    assert set(found) == {"chat", "messages", "responses"}
    for route in ("messages", "responses"):
        row = found[route]
        counts = {
            key: row[key] for key in ("turns", "answered", "same_prompt", "compared", "equal")
        }
        assert set(counts.values()) == {24}, counts
        assert (row["refused"], row["errors"]) == (0, 0)
    captures = rows(outcome, "select route, arm, count(*) as n from captures group by all")
    assert {(row["route"], row["arm"]) for row in captures} >= {
        ("messages", "messages"),
        ("responses", "responses"),
        ("chat", "main"),
    }


def test_the_route_is_that_of_the_recording_agent(tmp_path: Path) -> None:
    """The made-up sessions are of no agent that has a route of its own."""
    outcome = gate(tmp_path, routes="recorded")
    assert {row["route"] for row in rows(outcome, "from captures")} == {"chat"}


def cut_arguments(events: list[Event]) -> list[Event]:
    """The last piece of a call's input is lost in every account of it."""
    edited = json.loads(json.dumps(events))
    deltas = [e for e in edited if "arguments.delta" in e["type"] or "partial_json" in str(e)]
    if not deltas:
        return edited
    lost = deltas[-1]
    kept = [event for event in edited if event is not lost]
    text = "".join(e["delta"] for e in deltas[:-1] if isinstance(e["delta"], str))
    for number, event in enumerate(kept):
        if "sequence_number" in event:
            event["sequence_number"] = number
        if event["type"] == "response.function_call_arguments.done":
            event["arguments"] = text
        for item in (event.get("item"), *(event.get("response") or {}).get("output", ())):
            if item and item.get("type") == "function_call" and item.get("arguments"):
                item["arguments"] = text
    return kept


def ended_early(events: list[Event]) -> list[Event]:
    """The server gives up before the last event."""
    return events[:-1]


def lost_calls(events: list[Event]) -> list[Event]:
    """A stream of `/v1/messages` without its calls."""
    calls = {
        event["index"]
        for event in events
        if (event.get("content_block") or {}).get("type") == "tool_use"
    }
    kept = [event for event in events if event.get("index") not in calls]
    for event in kept:
        if event["type"] == "message_delta" and calls:
            event["delta"] = {**event["delta"], "stop_reason": "end_turn"}
    return kept


@pytest.mark.parametrize(
    ("route", "edit", "codes"),
    [
        ("messages", without("content_block_stop"), {STREAM_PROTOCOL}),
        ("messages", cut_arguments, {ARGS_NOT_JSON}),
        ("messages", without("content_block_delta", 1), {CONTENT_DIFF, ARGS_NOT_JSON}),
        ("messages", lost_calls, {TOOL_CALL_LOST}),
        ("messages", ended_early, {STREAM_NO_DONE}),
        ("responses", without("response.output_item.done"), {STREAM_PROTOCOL}),
        ("responses", cut_arguments, {ARGS_NOT_JSON}),
        ("responses", ended_early, {STREAM_NO_DONE, STREAM_NO_FINISH, USAGE_MISSING}),
    ],
)
def test_a_fault_of_a_route_fails_the_run(
    tmp_path: Path, route: Route, edit: Callable[[list[Event]], list[Event]], codes: set[str]
) -> None:
    outcome = gate(tmp_path, Faults(drafts=K, rewire=on(route, edit)))
    assert outcome.verdict.verdict == "fail"
    assert set(outcome.codes) <= codes
    assert outcome.codes
    errors = {row["route"]: row["errors"] for row in rows(outcome, "from routes")}
    assert errors[route] > 0
    assert sum(errors.values()) == errors[route]


def test_a_flaw_of_both_servers_fails_no_run(tmp_path: Path) -> None:
    flawed = on("messages", without("content_block_stop"))
    outcome = gate(tmp_path, Faults(drafts=K, rewire=flawed), Faults(rewire=flawed))
    assert outcome.verdict.verdict == "pass", outcome.verdict.reasons
    found = rows(outcome, "select distinct code, severity, baseline_too from findings")
    assert {row["code"] for row in found} == {STREAM_PROTOCOL}
    assert all(row["baseline_too"] for row in found)


def test_a_flaw_that_the_baseline_shows_in_other_turns_fails_no_run(tmp_path: Path) -> None:
    """The candidate's gateway strays in every turn, the baseline's in some: nothing tells that
    speculation did it."""
    seen: list[int] = []

    def now_and_then(events: list[Event]) -> list[Event]:
        seen.append(1)
        return without("content_block_stop")(events) if len(seen) % 3 else events

    candidate = Faults(drafts=K, rewire=on("messages", without("content_block_stop")))
    outcome = gate(tmp_path, candidate, Faults(rewire=on("messages", now_and_then)))
    assert outcome.verdict.verdict == "pass", outcome.verdict.reasons


def test_servers_without_a_route_are_named(tmp_path: Path) -> None:
    bare = Faults(drafts=K, routes=("responses",)), Faults(routes=("responses",))
    outcome = gate(tmp_path, *bare)
    assert outcome.verdict.verdict == "pass", outcome.verdict.reasons
    (notes,) = rows(outcome, "select notes from runs")
    said = "both servers refuse 24 of 24 turns on /v1/messages"
    assert any(said in note for note in notes["notes"])


def test_a_route_that_the_candidate_alone_lacks_fails_the_run(tmp_path: Path) -> None:
    outcome = gate(tmp_path, Faults(drafts=K, routes=("responses",)))
    assert outcome.verdict.verdict == "fail"
    assert set(outcome.codes) == {"HTTP_STATUS_MISMATCH"}


def broken_json(tail: str) -> Callable[[list[Event]], list[Event]]:
    """A model that writes what is no JSON, and a parser that ends it in a way of its own."""

    def edit(events: list[Event]) -> list[Event]:
        edited: list[Event] = json.loads(json.dumps(events))
        deltas = [e for e in edited if "partial_json" in str(e.get("delta"))]
        for event in deltas[-1:]:
            event["delta"]["partial_json"] += tail
        return edited

    return edit


@pytest.mark.parametrize(("baseline", "fails"), [("]", False), ("", True)])
def test_arguments_that_the_model_wrote_wrongly_fail_no_run(
    tmp_path: Path, baseline: str, fails: bool
) -> None:
    """Where the stream is cut decides how a parser ends such arguments. Where the baseline's are
    JSON, the candidate's must be."""
    candidate = Faults(drafts=K, rewire=on("messages", broken_json('":]')))
    outcome = gate(tmp_path, candidate, Faults(rewire=on("messages", broken_json(baseline))))
    assert (outcome.verdict.verdict == "fail") is fails
