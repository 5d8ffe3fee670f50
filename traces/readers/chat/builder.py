"""Puts a session together: messages stored once, prefixes as differences, counts kept."""

import hashlib
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import msgspec

from traces.counted import counted
from traces.readers.chat.items import Answer
from traces.readers.chat.payloads import Outcome, payloads
from traces.readers.chat.thread import Thread
from traces.readers.chat.tools import ObservedTools
from traces.readers.intake import Intake
from traces.session.message import Message, Text
from traces.session.session import (
    Parent,
    Session,
    Source,
    SourceWarning,
    Stats,
    System,
    Tool,
    Toolset,
)
from traces.session.turn import Fidelity, Restart, Turn

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
    _cut: set[str] = field(default_factory=set)
    _turns: list[Turn] = field(default_factory=list)
    _toolsets: dict[str, Toolset] = field(default_factory=dict)
    _offered: tuple[str, Toolset | None] = ("", None)
    _threads: dict[str, Thread] = field(default_factory=dict)
    _warnings: list[SourceWarning] = field(default_factory=list)

    def add(self, message: Message) -> str:
        """Store a message; returns its name. What it leaves out is reported once."""
        mid = message.mid
        if mid not in self._messages:
            self._messages[mid] = message
            content = message.content
            plain = len(content) == 1 and isinstance(content[0], Text)
            if content and not plain and (parts := message.left_out):
                self._cut.add(mid)
                self.left_out(message.rows[0] if message.rows else None, parts)
        return mid

    def add_again(self, message: Message, rows: tuple[int, ...]) -> str:
        """Store a message that other sessions may hold too, as read from `rows` for this one."""
        if message.mid not in self._messages:
            self.add(message.replaced(rows=rows))
        return message.mid

    def message(self, mid: str) -> Message:
        """A stored message."""
        return self._messages[mid]

    def warn(self, code: str, row: int | None = None, detail: str = "") -> None:
        """Something odd about this session; also entered in the account of the file."""
        self._warnings.append(SourceWarning(code=code, row=row, detail=detail))
        self.intake.ledger.warn(code, row, detail)

    def left_out(self, row: int | None, parts: int) -> None:
        """Parts of a row (messages, steps, calls) were none of the format."""
        self.warn("parts_left_out", row, counted(parts, "part"))

    def toolset(self, tools: Sequence[Tool]) -> str:
        """Store tools that the source recorded; returns their name."""
        return self.offer(Toolset(provenance="recorded", tools=tuple(tools)))

    def offer(self, toolset: Toolset) -> str:
        """Store a toolset; returns its name."""
        if toolset is self._offered[1]:
            return self._offered[0]
        name = hashlib.sha256(msgspec.json.encode(toolset)).hexdigest()[:12]
        self._offered = name, self._toolsets.setdefault(name, toolset)
        return name

    def thread(self, name: str = "main") -> Thread:
        """The thread of that name, a new one if there is none yet."""
        found = self._threads.get(name)
        if found is None:
            found = self._threads[name] = Thread(name)
        return found

    @property
    def turn_count(self) -> int:
        """Turns so far."""
        return len(self._turns)

    def turn(
        self,
        thread: Thread,
        answer: Answer,
        output: Message | None,
        *,
        fidelity: Fidelity,
        restart: Restart = "rewritten",
        outcomes: Sequence[Outcome | None] = (),
        tool_wait_ms: float | None = None,
    ) -> None:
        """Add the turn in which `answer`, whose message is `output`, answered the thread's prompt.

        Without an output it is a prompt whose answer was not recorded. `restart` is the reason
        recorded if the prompt does not continue the thread's last turn. A prompt that holds its
        own answer is ``lossy``, and so is one with a part that could not be read, whatever its
        source says of it.
        """
        index = len(self._turns)
        turn_id = f"t{index:04d}"
        skip_reason = answer.skip_reason
        if skip_reason is None and not thread.has_user(self._messages):
            skip_reason = NO_USER
        if output is not None and thread.holds_answer(output, self._messages):
            self.warn("answer_in_prompt", answer.rows[0] if answer.rows else None)
            fidelity = "lossy"
        name = None if output is None else self.add(output)
        if self._cut and not self._cut.isdisjoint((*thread.mids, name)):
            fidelity = "lossy"
        diffs, shells = payloads(answer.calls, outcomes) if answer.calls else ((), ())
        for call in answer.calls:
            self.observed.add(call)
        turn = Turn(
            turn_id=turn_id,
            index=index,
            thread=thread.name,
            base=thread.last,
            keep=thread.kept,
            added=tuple(thread.mids[thread.kept :]),
            restart=_restart_of(thread, restart),
            fidelity=fidelity,
            output=name,
            reasoning=answer.state,
            finish_reason=answer.finish_reason,
            replayable=skip_reason is None,
            skip_reason=skip_reason,
            model=answer.model,
            toolset=answer.toolset,
            sampling=answer.sampling,
            usage=answer.usage,
            times=answer.times,
            tool_wait_ms=tool_wait_ms,
            diffs=diffs,
            shells=shells,
            response_id=answer.response_id,
            rows=answer.rows,
        )
        self._turns.append(turn.replaced(**answer.facts) if answer.facts else turn)
        thread.answered(turn_id, output)

    def build(self) -> Session:
        """The finished session."""
        unnamed = [turn for turn in self._turns if turn.toolset is None]
        if unnamed:
            name = self.offer(self.observed.toolset())
            for turn in unnamed:
                # Nobody has seen these turns yet; the tools observed are known only now.
                msgspec.structs.force_setattr(turn, "toolset", name)
        turns = tuple(self._turns)
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
                tool_calls=self._calls(turns),
                messages=len(self._messages),
                unanswered=self.unanswered,
                orphans=self.orphans,
            ),
            messages=self._messages,
            turns=turns,
        )

    def _calls(self, turns: Iterable[Turn]) -> int:
        return sum(len(self._messages[turn.output].tool_calls) for turn in turns if turn.output)

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


def _restart_of(thread: Thread, reason: Restart) -> Restart | None:
    """Why a prompt does not continue the thread's last turn; `None` where it does."""
    if thread.last is None:
        return "copied" if reason == "copied" else "start"
    return reason if thread.kept < thread.size else None
