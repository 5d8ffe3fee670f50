"""The canonical session: what a recorded agent session was, whatever tool recorded it.

A session file is JSON Lines (UTF-8, split on ``\\n`` alone): per session one header, then its
messages, then its turns, in order of appearance.

    {"record":"session","schema":"draftgate.session/1","session_id":"0199…","source":{…},…}
    {"record":"message","mid":"9d3c…","role":"user",…}
    {"record":"turn","turn_id":"t0000","index":0,"added":["9d3c…"],…}
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, Literal

import msgspec

from traces.session.message import Message
from traces.session.record import Record
from traces.session.turn import Turn

SCHEMA: Literal["draftgate.session/1"] = "draftgate.session/1"

Provenance = Literal["recorded", "synthesised", "missing"]


class Source(Record, frozen=True, kw_only=True):
    """Where a session was read from. `sha256` is that of the file's bytes as stored."""

    format: str
    format_version: str | None = None
    tool: str | None = None
    tool_version: str | None = None
    file: str
    sha256: str | None = None


class Parent(Record, frozen=True, kw_only=True):
    """The session, and the call of it, that started this one."""

    session_id: str
    call_id: str | None = None


class System(Record, frozen=True, kw_only=True):
    """Identity of the prompt template: acceptance depends on it, so it is a slice of its own.

    `sha256` is that of the first system message; None where the source does not keep it, and then
    `name` (tag ``template``, else tool and version) is all there is.
    """

    sha256: str | None = None
    name: str
    provenance: Provenance


class Tool(Record, frozen=True, kw_only=True):
    """A function the model could call. `parameters` is a JSON Schema; a `freeform` tool takes text
    and is offered as a function with one string ``input``."""

    name: str
    description: str | None = None
    parameters: dict[str, Any] = msgspec.field(default_factory=lambda: {"type": "object"})
    freeform: bool = False
    provenance: Provenance = "recorded"


class Toolset(Record, frozen=True, kw_only=True):
    """The tools of a request, in order. ``synthesised``: permissive, from the calls observed."""

    provenance: Provenance
    tools: tuple[Tool, ...] = ()


class SourceWarning(Record, frozen=True, kw_only=True):
    """Something odd in the source: `row` is 1-based, None where it concerns the whole session."""

    code: str
    row: int | None = None
    detail: str = ""


class Stats(Record, frozen=True, kw_only=True):
    """Counts of one session: `unanswered` calls lack a result, `orphans` are results of no call."""

    turns: int = 0
    replayable: int = 0
    tool_calls: int = 0
    messages: int = 0
    unanswered: int = 0
    orphans: int = 0


class Header(Record, frozen=True, kw_only=True, tag_field="record", tag="session"):
    """What is known of a session as a whole: its first line in a session file."""

    schema_: Literal["draftgate.session/1"] = msgspec.field(default=SCHEMA, name="schema")
    session_id: str
    source: Source
    parent: Parent | None = None
    models: tuple[str, ...] = ()
    started_at: str | None = None
    cwd: str | None = None
    system: System
    toolsets: dict[str, Toolset] = msgspec.field(default_factory=dict)
    tags: dict[str, str] = msgspec.field(default_factory=dict)
    warnings: tuple[SourceWarning, ...] = ()
    stats: Stats = Stats()

    def session(self, messages: Mapping[str, Message], turns: Iterable[Turn]) -> "Session":
        """The session of this header."""
        known = {name: getattr(self, name) for name in Header.__struct_fields__}
        return Session(**known, messages=messages, turns=tuple(turns))


class Session(Header, frozen=True, kw_only=True, dict=True, gc=True):
    """One recorded session; `messages` and `turns` are lines of their own in the file."""

    messages: Mapping[str, Message] = msgspec.field(default_factory=dict)
    turns: tuple[Turn, ...] = ()

    @property
    def header(self) -> Header:
        """What is known of it as a whole."""
        return Header(**{name: getattr(self, name) for name in Header.__struct_fields__})

    @cached_property
    def _turn_by_id(self) -> dict[str, Turn]:
        return {turn.turn_id: turn for turn in self.turns}

    def turn(self, turn_id: str) -> Turn:
        """The turn of that name; KeyError if there is none."""
        return self._turn_by_id[turn_id]

    def prefix_ids(self, turn: Turn) -> list[str]:
        """The exact ordered prompt of `turn`, as message ids."""
        pieces: list[Sequence[str]] = [turn.added]
        size, base = turn.keep, turn.base
        while size and base is not None:
            link = self._turn_by_id[base]
            own = size - link.keep
            if own > 0:
                if own > len(link.added) and link.output is not None:
                    pieces.append((link.output,))
                pieces.append(link.added[:own])
                size = link.keep
            base = link.base
        return [mid for piece in reversed(pieces) for mid in piece]

    def prefix(self, turn: Turn) -> list[Message]:
        """The exact ordered prompt of `turn`."""
        return [self.messages[mid] for mid in self.prefix_ids(turn)]

    def output(self, turn: Turn) -> Message | None:
        """What the recorded model answered; None for a prompt-only turn."""
        return None if turn.output is None else self.messages[turn.output]

    def replayable_turns(self) -> Iterator[Turn]:
        """The turns a gate can replay, in their recorded order."""
        return (turn for turn in self.turns if turn.replayable)
