"""The irregularities that recordings are known for, each in the smallest file that has it."""

import base64
import json
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
    result,
    texts,
    use,
)
from traces.readers.formats.claude.log import ClaudeLog
from traces.session.blobs import MAX_INLINE_TEXT, BlobStore
from traces.session.render import NO_RESULT, chat_request


def test_one_response_in_many_rows_with_results_between(tmp_path: Path) -> None:
    file, (session,) = read(
        tmp_path,
        lines(
            claude("user", "u1", None, "go"),
            claude("assistant", "a1", "u1", [{"type": "text", "text": "Look."}], message="m1"),
            claude("assistant", "a2", "a1", use("c1", command="ls"), message="m1"),
            claude("user", "r1", "a2", result("c1", "one")),
            claude("assistant", "a3", "a2", use("c2", command="pwd"), message="m1"),
            claude("user", "r2", "a3", result("c2", "two")),
            claude("assistant", "a4", "r2", [{"type": "text", "text": "Done."}], message="m2"),
        ),
    )
    check_file(file, [session])
    assert len(session.turns) == 2
    first = session.output(session.turns[0])
    assert first is not None
    assert first.text == "Look."
    assert [call.id for call in first.tool_calls] == ["c1", "c2"]
    sent = chat_request(session, session.turns[1])["messages"]
    assert texts(sent) == ["user: go", "assistant: Look.", "tool: one", "tool: two"]


def test_streaming_snapshots_of_one_response_are_not_repeated(tmp_path: Path) -> None:
    _, (session,) = read(
        tmp_path,
        lines(
            claude("user", "u1", None, "go"),
            claude("assistant", "a1", "u1", [{"type": "text", "text": "Lo"}], message="m1"),
            claude("assistant", "a2", "a1", [{"type": "text", "text": "Look."}], message="m1"),
        ),
    )
    output = session.output(session.turns[0])
    assert output is not None
    assert output.text == "Look."


def test_result_before_its_own_call(tmp_path: Path) -> None:
    file, (session,) = read(
        tmp_path,
        lines(
            claude("user", "u1", None, "go"),
            claude("assistant", "a1", "u1", use("c1"), message="m1"),
            claude("user", "r2", "a2", result("c2", "two")),
            claude("user", "r1", "a1", result("c1", "one")),
            claude("assistant", "a2", "a1", use("c2"), message="m1"),
            claude("assistant", "a3", "r2", "end", message="m2"),
        ),
    )
    check_file(file, [session])
    assert session.stats.unanswered == session.stats.orphans == 0
    sent = chat_request(session, session.turns[1])["messages"]
    assert texts(sent)[2:] == ["tool: one", "tool: two"]


def test_call_without_a_result_gets_a_marked_answer(tmp_path: Path) -> None:
    file, (session,) = read(
        tmp_path,
        lines(
            {
                "messages": [
                    {"role": "user", "content": "go"},
                    {
                        "role": "assistant",
                        "content": None,
                        "tool_calls": [
                            {"id": "a", "function": {"name": "f", "arguments": "{}"}},
                            {"id": "b", "function": {"name": "f", "arguments": ""}},
                        ],
                    },
                    {"role": "tool", "tool_call_id": "b", "content": "B"},
                    {"role": "assistant", "content": "end"},
                ]
            }
        ),
    )
    check_file(file, [session])
    assert session.stats.unanswered == 1
    sent = chat_request(session, session.turns[1])["messages"]
    assert texts(sent)[2:] == [f"tool: {NO_RESULT}", "tool: B"]


def test_results_that_are_plain_user_text(tmp_path: Path) -> None:
    rows = [
        {"role": "user", "content": [{"type": "text", "text": "<task>\ngo\n</task>"}], "ts": 1},
        {"role": "assistant", "content": use("c1", "execute_command", command="ls"), "ts": 2},
        {
            "role": "user",
            "content": [
                {"type": "text", "text": "[execute_command for 'ls'] Result:"},
                {"type": "text", "text": "a.txt"},
                {"type": "text", "text": "<environment_details>\nx\n</environment_details>"},
            ],
        },
        {"role": "assistant", "content": [{"type": "text", "text": "end"}]},
    ]
    file, (session,) = read(tmp_path, json.dumps(rows).encode())
    check_file(file, [session])
    assert file.format == "cline"
    sent = chat_request(session, session.turns[1])["messages"]
    assert [message["role"] for message in sent] == ["user", "assistant", "tool", "user"]
    assert sent[2]["content"] == "[execute_command for 'ls'] Result:\na.txt"


def test_converted_log_with_one_message_per_item(tmp_path: Path) -> None:
    said = [
        {"role": "developer", "content": "be brief"},
        {"role": "system", "content": "one"},
        {"role": "system", "content": "two"},
        {"role": "user", "content": "go"},
        {"role": "assistant", "content": [{"type": "text", "text": "Look."}]},
        {
            "role": "assistant",
            "content": [{"type": "tool_call", "id": "c1", "name": "ls", "arguments": {}}],
        },
        {"role": "tool", "content": [{"type": "tool_output", "id": "c1", "output": "a.txt"}]},
        {"role": "assistant", "content": [{"type": "text", "text": "end"}]},
    ]
    file, (session,) = read(tmp_path, json.dumps({"messages": said}).encode())
    check_file(file, [session])
    assert len(session.turns) == 2
    assert "converted_log" in {warning.code for warning in session.warnings}
    sent = chat_request(session, session.turns[1])["messages"]
    assert texts(sent) == [
        "system: be brief\n\none\n\ntwo",
        "user: go",
        "assistant: Look.",
        "tool: a.txt",
    ]


def test_free_form_input_and_list_outputs(tmp_path: Path) -> None:
    script = 'text(await tools.exec_command({"cmd": "ls"}))'
    file, (session,) = read(
        tmp_path,
        lines(
            codex("session_meta", id="s", cli_version="0.144.1"),
            codex_said("user", "go"),
            codex_item("custom_tool_call", name="exec", input=script, call_id="c1"),
            codex_item(
                "custom_tool_call_output",
                call_id="c1",
                output=[{"type": "input_text", "text": "Exit code: 3\nWall time: 0.5 seconds"}],
            ),
            codex_said("assistant", "end"),
        ),
    )
    check_file(file, [session])
    request = chat_request(session, session.turns[1])
    call = request["messages"][1]["tool_calls"][0]["function"]
    assert json.loads(call["arguments"]) == {"input": script}
    properties = request["tools"][0]["function"]["parameters"]["properties"]
    assert properties == {"input": {"type": "string"}}
    output = session.output(session.turns[0])
    assert output is not None
    assert output.tool_calls[0].arg_kind == "freeform"


def test_hidden_reasoning_is_named(tmp_path: Path) -> None:
    _, (session,) = read(
        tmp_path,
        lines(
            codex("session_meta", id="s"),
            codex_said("user", "go"),
            codex_item("reasoning", summary=[], encrypted_content="gAAAA"),
            codex_said("assistant", "end"),
        ),
    )
    assert session.turns[0].reasoning == "encrypted"
    signed = [
        {"type": "thinking", "thinking": "", "signature": "Er"},
        {"type": "text", "text": "x"},
    ]
    _, (session,) = read(
        tmp_path,
        lines(
            claude("user", "u1", None, "go"), claude("assistant", "a1", "u1", signed, message="m")
        ),
    )
    assert session.turns[0].reasoning == "empty_signed"


def test_compaction_replaces_the_history(tmp_path: Path) -> None:
    file, (session,) = read(
        tmp_path,
        lines(
            claude("user", "u1", None, "go"),
            claude("assistant", "a1", "u1", "one", message="m1"),
            {
                "type": "system",
                "subtype": "compact_boundary",
                "uuid": "b1",
                "parentUuid": None,
                "logicalParentUuid": "a1",
                "sessionId": "s-1",
            },
            claude("user", "u2", "b1", "Summary: one", isCompactSummary=True),
            claude("user", "u3", "u2", "more"),
            claude("assistant", "a2", "u3", "two", message="m2"),
        ),
    )
    check_file(file, [session])
    second = session.turns[1]
    assert (second.restart, second.fidelity) == ("compaction", "after_compaction")
    assert texts(chat_request(session, second)["messages"]) == ["user: Summary: one\n\nmore"]


def test_kimi_compaction_is_the_new_history(tmp_path: Path) -> None:
    def step(name: str, words: str) -> list[dict[str, Any]]:
        part = {"type": "content.part", "stepUuid": name, "part": {"type": "text", "text": words}}
        events = [part, {"type": "step.end", "stepUuid": name, "finishReason": "end_turn"}]
        return [{"type": "context.append_loop_event", "event": event} for event in events]

    def said(words: str) -> dict[str, Any]:
        message = {"role": "user", "content": words, "origin": {"kind": "user"}}
        return {"type": "context.append_message", "message": message}

    file, (session,) = read(
        tmp_path,
        lines(
            {"type": "config.update", "systemPrompt": "be brief"},
            said("go"),
            *step("a", "one"),
            {
                "type": "context.apply_compaction",
                "summary": "short",
                "contextSummary": "So far: one",
            },
            said("more"),
            *step("b", "two"),
        ),
    )
    check_file(file, [session])
    assert session.turns[1].restart == "compaction"
    assert texts(chat_request(session, session.turns[1])["messages"]) == [
        "system: be brief",
        "user: So far: one\n\nmore",
    ]


def test_codex_compaction_keeps_the_instructions(tmp_path: Path) -> None:
    kept = {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "kept"}]}
    file, (session,) = read(
        tmp_path,
        lines(
            codex("session_meta", id="s", base_instructions={"text": "be brief"}),
            codex_said("user", "go"),
            codex_said("assistant", "one"),
            codex("compacted", message="", replacement_history=[kept]),
            codex_said("user", "more"),
            codex_said("assistant", "two"),
        ),
    )
    check_file(file, [session])
    second = session.turns[1]
    assert second.restart == "compaction"
    assert texts(chat_request(session, second)["messages"]) == [
        "system: be brief",
        "user: kept\n\nmore",
    ]


def test_torn_glued_and_odd_lines(tmp_path: Path) -> None:
    user = claude("user", "u1", None, "a\u2028b")
    glued = lines(claude("user", "u2", "a1", "more")).rstrip(b"\n")
    glued += lines(claude("assistant", "a2", "u2", "two", message="m2")).rstrip(b"\n")
    file, (session,) = read(
        tmp_path,
        lines(
            json.dumps(user, ensure_ascii=False).encode(),
            b'{"type": "assistant", "uuid": "broken"',
            b'"only a string"',
            b"42",
            b"[1]",
            claude("assistant", "a1", "u1", "one", message="m1"),
            glued,
        )
        + b'{"type": "assistant", "uu',
    )
    check_file(file, [session])
    assert file.skipped == {"not_an_object": 3, "not_json": 1, "torn_tail": 1}
    assert ("glued_records", 7) in {(w.code, w.row) for w in file.warnings}
    assert len(session.turns) == 2
    assert chat_request(session, session.turns[0])["messages"][0]["content"] == "a\u2028b"


def test_newlines_as_they_are_inside_a_string(tmp_path: Path) -> None:
    user = lines(claude("user", "u1", "u0", "one\n\n  {two}\nthree")).replace(b"\\n", b"\n")
    file, (session,) = read(
        tmp_path,
        lines(claude("user", "u0", None, "go"))
        + b'{"torn": "by a crash\n'
        + user
        + lines(claude("assistant", "a1", "u1", "end", message="m1")),
    )
    check_file(file, [session])
    assert file.skipped == {"continues_a_row": 3, "not_json": 1}
    assert ("split_record", 3) in {(warning.code, warning.row) for warning in file.warnings}
    assert texts(chat_request(session, session.turns[0])["messages"]) == [
        "user: go\n\none\n\n  {two}\nthree"
    ]


def test_damaged_characters(tmp_path: Path) -> None:
    row = lines(claude("user", "u1", None, "PLACE")).rstrip(b"\n")
    file, (session,) = read(
        tmp_path,
        lines(
            row.replace(b"PLACE", b"bad \xff byte"),
            lines(claude("user", "u2", "u1", "PLACE")).rstrip().replace(b"PLACE", b"nul \0 byte"),
            lines(claude("user", "u3", "u2", "PLACE")).rstrip().replace(b"PLACE", b"half \\ud800"),
            lines(claude("user", "u4", "u3", "PLACE")).rstrip().replace(b"PLACE", b"raw\ttab"),
            claude("assistant", "a1", "u4", "one", message="m1"),
        ),
    )
    check_file(file, [session])
    sent = chat_request(session, session.turns[0])["messages"][0]["content"]
    assert sent == "bad \ufffd byte\n\nnul  byte\n\nhalf \ufffd\n\nraw\ttab"


def test_deep_nesting_is_a_counted_row(tmp_path: Path) -> None:
    deep = b'{"a":' * 100_000 + b"1" + b"}" * 100_000
    file, (session,) = read(
        tmp_path,
        lines(
            claude("user", "u1", None, "go"), deep, claude("assistant", "a", "u1", "x", message="m")
        ),
    )
    check_file(file, [session])
    assert file.skipped == {"too_deep": 1}


def test_circles_and_lost_parents_end(tmp_path: Path) -> None:
    file, (session,) = read(
        tmp_path,
        lines(
            claude("user", "u1", "a1", "go"),
            claude("assistant", "a1", "u1", "one", message="m1"),
            claude("user", "u2", "u2", "self"),
            claude("assistant", "a2", "nowhere", "two", message="m2"),
            claude("assistant", "a2", "a2", "three", message="m3"),
        ),
    )
    check_file(file, [session])
    assert len(session.turns) == 3
    assert "parent_not_found" in {warning.code for warning in file.warnings}


def test_formats_are_recognized_by_structure_not_by_name(tmp_path: Path) -> None:
    path = tmp_path / "rollout-claude.traj"
    content = {
        "messages": [{"role": "user", "content": "x"}, {"role": "assistant", "content": "y"}]
    }
    path.write_bytes(lines({"type": "queue-operation"}, {"note": 1}, content, content))
    file, sessions = read(tmp_path, path.read_bytes())
    assert file.format == "chat-messages"
    assert len(sessions) == 2
    assert file.skipped == {"no_messages": 2}


def test_images_and_long_texts_are_kept_beside(tmp_path: Path) -> None:
    pixel = base64.b64encode(b"\x89PNG not really").decode()
    image = {
        "type": "image",
        "source": {"type": "base64", "media_type": "image/png", "data": pixel},
    }
    long = "x" * (MAX_INLINE_TEXT + 1)
    blobs = BlobStore(tmp_path / "blobs")
    file, (session,) = read(
        tmp_path,
        lines(
            claude("user", "u1", None, [image, {"type": "text", "text": long}]),
            claude("assistant", "a1", "u1", "one", message="m1"),
        ),
        blobs=blobs,
    )
    check_file(file, [session])
    sent = chat_request(session, session.turns[0])["messages"][0]["content"]
    assert sent.startswith("[image]\nxxx")
    assert len(sent) < 3000
    stored = {path.read_bytes() for path in (tmp_path / "blobs").iterdir()}
    assert stored == {b"\x89PNG not really", long.encode()}


def test_sessions_models_and_side_threads_mixed_in_one_file(tmp_path: Path) -> None:
    file, sessions = read(
        tmp_path,
        lines(
            claude("user", "u1", None, "go"),
            claude("assistant", "a1", "u1", use("c1", "Task"), message="m1"),
            claude("user", "s1", None, "sub", isSidechain=True),
            claude("assistant", "s2", "s1", "sub done", message="m2", isSidechain=True),
            claude("user", "r1", "a1", result("c1", "sub done")),
            claude("assistant", "e1", "r1", "error", message="m3", isApiErrorMessage=True),
            claude("assistant", "a2", "e1", "end", message="m4"),
            claude("user", "o1", None, "other", sessionId="s-2"),
            claude("assistant", "o2", "o1", "reply", message="m5", sessionId="s-2"),
        ),
    )
    check_file(file, sessions)
    first, second = sessions
    assert [turn.thread for turn in first.turns] == ["main", "sidechain:s1", "main"]
    assert second.session_id == "s-2"
    assert file.skipped == {"synthetic_response": 1}
    assert texts(chat_request(first, first.turns[1])["messages"]) == ["user: sub"]
    assert texts(chat_request(first, first.turns[2])["messages"])[-1] == "tool: sub done"


def test_a_fork_repeats_the_history_of_its_parent(tmp_path: Path) -> None:
    meta = {"id": "s-2", "forked_from_id": "s-1", "cli_version": "0.98.0"}
    file, (session,) = read(
        tmp_path,
        lines(
            codex("session_meta", **meta),
            codex("session_meta", id="s-1"),
            codex_said("user", "go"),
            codex_said("assistant", "one"),
            codex("turn_context", model="m-2"),
            codex_said("user", "more"),
            codex_said("assistant", "two"),
        ),
    )
    check_file(file, [session])
    assert session.session_id == "s-2"
    assert session.parent is not None
    assert session.parent.session_id == "s-1"
    assert file.skipped == {"second_session_meta": 1}
    assert [turn.model for turn in session.turns] == [None, "m-2"]


def test_call_ids_that_come_again(tmp_path: Path) -> None:
    def asked(*ids: str) -> dict[str, Any]:
        calls = [{"id": name, "function": {"name": "f", "arguments": "{}"}} for name in ids]
        return {"role": "assistant", "content": None, "tool_calls": calls}

    def answered(name: str, words: str) -> dict[str, Any]:
        return {"role": "tool", "tool_call_id": name, "content": words}

    said = [
        {"role": "user", "content": "go"},
        asked("c", "c"),
        answered("c", "one"),
        answered("c", "two"),
        answered("c", "one too many"),
        asked("c"),
        answered("c", "three"),
        {"role": "assistant", "content": "end"},
    ]
    file, (session,) = read(tmp_path, lines({"messages": said}))
    check_file(file, [session])
    assert {warning.code for warning in session.warnings} == {"second_result_dropped"}
    sent = texts(chat_request(session, session.turns[2])["messages"])
    assert [words for words in sent if words.startswith("tool")] == [
        "tool: one",
        "tool: two",
        "tool: three",
    ]


def test_arguments_of_every_kind(tmp_path: Path) -> None:
    given = ['{"a": 1}', {"a": 1}, "", "not json", "[1]", '"{\\"a\\": 1}"']
    calls = [
        {"id": f"c{n}", "function": {"name": "f", "arguments": a}} for n, a in enumerate(given)
    ]
    row = {
        "messages": [{"role": "user", "content": "x"}, {"role": "assistant", "tool_calls": calls}]
    }
    file, (session,) = read(tmp_path, lines(row))
    check_file(file, [session])
    output = session.output(session.turns[0])
    assert output is not None
    kinds = [(call.arg_kind, json.loads(call.arguments_json)) for call in output.tool_calls]
    assert kinds == [
        ("json", {"a": 1}),
        ("json", {"a": 1}),
        ("json", {}),
        ("invalid", {"input": "not json"}),
        ("invalid", {"input": "[1]"}),
        ("json", {"a": 1}),
    ]


def test_rewinding_keeps_both_branches(tmp_path: Path) -> None:
    file, (session,) = read(
        tmp_path,
        lines(
            claude("user", "u1", None, "go"),
            claude("assistant", "a1", "u1", "one", message="m1"),
            claude("user", "u2", "a1", "left"),
            claude("assistant", "a2", "u2", "two", message="m2"),
            claude("user", "u3", "a1", "right"),
            claude("assistant", "a3", "u3", "three", message="m3"),
        ),
    )
    check_file(file, [session])
    third = session.turns[2]
    assert third.restart == "rewind"
    assert texts(chat_request(session, third)["messages"]) == [
        "user: go",
        "assistant: one",
        "user: right",
    ]


def test_arguments_nested_too_deep_do_not_cost_the_file(tmp_path: Path) -> None:
    nested: Any = 1
    for _ in range(400):
        nested = [nested]
    file, (session,) = read(
        tmp_path,
        lines(
            claude("user", "u1", None, "go"),
            claude("assistant", "a1", "u1", use("c1", deep=nested), message="m1"),
            claude("assistant", "a2", "a1", "end", message="m2"),
        ),
    )
    check_file(file, [session])
    assert len(session.turns) == 2


def test_what_no_reader_foresaw_ends_in_a_reason(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(self: ClaudeLog) -> None:
        raise TypeError("secret content")

    monkeypatch.setattr(ClaudeLog, "add_turns", broken)
    file, sessions = read(tmp_path, lines(claude("user", "u1", None, "go")))
    assert sessions == []
    assert file.reason is not None
    assert "TypeError" in file.reason
    assert "secret" not in file.reason
