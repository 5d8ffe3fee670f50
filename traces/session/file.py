"""Reading and writing canonical session files (``sessions.jsonl``)."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

import msgspec

from traces.counted import counted
from traces.errors import InputError
from traces.output import whole_file
from traces.session.flaw import flaw_of
from traces.session.message import Message
from traces.session.record import json_line
from traces.session.session import Header, Session, Stats
from traces.session.turn import Turn

Line = Header | Message | Turn
LONG_NUMBER = re.compile(rb"\d{19}")
_TWO_DIGITS = re.compile(rb"\d\d")
ANEW = "write the file anew with `draftgate import FILES -o sessions.jsonl`"
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
    for found in stretches(lines):
        for row, what in found.bad:
            raise InputError(f"{name}: line {row} is not a canonical session record: {what}", ANEW)
        if found.session is None:
            raise InputError(
                f"{name}: the session from line {found.rows[0]} on is damaged: {found.flaw}", ANEW
            )
        if found.missing:
            raise InputError(
                f"{name}: the session from line {found.rows[0]} on lacks "
                f"{counted(found.missing, 'turn')}",
                ANEW,
            )
        yield found.session


@dataclass(slots=True)
class Stretch:
    """The lines of one session, by number. `bad` are those that are no record, and why.

    `session` is what the others make, None if they do not fit together: `flaw` says what is wrong.
    `missing` turns are named by its header and are not there.
    """

    rows: list[int] = field(default_factory=list)
    bad: list[tuple[int, str]] = field(default_factory=list)
    session: Session | None = None
    missing: int = 0
    flaw: str | None = None


def stretches(lines: Iterable[bytes] | IO[bytes]) -> Iterator[Stretch]:
    """The stretches of a session file, one at a time in memory; they raise nothing."""
    found = Stretch()
    header: Header | None = None
    messages: dict[str, Message] = {}
    turns: list[Turn] = []
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            record = _decoded(line)
        except (ValueError, RecursionError) as error:
            found.bad.append((number, str(error)))
            continue
        if isinstance(record, Header):
            if found.rows or found.bad:
                yield _settled(found, header, messages, turns)
            found, header, messages, turns = Stretch([number]), record, {}, []
        elif header is None:
            found.bad.append((number, "a session header must come first"))
        else:
            found.rows.append(number)
            if isinstance(record, Message):
                messages[record.mid] = record
            else:
                turns.append(record)
    if found.rows or found.bad:
        yield _settled(found, header, messages, turns)


def has_long_number(line: bytes) -> bool:
    """Whether 19 digits stand in a row, in text or not.

    Of every ninth byte two neighbors lie inside such a row, so most lines are decided by a ninth
    of their bytes.
    """
    return bool(_TWO_DIGITS.search(line[::9]) and LONG_NUMBER.search(line))


def _decoded(line: bytes) -> Line:
    """The record of a line. Raises ValueError for one that is none or could not be written again:
    numbers of more than 64 bits, and schemas nested too deep."""
    record: Line = _LINE.decode(line)
    if not isinstance(record, Message) or has_long_number(line):
        try:
            json_line(record)
        except TypeError as error:
            raise ValueError(str(error)) from error
    return record


def _settled(
    found: Stretch, header: Header | None, messages: dict[str, Message], turns: list[Turn]
) -> Stretch:
    if header is None:
        found.flaw = "it has no header"
        return found
    session = header.session(messages, turns)
    found.flaw = flaw_of(session)
    found.missing = max(0, header.stats.turns - len(turns))
    if found.flaw is None and found.missing and not turns:
        found.flaw = "its turns are missing"
    if found.flaw is None:
        found.session = session.replaced(stats=_counted_anew(session))
    return found


def _counted_anew(session: Session) -> Stats:
    """The counts of a session as it was read, which may lack lines."""
    outputs = [session.output(turn) for turn in session.turns]
    return session.stats.replaced(
        turns=len(session.turns),
        replayable=sum(turn.replayable for turn in session.turns),
        tool_calls=sum(len(output.tool_calls) for output in outputs if output),
        messages=len(session.messages),
    )
