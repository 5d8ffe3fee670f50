"""Reading and writing canonical session files (``sessions.jsonl``)."""

import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import IO, Annotated, Any

import orjson
from pydantic import Field, TypeAdapter, ValidationError

from traces.errors import InputError
from traces.message import Message
from traces.session import SCHEMA, Session
from traces.turn import Turn

AnyRecord = Annotated[Session | Message | Turn, Field(discriminator="record")]


def session_lines(session: Session) -> Iterator[bytes]:
    """The lines of one session, each with its newline; the same session gives the same bytes."""
    yield session.model_dump_json(by_alias=True, exclude_none=True).encode() + b"\n"
    for message in session.messages.values():
        yield message.model_dump_json(exclude_none=True).encode() + b"\n"
    for turn in session.turns:
        yield turn.model_dump_json(exclude_none=True).encode() + b"\n"


def write_sessions(sessions: Iterable[Session], file: Path) -> int:
    """Write a session file, whole or not at all; returns the number of sessions."""
    partial = file.with_name(file.name + ".partial")
    count = 0
    try:
        with partial.open("wb") as out:
            for session in sessions:
                out.writelines(session_lines(session))
                count += 1
        os.replace(partial, file)
    finally:
        partial.unlink(missing_ok=True)
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
    header: dict[str, Any] | None = None
    messages: dict[str, Message] = {}
    turns: list[Turn] = []
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            record = orjson.loads(line)
            kind = record.get("record")
            if kind == "session":
                if header is not None:
                    yield _build(header, messages, turns)
                if record.get("schema") != SCHEMA:
                    raise ValueError(f"schema {record.get('schema')!r} is not {SCHEMA}")
                header, messages, turns = record, {}, []
            elif header is None:
                raise ValueError("a session header must come first")
            elif kind == "message":
                message = Message.model_validate(record)
                messages[message.mid] = message
            elif kind == "turn":
                turns.append(Turn.model_validate(record))
            else:
                raise ValueError(f"unknown record {kind!r}")
        except (ValueError, AttributeError) as error:
            raise InputError(
                f"{name}: line {number} is not a canonical session record: {_short(error)}",
                "write the file anew with `draftgate import FILES -o sessions.jsonl`",
            ) from error
    if header is not None:
        yield _build(header, messages, turns)


def _build(header: dict[str, Any], messages: dict[str, Message], turns: list[Turn]) -> Session:
    return Session.model_validate({**header, "messages": messages, "turns": tuple(turns)})


def _short(error: Exception) -> str:
    if isinstance(error, ValidationError):
        first = error.errors(include_url=False, include_input=False)[0]
        return f"{'.'.join(map(str, first['loc']))}: {first['msg']}"
    return str(error)


def json_schema() -> dict[str, Any]:
    """JSON Schema of a line of a session file."""
    return TypeAdapter(AnyRecord).json_schema(by_alias=True, mode="serialization")
