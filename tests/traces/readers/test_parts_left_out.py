"""What is lost inside a row is reported, and the prompt that misses it is not called exact."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.support.sessions.invariants import check_file
from tests.support.sessions.recordings import (
    claude,
    codex,
    codex_item,
    codex_said,
    lines,
    read,
    texts,
)
from tests.support.spellings import SPELLINGS, conversations
from traces.readers.formats.requests import batch
from traces.session.render import chat_request

BROKEN: tuple[Any, ...] = (7, "words", ["words"], {"role": "nobody", "class_": "none"})

PLACES: dict[str, Callable[[Any], list[Any]]] = {
    "chat-messages": lambda row: row["messages"],
    "swe-agent": lambda document: document["trajectory"][-1]["messages"],
    "openhands": lambda row: row["history"],
    "atif": lambda row: row["steps"],
    "adp": lambda row: row["content"],
    "request-log": lambda row: row["request"]["messages"],
    "litellm": lambda row: row["messages"],
}
"""Where a row of a format keeps what a prompt is made of."""


@pytest.mark.parametrize("broken", BROKEN, ids=str)
@pytest.mark.parametrize("name", PLACES)
def test_an_entry_that_is_none(tmp_path: Path, name: str, broken: Any) -> None:
    content = SPELLINGS[name].write(conversations(3, 1, 3)).rstrip(b"\n")
    *before, last = (json.loads(row) for row in content.split(b"\n"))
    PLACES[name](last).insert(2, broken)
    file, sessions = read(tmp_path, lines(*before, last))
    check_file(file, sessions)
    assert {w.code for w in file.warnings} == {"parts_left_out"}
    assert "1 part" in {warning.detail for warning in file.warnings}
    assert sessions[-1].turns[-1].fidelity == "lossy"


def test_calls_that_are_none(tmp_path: Path) -> None:
    said = [
        {"role": "user", "content": "go"},
        {"role": "assistant", "content": "Look.", "tool_calls": [7, None]},
        {"role": "assistant", "content": "end", "tool_calls": None},
    ]
    file, (session,) = read(tmp_path, lines({"messages": said}))
    check_file(file, [session])
    assert [(w.code, w.row, w.detail) for w in file.warnings] == [("parts_left_out", 1, "2 parts")]


def test_messages_that_are_none_in_a_bare_list(tmp_path: Path) -> None:
    said = [
        {"role": "user", "content": "go"},
        {"role": "assistant", "content": "one"},
        {"role": "critic", "content": "well"},
    ]
    file, (session,) = read(tmp_path, json.dumps([*said, *said]).encode())
    check_file(file, [session])
    assert file.skipped == {"no_message": 2}


def span(key: str, value: str) -> dict[str, Any]:
    attributes = [
        {"key": "gen_ai.operation.name", "value": {"stringValue": "chat"}},
        {"key": key, "value": {"stringValue": value}},
    ]
    return {"traceId": "t", "spanId": "1", "name": "chat", "attributes": attributes}


ASKED = "gen_ai.input.messages"
GO = json.dumps([{"role": "user", "parts": [{"type": "text", "content": "go"}]}])


def test_spans_that_are_none(tmp_path: Path) -> None:
    spans = [7, span(ASKED, GO), None]
    held = {"resourceSpans": [{"scopeSpans": [{"spans": spans}, {"spans": "cut"}]}]}
    file, sessions = read(tmp_path, json.dumps(held).encode())
    check_file(file, sessions)
    assert file.ledger.rows == 4
    assert file.skipped == {"no_span": 3}


def test_attributes_that_the_exporter_dropped(tmp_path: Path) -> None:
    whole, cut = span(ASKED, GO), {**span(ASKED, GO), "droppedAttributesCount": 3, "traceId": "u"}
    file, (first, second) = read(tmp_path, json.dumps({"spans": [whole, cut]}).encode())
    check_file(file, [first, second])
    assert (first.turns[0].fidelity, second.turns[0].fidelity) == ("exact", "lossy")
    assert [(w.code, w.row, w.detail) for w in file.warnings] == [("parts_left_out", 2, "3 parts")]


def test_an_answer_that_cannot_be_read_is_reported(tmp_path: Path) -> None:
    request = {"model": "m", "messages": [{"role": "user", "content": "go"}]}
    answer = {"choices": [{"message": {"content": "hi"}}]}
    failed = {"error": {"message": "overloaded"}}
    file, sessions = read(
        tmp_path,
        lines({"request": request, "response": answer}, {"request": request, "response": failed}),
    )
    check_file(file, sessions)
    assert [(w.code, w.row) for w in file.warnings] == [("answer_not_read", 2)]
    came = span("gen_ai.output.messages", '[{"role": "assis')
    came["attributes"].append({"key": ASKED, "value": {"stringValue": GO}})
    file, sessions = read(tmp_path, json.dumps({"spans": [came]}).encode())
    assert [(w.code, w.row) for w in file.warnings] == [("answer_not_read", 1)]


def test_batch_requests_without_an_answer_are_prompts(tmp_path: Path) -> None:
    def asked(name: str, words: str) -> dict[str, Any]:
        body = {"model": "m", "messages": [{"role": "user", "content": words}]}
        return {"custom_id": name, "method": "POST", "url": "/v1/chat/completions", "body": body}

    done = {"body": {"choices": [{"message": {"content": "hi"}}]}}
    file, sessions = read(
        tmp_path,
        lines(
            asked("1", "one"), asked("2", "two"), asked("2", "again"),
            {"custom_id": "1", "response": done}, {"custom_id": "3", "response": done},
        ),
    )  # fmt: skip
    check_file(file, sessions)
    assert file.skipped == {"answer_without_prompt": 1}
    turns = [(session, turn) for session in sessions for turn in session.turns]
    said = {
        texts(chat_request(session, turn)["messages"])[0]: turn.output is not None
        for session, turn in turns
    }
    assert said == {"user: one": True, "user: two": False, "user: again": False}


def test_of_a_batch_too_large_the_oldest_requests_are_let_go(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(batch, "MAX_BYTES", 150)
    rows = []
    for name in "abc":
        body = {"model": "m", "messages": [{"role": "user", "content": name}]}
        rows.append({"custom_id": name, "body": body})
    done = {"body": {"choices": [{"message": {"content": "hi"}}]}}
    rows += [{"custom_id": name, "response": done} for name in "abc"]
    file, sessions = read(tmp_path, lines(*rows))
    check_file(file, sessions)
    answered = {session.turns[0].rows: session.turns[0].output is not None for session in sessions}
    assert answered == {(1,): False, (5,): True, (6,): True}
    assert file.skipped == {"answer_without_prompt": 1}


def test_an_encrypted_summary_is_missed(tmp_path: Path) -> None:
    kept = {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "kept"}]}
    hidden = {"type": "compaction", "encrypted_content": "gAAAA"}
    snapshot = {"type": "ghost_snapshot", "ghost_commit": {}}
    file, (session,) = read(
        tmp_path,
        lines(
            codex("session_meta", id="s"),
            codex_said("user", "go"),
            codex_said("assistant", "one"),
            codex("compacted", message="", replacement_history=[kept, snapshot, hidden]),
            codex_item("message", role="user", content=[{"type": "input_text", "text": "more"}]),
            codex_said("assistant", "two"),
            codex("compacted", message="", replacement_history=[kept]),
            codex_said("user", "last"),
            codex_said("assistant", "three"),
        ),
    )
    check_file(file, [session])
    assert [(warning.code, warning.row) for warning in file.warnings] == [("encrypted_summary", 4)]
    assert [turn.fidelity for turn in session.turns] == ["rebuilt", "lossy", "after_compaction"]


def test_a_parent_of_the_wrong_type_is_not_the_root(tmp_path: Path) -> None:
    file, (session,) = read(
        tmp_path,
        lines(
            claude("user", "u1", None, "go"),
            claude("assistant", "a1", "u1", "one", message="m1"),
            {**claude("user", "u2", None, "more"), "parentUuid": 7},
            claude("assistant", "a2", "u2", "two", message="m2"),
        ),
    )
    check_file(file, [session])
    assert [(warning.code, warning.row) for warning in file.warnings] == [("parent_not_found", 3)]
    sent = texts(chat_request(session, session.turns[1])["messages"])
    assert sent == ["user: go", "assistant: one", "user: more"]


def test_reasons_from_the_file_are_shown_plainly(tmp_path: Path) -> None:
    odd = {"type": "\x1b[2J" + "long words " * 9_000, "sessionId": "s-1"}
    file, _ = read(
        tmp_path,
        lines(
            claude("user", "u1", None, "go"),
            claude("assistant", "a1", "u1", "one", message="m1"),
            odd,
            {"type": 7},
        ),
    )
    (long,) = file.skipped.keys() - {"no_type"}
    assert long.startswith("_2J")
    assert len(long) <= 60
    assert long.replace("_", "").isalnum()


@pytest.mark.parametrize("limit", [-1, 0, 1.5, "many"])
def test_sampling_that_no_server_takes_is_not_recorded(tmp_path: Path, limit: Any) -> None:
    row = {"messages": [{"role": "user", "content": "go"}], "model": "m", "max_tokens": limit}
    row |= {"temperature": -1, "top_p": 7, "top_k": -5, "repetition_penalty": 0, "min_p": 0.1}
    file, (session,) = read(tmp_path, lines(row))
    check_file(file, [session])
    request = chat_request(session, session.turns[0])
    assert request["max_tokens"] > 0
    assert {k: v for k, v in request.items() if k not in ("model", "messages", "max_tokens")} == {
        "min_p": 0.1
    }
