"""Puts a session together: messages stored once, prefixes as differences, counts kept."""

import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import msgspec
import orjson

from traces.message import Message, ToolCall
from traces.readers.intake import Intake
from traces.readers.payloads import Outcome, payloads
from traces.readers.tools import ObservedTools
from traces.session import Parent, Session, Source, SourceWarning, Stats, System, Tool, Toolset
from traces.turn import Fidelity, Restart, Turn

_UNSAFE = re.compile(r"[^\w.:@+-]+")

NO_USER = "no_user_message"
"""Chat templates refuse a conversation in which no user speaks."""


@dataclass(slots=True)
class SessionBuilder:
    """Collects one session. `session_id` None: it is derived from the content."""

    intake: Intake
    format_version: str | None = None
    tool: str | None = None
    tool_version: str | None = None
    session_id: str | None = None
    parent: Parent | None = None
    started_at: str | None = None
    cwd: str | None = None
    tags: dict[str, str] = field(default_factory=dict)
    observed: ObservedTools = field(default_factory=ObservedTools)
    unanswered: int = 0
    orphans: int = 0
    _messages: dict[str, Message] = field(default_factory=dict)
    _turns: list[dict[str, Any]] = field(default_factory=list)
    _toolsets: dict[str, Toolset] = field(default_factory=dict)
    _last: dict[str, tuple[str, list[str]]] = field(default_factory=dict)
    _warnings: list[SourceWarning] = field(default_factory=list)

    def add(self, message: Message) -> str:
        """Store a message; returns its name."""
        self._messages.setdefault(message.mid, message)
        return message.mid

    def message(self, mid: str) -> Message:
        """A stored message."""
        return self._messages[mid]

    def warn(self, code: str, row: int | None = None, detail: str = "") -> None:
        """Something odd about this session; also entered in the account of the file."""
        self._warnings.append(SourceWarning(code=code, row=row, detail=detail))
        self.intake.ledger.warn(code, row, detail)

    def toolset(self, tools: Sequence[Tool]) -> str:
        """Store tools that the source recorded; returns their name."""
        toolset = Toolset(provenance="recorded", tools=tuple(tools))
        return self._store(toolset)

    def _store(self, toolset: Toolset) -> str:
        name = hashlib.sha256(msgspec.json.encode(toolset)).hexdigest()[:12]
        self._toolsets.setdefault(name, toolset)
        return name

    @property
    def turn_count(self) -> int:
        """Turns so far."""
        return len(self._turns)

    def turn(
        self,
        prefix: Sequence[str],
        output: Message | None,
        *,
        fidelity: Fidelity,
        thread: str = "main",
        restart: Restart = "rewritten",
        outcomes: Sequence[Outcome | None] = (),
        **facts: Any,
    ) -> str:
        """Add the turn that answered `prefix` with `output`; returns its id.

        `restart` is the reason recorded if the prefix does not continue the thread's last turn;
        `facts` are further fields of `Turn`.
        """
        turn_id = f"t{len(self._turns):04d}"
        base, before = self._last.get(thread, (None, []))
        keep = _common(before, prefix)
        why: Restart | None = None
        if base is None:
            why = "copied" if restart == "copied" else "start"
        elif keep < len(before):
            why = restart
        skip_reason = facts.pop("skip_reason", None) or self._unusable(prefix)
        calls = output.tool_calls if output else ()
        arguments = [orjson.loads(call.arguments_json) for call in calls]
        diffs, commands = payloads(calls, arguments, outcomes)
        for call, names in zip(calls, arguments, strict=True):
            self.observed.add(call, names)
        self._turns.append(
            {
                "turn_id": turn_id,
                "index": len(self._turns),
                "thread": thread,
                "base": base,
                "keep": keep,
                "added": tuple(prefix[keep:]),
                "restart": why,
                "fidelity": fidelity,
                "output": None if output is None else self.add(output),
                "replayable": skip_reason is None,
                "skip_reason": skip_reason,
                "diffs": diffs,
                "shells": commands,
                **facts,
            }
        )
        own = [] if output is None else [output.mid]
        self._last[thread] = turn_id, [*prefix, *own]
        return turn_id

    def _unusable(self, prefix: Sequence[str]) -> str | None:
        if any(self._messages[mid].role == "user" for mid in prefix):
            return None
        return NO_USER

    def build(self) -> Session:
        """The finished session."""
        if any(turn.get("toolset") is None for turn in self._turns):
            name = self._store(self.observed.toolset())
            for turn in self._turns:
                turn["toolset"] = turn.get("toolset") or name
        turns = tuple(Turn(**turn) for turn in self._turns)
        calls = sum(len(self._calls(turn)) for turn in turns)
        return Session(
            session_id=self._identity(turns),
            source=self._source(),
            parent=self.parent,
            models=tuple(dict.fromkeys(turn.model for turn in turns if turn.model)),
            started_at=self.started_at,
            cwd=self.cwd,
            system=self._system(turns),
            toolsets=self._toolsets,
            tags={**self.tags, **self.intake.tags},
            warnings=tuple(self._warnings),
            stats=Stats(
                turns=len(turns),
                replayable=sum(turn.replayable for turn in turns),
                tool_calls=calls,
                messages=len(self._messages),
                unanswered=self.unanswered,
                orphans=self.orphans,
            ),
            messages=self._messages,
            turns=turns,
        )

    def _calls(self, turn: Turn) -> tuple[ToolCall, ...]:
        return self._messages[turn.output].tool_calls if turn.output else ()

    def _source(self) -> Source:
        return Source(
            format=self.intake.format,
            format_version=self.format_version,
            tool=self.tool,
            tool_version=self.tool_version,
            file=self.intake.source.name,
            sha256=self.intake.source.sha256,
        )

    def _identity(self, turns: Sequence[Turn]) -> str:
        if self.session_id:
            return _UNSAFE.sub("_", self.session_id)[:128]
        content = hashlib.sha256()
        for turn in turns:
            content.update(f"{turn.base}{turn.keep}{turn.added}{turn.output}".encode())
        return f"s-{content.hexdigest()[:16]}"

    def _system(self, turns: Sequence[Turn]) -> System:
        first = next((self._messages[mid] for turn in turns for mid in turn.added[:1]), None)
        tags = {**self.tags, **self.intake.tags}
        version = f" {self.tool_version}" if self.tool_version else ""
        name = tags.get("template") or f"{self.tool or self.intake.format}{version}"
        if first is None or first.role not in ("system", "developer"):
            return System(name=name, provenance="missing")
        digest = hashlib.sha256(first.text.encode()).hexdigest()
        return System(sha256=digest, name=name, provenance="recorded")


def _common(before: Sequence[str], now: Sequence[str]) -> int:
    """How many leading entries are equal."""
    size = len(before)
    if list(now[:size]) == before:
        return size
    for position, (left, right) in enumerate(zip(before, now, strict=False)):
        if left != right:
            return position
    return min(size, len(now))
