"""Every recorded file at hand: classified, counted, sound, and imported the same way twice."""

from pathlib import Path

import msgspec
import pytest

from tests.support.sessions.at_hand import MADE_UP, PECULIAR, counted, recordings, spelled
from tests.support.sessions.invariants import check_file
from tests.support.spellings import SPELLINGS
from traces.importing.importer import ImportedFile, import_files
from traces.readers.registry import READERS
from traces.session.file import read_sessions, session_lines, write_sessions
from traces.session.session import Session
from traces.session.turn_size import TurnSizer, message_text


def imported(path: Path) -> tuple[ImportedFile, list[Session]]:
    (file,) = import_files([path])
    return file, list(file.sessions)


def sound() -> list[Path]:
    """All that are counted: those with something peculiar in them have tests of their own."""
    return [path for path in recordings("*/**/*") if not set(PECULIAR) & set(path.parents)]


def check_sizes(sessions: list[Session]) -> None:
    """Sizes of prompts, stored as differences, are those of the messages they are made of."""
    sizer = TurnSizer(len)
    for session in sessions:
        for turn, prompt, _ in sizer.sizes(session):
            toolset = session.toolsets.get(turn.toolset or "")
            tools = len(msgspec.json.encode(toolset).decode()) if toolset and toolset.tools else 0
            assert prompt == tools + sum(len(message_text(m)) for m in session.prefix(turn))


@pytest.mark.parametrize(
    ("path", "row"), counted(), ids=lambda value: value.name if isinstance(value, Path) else ""
)
def test_counts(path: Path, row: dict[str, str]) -> None:
    file, sessions = imported(path)
    check_file(file, sessions)
    check_sizes(sessions)
    found = file.as_json()
    for column in ("format", "sessions", "turns", "replayable", "tool_calls", "rows"):
        assert str(found[column]) == row[column], column


def test_every_file_is_counted() -> None:
    known = {path for path, _ in counted()}
    assert [file for file in sound() if file not in known] == []


def test_every_file_is_classified() -> None:
    assert [file.file for file in import_files(sound()) if file.format is None] == []


def test_every_format_has_a_made_up_recording(tmp_path: Path) -> None:
    """In a file, or in a spelling: databases and packed columns are written when needed."""
    written = []
    for name in SPELLINGS:
        written.append(tmp_path / name)
        written[-1].write_bytes(spelled(name))
    files = import_files([*written, MADE_UP])
    assert {reader.format for reader in READERS} - {file.format for file in files} == set()


def test_import_is_deterministic_and_idempotent(tmp_path: Path) -> None:
    def everything() -> list[Session]:
        files = import_files(sound())
        return [session for file in files for session in file.sessions]

    first, second = everything(), everything()
    as_bytes = [line for session in first for line in session_lines(session)]
    assert as_bytes == [line for session in second for line in session_lines(session)]
    written = tmp_path / "sessions.jsonl"
    write_sessions(first, written)
    assert written.read_bytes() == b"".join(as_bytes)
    again, sessions = imported(written)
    assert again.format == "draftgate"
    assert [line for session in sessions for line in session_lines(session)] == as_bytes
    assert list(read_sessions(written)) == sessions
