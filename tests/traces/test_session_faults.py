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
