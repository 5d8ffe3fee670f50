"""Made-up recordings that were once read wrong, in `tests/recordings/faults`, and their kinds.

What is right was written down by hand, from what the tool that records them sends.
"""

import json
from pathlib import Path
from typing import Any

from recordings import lines, read, texts
from session_invariants import check_file

from traces.importing.importer import ImportedFile, import_files
from traces.session.render import chat_request
from traces.session.session import Session

FAULTS = Path(__file__).parent.parent / "recordings" / "faults"


def fault(name: str) -> tuple[ImportedFile, list[Session]]:
    """The file of that name, imported."""
    (file,) = import_files([FAULTS / name])
    sessions = list(file.sessions)
    check_file(file, sessions)
    return file, sessions


def prompt(session: Session, turn: int) -> list[str]:
    """The prompt of a turn as roles and contents."""
    return texts(chat_request(session, session.turns[turn])["messages"])


def codes(file: ImportedFile) -> list[str]:
    """The codes of the warnings."""
    return [warning.code for warning in file.warnings]


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


def asked(session: Session, turn: int) -> list[tuple[str, str, Any]]:
    """The calls of a turn's answer: id, name, arguments."""
    output = session.output(session.turns[turn])
    assert output is not None
    return [(c.id, c.name, json.loads(c.arguments_json)) for c in output.tool_calls]


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


def test_calls_that_are_the_same_are_told_from_calls_that_read_the_same(tmp_path: Path) -> None:
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


def test_neighbouring_calls_are_joined_only_if_their_results_come_after(tmp_path: Path) -> None:
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


def test_results_without_ids_go_to_neighbouring_calls_in_order(tmp_path: Path) -> None:
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
