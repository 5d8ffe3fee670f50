"""Prompts behind what an agent did to its own history: compactions, rewinds, runs in one file."""

import json
from pathlib import Path
from typing import Any

from tests.support.sessions.faults import FAULTS, asked, codes, fault, prompt
from tests.support.sessions.invariants import check_file
from tests.support.sessions.recordings import (
    claude,
    codex,
    codex_said,
    lines,
    read,
    result,
    use,
)
from traces.importing.importer import import_files


def test_pi_keeps_what_its_compaction_names(tmp_path: Path) -> None:
    _, (session,) = fault("pi-first-kept-entry-index.jsonl")
    after = ["user: SUMMARY OF OLD\n\nKEPT QUESTION", "assistant: KEPT ANSWER"]
    assert prompt(session, 2) == [*after, "user: NEW QUESTION"]
    assert session.turns[2].fidelity == "after_compaction"
    rows = (FAULTS / "pi-first-kept-entry-index.jsonl").read_bytes().splitlines()
    parsed = [json.loads(row) for row in rows]
    linked: list[dict[str, Any]] = [{**row, "id": f"e{n}"} for n, row in enumerate(parsed)]
    del linked[5]["firstKeptEntryIndex"]
    _, (session,) = read(
        tmp_path, lines(*linked[:5], {**linked[5], "firstKeptEntryId": "e3"}, *linked[6:])
    )
    assert prompt(session, 2) == [*after, "user: NEW QUESTION"]
    lost = {**linked[5], "firstKeptEntryId": "e99"}
    file, (session,) = read(tmp_path, lines(*linked[:5], lost, *linked[6:]))
    assert prompt(session, 2) == ["user: SUMMARY OF OLD\n\nNEW QUESTION"]
    assert (session.turns[2].fidelity, codes(file)) == ("lossy", ["kept_entry_not_found"])
    beyond = {**parsed[5], "firstKeptEntryIndex": 99}
    file, (session,) = read(tmp_path, lines(*parsed[:5], beyond, *parsed[6:]))
    assert (session.turns[2].fidelity, codes(file)) == ("lossy", ["kept_entry_not_found"])


def test_pi_takes_in_what_extensions_and_branches_say(tmp_path: Path) -> None:
    rows = [json.loads(row) for row in (FAULTS / "pi-first-kept-entry-index.jsonl").open()]
    added = [
        {"type": "branch_summary", "summary": "BRANCH", "fromId": "x"},
        {"type": "custom_message", "customType": "note", "content": "NOTE", "display": True},
        {"type": "custom", "customType": "state", "data": {"text": "STATE"}},
    ]
    _, (session,) = read(tmp_path, lines(*rows[:2], *added, *rows[2:3]))
    assert prompt(session, 0) == ["user: OLD QUESTION\n\nBRANCH\n\nNOTE"]


def preserved() -> list[dict[str, Any]]:
    """The rows of the recording in which Claude Code keeps messages over a compaction."""
    return [json.loads(row) for row in (FAULTS / "claude-preserved-messages.jsonl").open()]


KEPT = ["user: SUMMARY OF OLD\n\nKEPT QUESTION", "assistant: KEPT ANSWER", "user: NEW QUESTION"]


def test_claude_code_keeps_messages_over_a_compaction(tmp_path: Path) -> None:
    _, (session,) = fault("claude-preserved-messages.jsonl")
    assert prompt(session, 2) == KEPT
    assert session.turns[2].fidelity == "after_compaction"
    rows = preserved()
    del rows[4]["compactMetadata"]["preservedMessages"]
    _, (session,) = read(tmp_path, lines(*rows))
    assert prompt(session, 2) == KEPT
    rows = preserved()
    rows[4]["compactMetadata"]["preservedMessages"]["anchorUuid"] = "u1"
    _, (session,) = read(tmp_path, lines(*rows))
    assert prompt(session, 2) == KEPT
    rows = preserved()
    rows[4]["compactMetadata"]["preservedMessages"]["uuids"] = ["k1", "nowhere"]
    file, (session,) = read(tmp_path, lines(*rows))
    assert (session.turns[2].fidelity, codes(file)) == ("lossy", ["kept_message_not_found"])


def test_kept_calls_keep_their_results(tmp_path: Path) -> None:
    rows = preserved()
    asking = claude("assistant", "k2", "k1", use("c1"), message="msg_2")
    given = claude("user", "k3", "k2", result("c1", "RESULT"))
    rows[3:4] = [{**row, "sessionId": "s1"} for row in (asking, given)]
    boundary = rows[5]["compactMetadata"]
    boundary["preservedMessages"]["uuids"] = ["k1", "k2", "k3"]
    _, (session,) = read(tmp_path, lines(*rows))
    assert prompt(session, 2)[1:3] == ["assistant: ", "tool: RESULT"]


def test_the_agent_that_sums_up_is_not_replayed() -> None:
    _, (session,) = fault("claude-agent-acompact.jsonl")
    (turn,) = session.turns
    assert (turn.replayable, turn.skip_reason) == (False, "summary_prompt_not_recorded")
    assert turn.fidelity == "lossy"


def test_a_prompt_behind_a_lost_row_is_lossy(tmp_path: Path) -> None:
    asking = claude("user", "u1", "nowhere", "go")
    one = claude("assistant", "a1", "u1", "one", message="m1")
    compacted = claude("user", "u2", "b1", "Summary", isCompactSummary=True)
    boundary = {"type": "system", "subtype": "compact_boundary", "uuid": "b1", "parentUuid": None}
    two = claude("assistant", "a2", "u2", "two", message="m2")
    rows = (asking, one, {**boundary, "sessionId": "s-1"}, compacted, two)
    file, (session,) = read(tmp_path, lines(*rows))
    assert codes(file) == ["parent_not_found"]
    assert [turn.fidelity for turn in session.turns] == ["lossy", "after_compaction"]


def test_a_thread_that_was_rolled_back_goes_on_from_before(tmp_path: Path) -> None:
    _, (session,) = fault("codex-thread-rolled-back.jsonl")
    assert prompt(session, 1) == ["system: You are Codex.", "user: second wording of the request"]
    assert (session.turns[1].restart, session.turns[1].fidelity) == ("rewind", "rebuilt")

    def talk(*turns: int) -> list[str]:
        rows = [codex("session_meta", id="s"), codex_said("user", "<environment_context>x")]
        for word in "abc":
            rows += [codex_said("user", word), codex_said("assistant", word.upper())]
        rows += [codex("event_msg", type="thread_rolled_back", num_turns=n) for n in turns]
        rows += [codex_said("user", "last"), codex_said("assistant", "end")]
        _, (session,) = read(tmp_path, lines(*rows))
        return prompt(session, 3)

    begin = "user: <environment_context>x\n\n"
    assert talk(1) == [f"{begin}a", "assistant: A", "user: b", "assistant: B", "user: last"]
    assert talk(2) == talk(1, 1) == [f"{begin}a", "assistant: A", "user: last"]
    assert talk(9) == [f"{begin}last"]


def test_rolling_back_behind_a_compaction(tmp_path: Path) -> None:
    kept = {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "kept"}]}
    rows = [
        codex("session_meta", id="s", base_instructions={"text": "be brief"}),
        codex_said("user", "go"),
        codex_said("assistant", "one"),
        codex("compacted", message="", replacement_history=[kept]),
        codex_said("user", "more"),
        codex_said("assistant", "two"),
        codex("event_msg", type="thread_rolled_back", num_turns=1),
        codex_said("user", "else"),
        codex_said("assistant", "three"),
    ]
    _, (session,) = read(tmp_path, lines(*rows))
    assert prompt(session, 2) == ["system: be brief", "user: kept\n\nelse"]
    assert session.turns[2].fidelity == "after_compaction"


def test_a_compaction_of_codex_without_a_history_keeps_what_the_user_said(tmp_path: Path) -> None:
    rows = [
        codex("session_meta", id="s", base_instructions={"text": "be brief"}),
        codex_said("user", "go"),
        codex_said("assistant", "one"),
        codex("compacted", message="Summary: one"),
        codex_said("user", "more"),
        codex_said("assistant", "two"),
    ]
    _, (session,) = read(tmp_path, lines(*rows))
    assert prompt(session, 1) == ["system: be brief", "user: go\n\nSummary: one\n\nmore"]


def test_a_response_that_says_nothing_is_not_replayed(tmp_path: Path) -> None:
    _, (session,) = fault("codex-aborted-reasoning-only.jsonl")
    first, second = session.turns
    assert (first.replayable, first.skip_reason) == (False, "response_empty")
    assert second.replayable
    assert not any(words.startswith("assistant") for words in prompt(session, 1))
    signed = [{"type": "thinking", "thinking": "", "signature": "Er"}]
    rows = [
        claude("user", "u1", None, "go"),
        claude("assistant", "a1", "u1", signed, message="m1"),
        claude("user", "u2", "a1", "go on"),
        claude("assistant", "a2", "u2", "end", message="m2"),
    ]
    _, (session,) = read(tmp_path, lines(*rows))
    assert [turn.skip_reason for turn in session.turns] == ["response_empty", None]
    assert prompt(session, 1) == ["user: go\n\ngo on"]


def test_two_runs_in_one_stream_are_two_sessions() -> None:
    _, sessions = fault("gemini-stream-two-runs.jsonl")
    assert [session.session_id for session in sessions] == ["run-1", "run-2"]
    assert [prompt(session, 0) for session in sessions] == [
        ["user: task of run one"],
        ["user: task of run two"],
    ]


def test_two_sessions_in_one_stream_of_opencode(tmp_path: Path) -> None:
    def event(session: str, kind: str, **part: Any) -> dict[str, Any]:
        part = {"type": kind.replace("_", "-"), **part}
        return {"type": kind, "sessionID": session, "timestamp": 1, "part": part}

    rows = []
    for name in ("ses_1", "ses_2"):
        rows += [event(name, "step_start"), event(name, "text", text=f"answer of {name}")]
        rows += [event(name, "step_finish", reason="stop")]
    _, sessions = read(tmp_path, lines(*rows))
    assert [session.session_id for session in sessions] == ["ses_1", "ses_2"]
    assert [len(session.turns) for session in sessions] == [1, 1]


def test_output_messages_of_one_answer_are_joined(tmp_path: Path) -> None:
    _, (session,) = fault("openinference-two-output-messages.json")
    output = session.output(session.turns[0])
    assert output is not None
    assert output.text == "Checking."
    assert asked(session, 0) == [("call_1", "lookup", {"id": "A1"})]


def test_a_result_head_of_several_lines() -> None:
    _, (session,) = fault("cline-multi-line-result-head.json")
    assert session.stats.unanswered == 0
    assert prompt(session, 1)[1:] == [
        "assistant: ",
        "tool: [ask_followup_question for 'Which one?\n\n- A\n- B'] Result:\n"
        "<answer>\nA\n</answer>",
        "user: <environment_details>\nnone\n</environment_details>",
    ]


def test_what_cline_deleted_is_not_in_the_prompt(tmp_path: Path) -> None:
    history = [
        {"role": "user", "content": [{"type": "text", "text": "<task>\ngo\n</task>"}], "ts": 1},
        {"role": "assistant", "content": [{"type": "text", "text": "one"}]},
        {"role": "user", "content": [{"type": "text", "text": "LONG"}]},
        {"role": "assistant", "content": use("c1", "read_file")},
        {"role": "user", "content": result("c1", "RESULT")},
        {"role": "assistant", "content": [{"type": "text", "text": "two"}]},
    ]
    shown = [
        {"ts": 1, "type": "say", "say": "task", "text": "go", "conversationHistoryIndex": -1},
        {"ts": 2, "type": "say", "say": "text", "text": "one", "conversationHistoryIndex": 0},
        {
            "ts": 3,
            "type": "say",
            "say": "text",
            "text": "two",
            "conversationHistoryIndex": 4,
            "conversationHistoryDeletedRange": [2, 3],
        },
    ]
    (tmp_path / "api_conversation_history.json").write_text(json.dumps(history))
    (file,) = import_files([tmp_path / "api_conversation_history.json"])
    (session,) = file.sessions
    assert [words for words in prompt(session, 2) if "LONG" in words] == ["user: LONG"]
    (tmp_path / "ui_messages.json").write_text(json.dumps(shown))
    (file,) = import_files([tmp_path / "api_conversation_history.json"])
    (session,) = file.sessions
    check_file(file, [session])
    assert prompt(session, 1)[-1] == "user: LONG"
    assert prompt(session, 2) == ["user: <task>\ngo\n</task>", "assistant: one"]
    assert (session.turns[2].restart, session.turns[2].fidelity) == (
        "compaction",
        "after_compaction",
    )


def test_iflow_is_read_in_order_whatever_its_links_say(tmp_path: Path) -> None:
    def row(kind: str, uuid: str, parent: str | None, content: Any) -> dict[str, Any]:
        message = f"m-{uuid}" if kind == "assistant" else None
        return claude(kind, uuid, parent, content, message=message, sessionId="session-1")

    wrapped = {"responseParts": {"functionResponse": {"response": {"output": "a.py"}}}}
    given = [{"type": "tool_result", "tool_use_id": "c1", "content": {"callId": "c1", **wrapped}}]
    rows = [
        row("user", "u1", None, "go"),
        row("assistant", "a1", "u1", use("c1", "list_directory")),
        row("user", "r1", "u1", given),
        row("assistant", "a2", "u1", [{"type": "text", "text": "one file"}]),
    ]
    _, (session,) = read(tmp_path, lines(*rows))
    assert session.source.tool == "iFlow CLI"
    assert prompt(session, 1) == ["user: go", "assistant: ", "tool: a.py"]
