"""Reading and writing canonical session files (``sessions.jsonl``)."""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import IO

import msgspec

from traces.errors import InputError
from traces.message import Message
from traces.output import whole_file
from traces.record import json_line
from traces.session import Header, Session
from traces.turn import Turn

Line = Header | Message | Turn
_LINE = msgspec.json.Decoder(Line)


def session_lines(session: Session) -> Iterator[bytes]:
    """The lines of one session, each with its newline; the same session gives the same bytes."""
    yield json_line(session.header) + b"\n"
    for message in session.messages.values():
        yield json_line(message) + b"\n"
    for turn in session.turns:
        yield json_line(turn) + b"\n"


def write_sessions(sessions: Iterable[Session], file: Path) -> int:
    """Write a session file, whole or not at all; returns the number of sessions.

    Raises OutputError where it cannot be written.
    """
    count = 0
    with whole_file(file) as part, part.open("wb") as out:
        for session in sessions:
            out.writelines(session_lines(session))
            count += 1
    return count


def read_sessions(file: Path) -> Iterator[Session]:
    """Every session of a session file, one at a time in memory.

    Raises InputError, naming file and line, for anything that is not a canonical session.
    """
    try:
        with file.open("rb") as lines:
            yield from parse_sessions(lines, str(file))
    except OSError as error:
        raise InputError(f"{file}: {error.strerror}", "name a file that can be read") from error


def parse_sessions(lines: Iterable[bytes] | IO[bytes], name: str) -> Iterator[Session]:
    """`read_sessions` over lines already open; `name` is used in messages."""
    header: Header | None = None
    messages: dict[str, Message] = {}
    turns: list[Turn] = []
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            record = _LINE.decode(line)
            if isinstance(record, Header):
                if header is not None:
                    yield header.session(messages, turns)
                header, messages, turns = record, {}, []
            elif header is None:
                raise ValueError("a session header must come first")
            elif isinstance(record, Message):
                messages[record.mid] = record
            else:
                turns.append(record)
        except ValueError as error:
            raise InputError(
                f"{name}: line {number} is not a canonical session record: {error}",
                "write the file anew with `draftgate import FILES -o sessions.jsonl`",
            ) from error
    if header is not None:
        yield header.session(messages, turns)
