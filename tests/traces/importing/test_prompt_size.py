"""The recorded count of prompt tokens tells a prompt that was read wrong, and no other."""

import json
from pathlib import Path

import pytest

from tests.support.sessions import sized
from tests.support.sessions.at_hand import recordings
from tests.support.sessions.invariants import check_file
from tests.support.sessions.recordings import claude, lines, read
from traces.importing.importer import import_files
from traces.importing.prompt_size import LONGEST_SYSTEM
from traces.session.session import Session

DIFFERS = "prompt_size_differs"


def flagged(session: Session) -> list[int]:
    """The rows of the responses whose prompts differ in size."""
    return [warning.row or 0 for warning in session.warnings if warning.code == DIFFERS]


READ_RIGHT = {
    "pi": sized.pi(kept=True),
    "claude-code": sized.claude_code(kept=True),
    "claude-code, an agent": sized.claude_part(None)[:1],
    "codex": sized.codex_rollout(rolled_back=True),
}

READ_WRONG = {
    "pi, kept messages missed": (sized.pi(kept=False), [8]),
    "claude-code, kept messages missed": (sized.claude_code(kept=False), [8]),
    "claude-code, the conversation before missed": (sized.claude_part(None), [2]),
    "codex, a rollback missed": (sized.codex_rollout(rolled_back=False), [9]),
}


@pytest.mark.parametrize("name", READ_RIGHT)
def test_a_prompt_that_was_read_right_has_its_size(tmp_path: Path, name: str) -> None:
    file, sessions = read(tmp_path, lines(*READ_RIGHT[name]))
    check_file(file, sessions)
    assert [flagged(session) for session in sessions] == [[]] * len(sessions)
    assert "lossy" not in {turn.fidelity for session in sessions for turn in session.turns}


@pytest.mark.parametrize("name", READ_WRONG)
def test_a_prompt_that_was_read_wrong_has_not(tmp_path: Path, name: str) -> None:
    rows, wrong = READ_WRONG[name]
    file, (session,) = read(tmp_path, lines(*rows))
    check_file(file, [session])
    assert flagged(session) == wrong
    lossy = [turn for turn in session.turns if turn.fidelity == "lossy"]
    assert [turn.rows[0] for turn in lossy] == wrong
    assert all(turn.replayable for turn in lossy)


def test_messages_that_cline_deleted_show_in_its_counts(tmp_path: Path) -> None:
    path = tmp_path / "api_conversation_history.json"
    path.write_text(json.dumps(sized.cline_history()))
    (file,) = import_files([path])
    (session,) = file.sessions
    assert flagged(session) == [6]
    (tmp_path / "ui_messages.json").write_text(json.dumps(sized.cline_shown()))
    (file,) = import_files([path])
    (session,) = file.sessions
    assert flagged(session) == []


def test_a_system_prompt_that_was_not_recorded_is_allowed_for(tmp_path: Path) -> None:
    rows = [claude("user", "u1", None, "go"), claude("assistant", "a1", "u1", "one", message="m")]
    for tokens, wrong in ((LONGEST_SYSTEM, []), (2 * LONGEST_SYSTEM, [2])):
        rows[1]["message"]["usage"] = {"input_tokens": tokens, "output_tokens": 1}
        _, (session,) = read(tmp_path, lines(*rows))
        assert flagged(session) == wrong


def test_of_a_request_log_the_whole_prompt_is_known(tmp_path: Path) -> None:
    text = sized.said("LONG", 10_000)
    messages = [{"role": "system", "content": "be brief"}, {"role": "user", "content": text}]
    for tokens, wrong in ((10_010, []), (8_000, []), (4_000, [1]), (30_000, [1])):
        choice = {"message": {"content": "end"}}
        answer = {"choices": [choice], "usage": {"prompt_tokens": tokens, "completion_tokens": 1}}
        row = {"request": {"model": "m", "messages": messages}, "response": answer}
        _, (session,) = read(tmp_path, lines(row))
        assert flagged(session) == wrong, tokens


def test_other_scripts_and_images_are_longer(tmp_path: Path) -> None:
    pixel = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "aa"}}
    for content, tokens in (
        ([{"type": "text", "text": "解析器在输入提前结束时会丢失一个标记" * 1_000}], 19_000),
        ([{"type": "text", "text": "see"}, *[pixel] * 9], 14_000),
    ):
        messages = [{"role": "system", "content": "s"}, {"role": "user", "content": content}]
        choice = {"message": {"content": "end"}}
        answer = {"choices": [choice], "usage": {"prompt_tokens": tokens, "completion_tokens": 1}}
        row = {"request": {"model": "m", "messages": messages}, "response": answer}
        _, (session,) = read(tmp_path, lines(row))
        assert flagged(session) == [], tokens


def test_hidden_reasoning_may_be_sent_back(tmp_path: Path) -> None:
    rows = sized.claude_code(kept=True)[:4]
    rows[1]["message"]["usage"]["output_tokens"] += 30_000
    for back, wrong in ((0, []), (30_000, []), (60_000, [4])):
        usage = rows[3]["message"]["usage"]
        more = {**usage, "input_tokens": usage["input_tokens"] + back}
        changed = {**rows[3], "message": {**rows[3]["message"], "usage": more}}
        _, (session,) = read(tmp_path, lines(*rows[:3], changed))
        assert flagged(session) == wrong, back


def test_recorded_turns_are_hardly_ever_flagged() -> None:
    counted = wrong = 0
    for file in import_files(recordings("*/**/*")):
        for session in file.sessions:
            if file.format not in ("kimi", "opencode"):  # trimmed by the project that keeps them
                counted += sum(bool(t.usage and t.usage.prompt) for t in session.turns)
                wrong += len(flagged(session))
    assert counted > 30
    assert wrong <= 0.01 * counted
