"""Made-up recordings that were once read wrong, in `tests/recordings/faults`, and their kinds.

What is right was written down by hand, from what the tool that records them sends.
"""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.support.sessions.faults import FAULTS, asked, codes, fault, prompt
from tests.support.sessions.invariants import check_file
from tests.support.sessions.recordings import (
    claude,
    codex,
    codex_item,
    codex_said,
    lines,
    read,
)
from traces.importing.importer import import_files

SYSTEM_AND_TASK = ["system: You fix code.", "user: Fix the bug in calc.py"]


def test_messages_of_a_step_are_cut_at_its_own_answer() -> None:
    file, (session,) = fault("swe-agent-step-messages.traj")
    assert prompt(session, 0) == SYSTEM_AND_TASK
    assert prompt(session, 1) == [
        *SYSTEM_AND_TASK,
        "assistant: I look at the file.",
        "tool: OBSERVATION:\nx = 1",
    ]
    assert [turn.fidelity for turn in session.turns] == ["exact", "exact"]
    assert codes(file) == []


def test_a_last_step_without_its_own_answer_is_not_cut(tmp_path: Path) -> None:
    document = json.loads((FAULTS / "swe-agent-step-messages.traj").read_text())
    first, last = document["trajectory"]
    last |= {"action": first["action"], "response": first["response"]}
    last |= {"thought": first["thought"], "messages": first["messages"]}
    del document["history"]
    _, (session,) = read(tmp_path, json.dumps(document).encode())
    assert prompt(session, 1)[2:] == [
        "assistant: I look at the file.",
        "tool: OBSERVATION:\nx = 1",
    ]
    assert [turn.fidelity for turn in session.turns] == ["exact", "exact"]


def test_a_step_that_repeats_the_response_before_it_is_cut_at_the_second(tmp_path: Path) -> None:
    said = [{"role": "system", "content": "s"}, {"role": "user", "content": "go"}]
    steps = []
    for place in range(3):
        answer = {"role": "assistant", "content": "Again.", "action": "ls", "agent": "main"}
        said = [*said, answer, {"role": "user", "content": f"result {place}", "agent": "main"}]
        steps.append({"action": "ls", "observation": "", "response": "Again.", "messages": said})
    _, (session,) = read(tmp_path, json.dumps({"trajectory": steps}).encode())
    assert [len(prompt(session, turn)) for turn in range(3)] == [2, 4, 6]
    assert prompt(session, 2)[-1] == "user: result 1"
    assert [turn.fidelity for turn in session.turns] == ["exact"] * 3


def test_old_results_are_those_of_the_request_not_of_the_history_after_it(tmp_path: Path) -> None:
    def history(*results: str) -> list[dict[str, Any]]:
        said = [{"role": "user", "content": "go"}]
        for place, shown in enumerate(results):
            said.append({"role": "assistant", "content": f"Step {place}.", "agent": "main"})
            said.append({"role": "user", "content": shown, "agent": "main"})
        return said

    after = [history("one"), history("one", "two"), history("(elided)", "two", "three")]
    steps = [
        {"action": "", "observation": "", "response": f"Step {place}.", "messages": messages}
        for place, messages in enumerate(after)
    ]
    _, (session,) = read(tmp_path, json.dumps({"trajectory": steps}).encode())
    assert prompt(session, 2) == [
        "user: go",
        "assistant: Step 0.",
        "user: one",
        "assistant: Step 1.",
        "user: two",
    ]


ASK = {"id": "c1", "type": "function", "function": {"name": "ls", "arguments": "{}"}}
ANSWER = {"role": "assistant", "content": "Look.", "tool_calls": [ASK]}
RESULT = {"role": "tool", "tool_call_id": "c1", "content": "a.py"}
ASKED = {"role": "user", "content": "go"}


def exchange(*messages: dict[str, Any]) -> bytes:
    """A request log of one exchange: those messages were sent, and `ANSWER` came."""
    answer = {"choices": [{"message": ANSWER}]}
    return lines({"request": {"model": "m", "messages": messages}, "response": answer})


def test_a_prompt_that_holds_its_answer_is_lossy_in_any_format(tmp_path: Path) -> None:
    file, (session,) = read(tmp_path, exchange(ASKED, ANSWER, RESULT))
    assert (session.turns[0].fidelity, codes(file)) == ("lossy", ["answer_in_prompt"])
    file, (session,) = read(tmp_path, exchange(ASKED, RESULT))
    assert (session.turns[0].fidelity, codes(file)) == ("lossy", ["answer_in_prompt"])
    file, (session,) = read(tmp_path, exchange(ASKED))
    assert (session.turns[0].fidelity, codes(file)) == ("exact", [])


def test_a_model_that_repeats_itself_is_no_fault(tmp_path: Path) -> None:
    said = [ASKED, ANSWER, RESULT, ANSWER, RESULT, ANSWER]
    file, (session,) = read(tmp_path, lines({"messages": said}))
    assert [turn.fidelity for turn in session.turns] == ["exact"] * 3
    assert codes(file) == []


def test_a_call_in_a_part_and_beside_the_content_is_one_call() -> None:
    _, (session,) = fault("converted-log-calls-doubled.json")
    assert asked(session, 0) == [("call_1", "Read", {"path": "a.py"})]
    assert session.stats.tool_calls == 1
    assert prompt(session, 1) == ["user: Read a.py", "assistant: ", "tool: x = 1"]


def test_parallel_calls_written_as_messages_of_their_own_are_one_response() -> None:
    _, (session,) = fault("converted-log-parallel-calls.json")
    assert asked(session, 0) == [
        ("c1", "Read", {"path": "c1.py"}),
        ("c2", "Read", {"path": "c2.py"}),
    ]
    assert prompt(session, 1) == [
        "user: Read both files",
        "assistant: ",
        "tool: text of c1",
        "tool: text of c2",
    ]
    assert [turn.fidelity for turn in session.turns] == ["rebuilt", "rebuilt"]


def call(name: str | None, **arguments: str) -> dict[str, Any]:
    """A call in the form of chat completions."""
    function = {"name": "Read", "arguments": json.dumps(arguments)}
    return {"function": function} if name is None else {"id": name, "function": function}


def shown(name: str | None, words: str) -> dict[str, Any]:
    """A tool message."""
    return {"role": "tool", "tool_call_id": name, "content": words}


def test_calls_that_are_the_same_are_distinguished_from_calls_that_read_the_same(
    tmp_path: Path,
) -> None:
    block = {"type": "tool_use", "id": "c1", "name": "Read", "input": {"path": "a"}}
    unnamed = {"type": "tool_call", "name": "Read", "arguments": {"path": "a"}}
    empty = {**block, "input": {}}
    given = {
        "both places": ([block], [call("c1", path="a")], 1),
        "content without arguments": ([empty], [call("c1", path="a")], 1),
        "a part without an id": ([unnamed], [call("c1", path="a")], 1),
        "another call with the same arguments": ([block], [call("c2", path="a")], 2),
        "one of two": ([block], [call("c1", path="a"), call("c2", path="b")], 2),
        "one id twice beside the content": ([], [call("c", path="a"), call("c", path="b")], 2),
    }
    for name, (content, calls, number) in given.items():
        said = [ASKED, {"role": "assistant", "content": content, "tool_calls": calls}]
        _, (session,) = read(tmp_path, lines({"messages": said}))
        assert len(asked(session, 0)) == number, name
        assert asked(session, 0)[0][2] == {"path": "a"}, name


def test_neighboring_calls_are_joined_only_if_their_results_come_after(tmp_path: Path) -> None:
    one = {"role": "assistant", "content": "One.", "tool_calls": [call("c1", path="a")]}
    two = {"role": "assistant", "content": "Two.", "tool_calls": [call("c2", path="b")]}
    end = {"role": "assistant", "content": "end"}
    together = [ASKED, one, two, shown("c1", "A"), shown("c2", "B"), end]
    _, (session,) = read(tmp_path, lines({"messages": together}))
    assert prompt(session, 1) == ["user: go", "assistant: One.\nTwo.", "tool: A", "tool: B"]
    assert session.turns[1].fidelity == "rebuilt"
    apart = [ASKED, one, shown("c1", "A"), two, shown("c2", "B"), end]
    _, (session,) = read(tmp_path, lines({"messages": apart}))
    assert len(session.turns) == 3
    assert session.turns[2].fidelity == "exact"


def test_results_without_ids_go_to_neighboring_calls_in_order(tmp_path: Path) -> None:
    def said(role: str, value: str) -> dict[str, str]:
        return {"from": role, "value": value}

    asking = [said("function_call", json.dumps({"name": n, "arguments": {}})) for n in ("a", "b")]
    given = [said("observation", "A"), said("observation", "B")]
    row = {"conversations": [said("human", "go"), *asking, *given, said("gpt", "end")]}
    _, (session,) = read(tmp_path, lines(row))
    assert prompt(session, 1) == ["user: go", "assistant: ", "tool: A", "tool: B"]
    assert [name for _, name, _ in asked(session, 0)] == ["a", "b"]
    assert session.stats.orphans == 0


def test_a_tool_message_can_hold_the_results_of_several_calls(tmp_path: Path) -> None:
    results = [{"type": "tool_output", "id": name, "output": name.upper()} for name in ("c1", "c2")]
    both = {"role": "assistant", "content": "", "tool_calls": [call("c1"), call("c2")]}
    said = [
        ASKED,
        both,
        {"role": "tool", "content": results},
        {"role": "assistant", "content": "."},
    ]
    _, (session,) = read(tmp_path, lines({"messages": said}))
    assert prompt(session, 1) == ["user: go", "assistant: ", "tool: C1", "tool: C2"]


def test_a_result_from_after_the_next_response_was_not_in_its_prompt_as_logged(
    tmp_path: Path,
) -> None:
    one = {"role": "assistant", "content": "One.", "tool_calls": [call("c1", path="a")]}
    said = [ASKED, one, {"role": "user", "content": "and?"}, {"role": "assistant", "content": "?"}]
    file, (session,) = read(tmp_path, lines({"messages": [*said, shown("c1", "A")]}))
    assert [turn.fidelity for turn in session.turns] == ["exact", "rebuilt"]
    assert codes(file) == ["result_after_response"]


@pytest.mark.parametrize(
    "row",
    [
        {"role": "assistant", "text": "I added it."},
        {"type": "message", "role": "user", "text": "Add it"},
        {"ts": 1, "type": "say", "say": "text", "text": "I add it."},
        {"session_id": "s", "ts": 1, "text": "Add it"},
        {"sessionID": "ses_1", "messageID": "msg_1", "type": "text", "text": "Add it"},
        {"event.name": "user_prompt", "prompt": "Add it", "session.id": "s"},
        {"eventId": "e1", "prompt": "Add it"},
        {"trace_id": "t", "span_id": "s", "attributes": {}, "prompt": "Add it"},
        {"uuid": "u1", "parentUuid": None, "text": "Add it"},
        {"turns": [{"role": "assistant", "content": "I add it."}]},
    ],
    ids=",".join,
)
def test_rows_of_a_recording_are_no_prompts(tmp_path: Path, row: dict[str, Any]) -> None:
    file, sessions = read(tmp_path, lines(row, row))
    assert sessions == []
    assert file.format != "prompts"
    plain = {"prompt": "Add a login page"}
    file, sessions = read(tmp_path, lines(*[plain] * 9, row), format="prompts")
    assert len(sessions) == 9
    assert file.skipped == {"no_prompt": 1}


@pytest.mark.parametrize(
    ("row", "prompt_is"),
    [
        ({"question_id": 1, "category": "coding", "turns": ["One", "Two"]}, "One"),
        ({"turns": [{"role": "user", "content": "One"}]}, "One"),
        ({"prompt": "One", "type": "math", "time": 3}, "One"),
        ({"task_id": "HumanEval/0", "prompt": "def f():", "test": "assert f()"}, "def f():"),
        ({"id": "a", "text": "One"}, "One"),
        ({"instruction": "Add", "input": "1 and 2", "output": "3"}, "Add\n\n1 and 2"),
        ({"instruction": "Add", "input": ""}, "Add"),
        ({"role": "user", "prompt": "One"}, "One"),
    ],
    ids=str,
)
def test_rows_of_data_sets_are_prompts(tmp_path: Path, row: dict[str, Any], prompt_is: str) -> None:
    file, (session, _) = read(tmp_path, lines(row, row))
    assert file.format == "prompts"
    assert prompt(session, 0) == [f"user: {prompt_is}"]


def test_what_holds_text_but_no_prompts_says_what_to_do() -> None:
    file, sessions = fault("rows-with-role-and-text.jsonl")
    assert (file.format, sessions) == (None, [])
    file, sessions = fault("cline-ui_messages.json")
    assert (file.format, sessions) == ("cline-ui-log", [])
    assert "api_conversation_history.json" in str(file.reason)
    file, sessions = fault("batch-results-alone.jsonl")
    assert sessions == []
    assert "answers of a batch without their requests" in str(file.reason)
    assert "into one file" in str(file.fix)


def test_a_tree_of_files_is_one_session(tmp_path: Path) -> None:
    _, (session,) = fault("opencode-storage")
    assert (session.session_id, session.source.tool_version) == ("ses_1", "1.0.0")
    assert prompt(session, 0) == ["user: list files"]
    output = session.output(session.turns[0])
    assert output is not None
    assert output.text == "There is one file."
    folder = tmp_path / "old" / "storage" / "session"
    pieces = FAULTS / "opencode-storage" / "storage"
    for source, place in {
        "session/proj/ses_1.json": "info/ses_1.json",
        "message/ses_1/msg_1.json": "message/ses_1/msg_1.json",
        "message/ses_1/msg_2.json": "message/ses_1/msg_2.json",
        "part/msg_1/prt_1.json": "part/ses_1/msg_1/prt_1.json",
        "part/msg_2/prt_3.json": "part/ses_1/msg_2/prt_3.json",
    }.items():
        (folder / place).parent.mkdir(parents=True, exist_ok=True)
        (folder / place).write_bytes((pieces / source).read_bytes())
    (file,) = import_files([tmp_path])
    (older,) = file.sessions
    assert prompt(older, 0) == ["user: list files"]


def test_a_piece_of_a_tree_without_its_session_is_reported(tmp_path: Path) -> None:
    pieces = FAULTS / "opencode-storage" / "storage"
    shutil.copytree(pieces / "part", tmp_path / "storage" / "part")
    files = list(import_files([tmp_path]))
    assert [file.format for file in files] == ["opencode-piece"] * 4
    assert all("storage/session" in str(file.drain().reason) for file in files)


def test_a_broken_file_of_a_tree_is_reported(tmp_path: Path) -> None:
    shutil.copytree(FAULTS / "opencode-storage", tmp_path / "tree")
    (tmp_path / "tree/storage/part/msg_1/prt_1.json").write_bytes(b"{")
    (file,) = import_files([tmp_path])
    sessions = list(file.sessions)
    check_file(file, sessions)
    assert codes(file) == ["parts_left_out"]
    assert [turn.fidelity for s in sessions for turn in s.turns] in ([], ["lossy"])


def test_batches_of_both_apis_are_paired(tmp_path: Path) -> None:
    body = {"model": "m", "max_tokens": 9, "messages": [ASKED]}
    message = {"role": "assistant", "content": [{"type": "text", "text": "Seven."}]}
    result = {"type": "succeeded", "message": message}
    asking, answering = {"custom_id": "q", "params": body}, {"custom_id": "q", "result": result}
    file, (session,) = read(tmp_path, lines(asking, answering))
    check_file(file, [session])
    output = session.output(session.turns[0])
    assert output is not None
    assert (prompt(session, 0), output.text) == (["user: go"], "Seven.")
    file, sessions = read(tmp_path, lines(answering))
    assert sessions == []
    assert "without their requests" in str(file.reason)


def test_text_in_value_is_text() -> None:
    file, (session,) = fault("parts-with-value.jsonl")
    asking = ["system: You are a helper.", "user: Weather in Oslo?"]
    assert prompt(session, 0) == asking
    assert prompt(session, 1) == [*asking, "assistant: ", 'tool: {"t": 3}']
    ((_, name, arguments),) = asked(session, 0)
    assert (name, arguments) == ("weather", {"city": "Oslo"})
    last, first = session.output(session.turns[1]), session.output(session.turns[0])
    assert first is not None
    assert last is not None
    assert last.text == "Three degrees."
    assert (session.turns[0].reasoning, first.reasoning) == ("visible", "I need the tool.")
    assert [turn.fidelity for turn in session.turns] == ["exact", "exact"]
    assert codes(file) == []


PARTS_WITH_TEXT: list[dict[str, Any]] = [
    {"type": "text", "text": "hello"},
    {"type": "text", "value": "hello"},
    {"type": "text", "content": "hello"},
    {"type": "text", "text": {"value": "hello", "annotations": []}},
    {"type": "input_text", "text": "hello"},
    {"type": "refusal", "refusal": "hello"},
    {"text": "hello"},
]


@pytest.mark.parametrize("part", PARTS_WITH_TEXT, ids=str)
def test_text_parts_of_every_dialect(tmp_path: Path, part: dict[str, Any]) -> None:
    said = [{"role": "user", "content": [part]}, {"role": "assistant", "content": "end"}]
    file, (session,) = read(tmp_path, lines({"messages": said}))
    assert prompt(session, 0) == ["user: hello"]
    assert (session.turns[0].fidelity, codes(file)) == ("exact", [])


NOT_UNDERSTOOD: list[dict[str, Any]] = [
    {"role": "user", "content": [{"type": "text", "words": "hello"}]},
    {"role": "user", "content": [{"type": "hologram", "data": "hello"}]},
    {"role": "user", "body": "hello"},
    {"role": "assistant", "body": "hello"},
    {"role": "assistant", "content": [{"type": "reasoning", "body": ["hello"]}]},
    {"role": "assistant", "content": [{"type": "tool_call", "call": "hello"}]},
    {"role": "assistant", "content": "", "tool_calls": [{"id": "c1", "call": "hello"}]},
    {"role": "tool", "body": "hello"},
]


@pytest.mark.parametrize("message", NOT_UNDERSTOOD, ids=str)
def test_what_is_not_understood_is_left_out_and_reported(
    tmp_path: Path, message: dict[str, Any]
) -> None:
    end = {"role": "assistant", "content": "end"}
    file, (session,) = read(tmp_path, lines({"messages": [ASKED, message, ASKED, end]}))
    check_file(file, [session])
    assert session.turns[-1].fidelity == "lossy"
    assert codes(file).count("parts_left_out") == 1
    answer = {"choices": [{"message": end}]}
    request = {"model": "m", "messages": [ASKED, message, ASKED]}
    file, (session,) = read(tmp_path, lines({"request": request, "response": answer}))
    assert (session.turns[0].fidelity, codes(file)) == ("lossy", ["parts_left_out"])


NOTHING_TO_UNDERSTAND: list[dict[str, Any]] = [
    {"role": "user", "content": ""},
    {"role": "user", "content": [{"type": "text", "text": ""}]},
    {"role": "assistant", "content": None, "tool_calls": []},
    {"role": "assistant", "content": [{"type": "thinking", "thinking": "", "signature": "Er"}]},
    {"role": "assistant", "content": [{"type": "reasoning", "summary": []}]},
    {"role": "assistant", "content": [{"type": "redacted_thinking", "data": "x"}]},
    {"role": "assistant", "content": [{"type": "fallback", "from": {"model": "a"}}]},
    {"role": "tool", "tool_call_id": "c", "content": ""},
]


@pytest.mark.parametrize("message", NOTHING_TO_UNDERSTAND, ids=str)
def test_what_says_nothing_is_not_left_out(tmp_path: Path, message: dict[str, Any]) -> None:
    end = {"role": "assistant", "content": "end"}
    file, (session,) = read(tmp_path, lines({"messages": [ASKED, message, ASKED, end]}))
    assert "parts_left_out" not in codes(file)
    assert session.turns[-1].fidelity == "exact"


def test_parts_that_are_not_understood_in_agents_logs(tmp_path: Path) -> None:
    odd = [{"type": "hologram", "data": "hello"}]
    asking = claude("user", "u1", None, [{"type": "text", "text": "go"}, *odd])
    answer = claude("assistant", "a1", "u1", "one", message="m1")
    file, (session,) = read(tmp_path, lines(asking, answer))
    assert (session.turns[0].fidelity, codes(file)) == ("lossy", ["parts_left_out"])
    item = codex_item("hologram", data="hello")
    meta, one = codex("session_meta", id="s"), codex_said("assistant", "one")
    file, (session,) = read(tmp_path, lines(meta, codex_said("user", "go"), item, one))
    assert (session.turns[0].fidelity, codes(file)) == ("lossy", ["parts_left_out"])
    written = codex_item("agent_message", content=[{"type": "input_text", "text": "done"}])
    file, (session,) = read(tmp_path, lines(meta, codex_said("user", "go"), written, one))
    assert prompt(session, 0) == ["user: go\n\ndone"]
    assert (session.turns[0].fidelity, codes(file)) == ("rebuilt", [])


def test_results_of_trials_say_where_the_conversation_is(tmp_path: Path) -> None:
    harbor = {"trial_name": "a__1", "task_name": "a", "agent_result": {}, "verifier_result": {}}
    bench = {"results": [{"task_id": "a", "is_resolved": True}], "accuracy": 1.0}
    for document in (harbor, bench):
        file, sessions = read(tmp_path, json.dumps(document).encode())
        assert (file.format, sessions) == ("trial-result", [])
        assert "trajectory.json" in str(file.reason)
