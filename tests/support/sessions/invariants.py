"""What must hold for every imported session, whatever it was read from."""

import json
from typing import Any

from traces.importing.importer import READER_FAILED, ImportedFile
from traces.session.render import chat_request
from traces.session.session import Session


def check_file(file: ImportedFile, sessions: list[Session]) -> None:
    """Counts agree with the sessions, and every row is used or counted with a reason."""
    assert file.counts.sessions == len(sessions)
    assert file.counts.turns == sum(len(session.turns) for session in sessions)
    assert "unaccounted" not in file.skipped
    assert READER_FAILED not in {warning.code for warning in file.warnings}
    assert sum(file.skipped.values()) <= file.ledger.rows
    assert (file.counts.replayable > 0) == (file.reason is None)
    assert len({session.session_id for session in sessions}) == len(sessions)
    for session in sessions:
        check_session(session)
        if file.format != "draftgate":  # ids in a file of draftgate's own are what the file says
            named = [turn.turn_id for turn in session.turns]
            assert named == [f"t{index:04d}" for index in range(len(named))]


def check_session(session: Session) -> None:
    """Every turn has a prefix made of stored messages, and renders to a valid request."""
    assert session.stats.turns == len(session.turns)
    assert len({turn.turn_id for turn in session.turns}) == len(session.turns)
    seen: dict[str, list[str]] = {}
    for index, turn in enumerate(session.turns):
        assert turn.index == index
        assert turn.replayable == (turn.skip_reason is None)
        prefix = session.prefix_ids(turn)
        assert all(mid in session.messages for mid in prefix)
        before = seen.get(turn.thread)
        if turn.restart is None:
            assert before is not None
            assert prefix[: len(before)] == before, "a continued turn repeats what was before it"
        elif before is not None:
            assert prefix[: len(before)] != before, "only a turn that does not continue says why"
        seen[turn.thread] = prefix + ([turn.output] if turn.output else [])
        for mid in [*prefix, *([turn.output] if turn.output else [])]:
            for call in session.messages[mid].tool_calls:
                assert isinstance(json.loads(call.arguments_json), dict)
        check_request(chat_request(session, turn), replayable=turn.replayable)


def check_request(request: dict[str, Any], *, replayable: bool) -> None:
    """Roles alternate as chat templates need them, and each call is answered once, in order."""
    messages = request["messages"]
    if replayable:
        assert any(message["role"] == "user" for message in messages)
    assert all(message["role"] != "system" for message in messages[1:])
    waiting: list[str] = []
    for position, message in enumerate(messages):
        assert isinstance(message["content"], str)
        if message["role"] == "tool":
            assert waiting, "a tool message answers a call"
            assert message["tool_call_id"] == waiting.pop(0), "answers come in call order"
            continue
        assert not waiting, "every call is answered before the next message"
        if message["role"] == "user":
            assert position == 0 or messages[position - 1]["role"] != "user"
        for call in message.get("tool_calls", ()):
            assert isinstance(json.loads(call["function"]["arguments"]), dict)
            waiting.append(call["id"])
    assert not waiting
    for tool in request.get("tools", ()):
        assert isinstance(tool["function"]["parameters"], dict)
    assert request["max_tokens"] > 0
