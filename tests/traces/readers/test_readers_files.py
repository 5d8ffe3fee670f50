"""Every recorded file at hand: classified, counted, sound, and imported the same way twice."""

import csv
from pathlib import Path

import msgspec
import pytest

from tests.support.sessions.invariants import check_file
from traces.importing.importer import ImportedFile, import_files
from traces.session.file import read_sessions, session_lines, write_sessions
from traces.session.session import Session
from traces.session.turn_size import TurnSizer, message_text

COUNTS = Path(__file__).parent / "session_counts.tsv"
"""Columns: file, format, sessions, turns, replayable, tool_calls, rows, checked. `checked` says
against what a file was counted by hand or by an independent program."""


def imported(path: Path) -> tuple[ImportedFile, list[Session]]:
    (file,) = import_files([path])
    return file, list(file.sessions)


def check_sizes(sessions: list[Session]) -> None:
    """Sizes of prompts, told by difference, are those of the messages they are made of."""
    sizer = TurnSizer(len)
    for session in sessions:
        for turn, prompt, _ in sizer.sizes(session):
            toolset = session.toolsets.get(turn.toolset or "")
            tools = len(msgspec.json.encode(toolset).decode()) if toolset and toolset.tools else 0
            assert prompt == tools + sum(len(message_text(m)) for m in session.prefix(turn))


def rows() -> list[dict[str, str]]:
    with COUNTS.open(newline="") as table:
        return list(csv.DictReader(table, delimiter="\t"))


@pytest.mark.parametrize("row", rows(), ids=lambda row: row["file"])
def test_counts(shared: Path, row: dict[str, str]) -> None:
    path = shared / "sessions" / row["file"]
    if not path.exists():
        pytest.skip("this recording is not at hand")
    file, sessions = imported(path)
    check_file(file, sessions)
    check_sizes(sessions)
    found = file.as_json()
    for column in ("format", "sessions", "turns", "replayable", "tool_calls", "rows"):
        assert str(found[column]) == row[column], column


def test_every_file_is_in_the_table(shared: Path) -> None:
    known = {row["file"] for row in rows()}
    folder = shared / "sessions"
    present = {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}
    assert present - known == {"SOURCES.tsv"}


def test_every_file_is_classified(shared: Path) -> None:
    files = list(import_files([shared / "sessions"]))
    assert [Path(file.file).name for file in files if file.format is None] == ["SOURCES.tsv"]


def test_import_is_deterministic_and_idempotent(shared: Path, tmp_path: Path) -> None:
    def everything() -> list[Session]:
        files = import_files([shared / "sessions"])
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
