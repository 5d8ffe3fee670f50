"""pi (coding agent of pi-mono) session logs, versions 1 to 3.

    {"type":"session","id":"…","cwd":"…","provider":"anthropic","modelId":"…"}
    {"type":"message","message":{"role":"assistant","content":[{"type":"toolCall",…}],…}}

Version 3 is a tree by ``id`` and ``parentId``; the path to the last row is taken. A ``compaction``
row replaces what is older than its ``firstKeptEntryId``, or, in version 1, than the row number
``firstKeptEntryIndex``, counted from 0.
"""

from collections.abc import Iterator
from typing import Any, ClassVar

from traces.readers.chat.builder import SessionBuilder
from traces.readers.chat.content import content_parts
from traces.readers.chat.items import Answer, Item, Replaced, Result, Said
from traces.readers.chat.log import Log
from traces.readers.chat.shapes import integer, mapping, text, text_or_none
from traces.readers.files.sample import Sample
from traces.readers.intake import Intake
from traces.readers.reader import share
from traces.session.session import Session
from traces.session.turn import Fidelity, Times, Usage

FINISH = {"stop": "stop", "toolUse": "tool_calls", "length": "length"}
INJECTED = {"branch_summary": "summary", "custom_message": "content"}
"""Rows beside messages that reach the model as text of the user, and the key that holds it."""

ROLES = frozenset({"user", "assistant", "toolResult", "bashExecution"})


class Pi:
    """Reads one log."""

    format: ClassVar[str] = "pi"
    unsupported: ClassVar[str | None] = None
    keys: ClassVar[frozenset[str]] = frozenset({"message", "cwd"})

    def match(self, sample: Sample) -> float:
        """Rows of type ``message`` with a message in one of pi's roles, and a session row."""
        rows = sample.objects
        if not any(row.get("type") == "session" for row in rows):
            return 0.0
        fits = sum(
            row.get("type") == "session"
            or (
                row.get("type") == "message"
                and text(mapping(row.get("message")).get("role")) in ROLES
            )
            for row in rows
        )
        return share(sample, fits)

    def read(self, intake: Intake) -> Iterator[Session]:
        """The session of the file."""
        log = _PiLog(SessionBuilder(intake, tool="pi"))
        rows = list(intake.source.rows())
        path = _path([mapping(row) for _, row in rows])
        kept = []
        for number, row in rows:
            name = text(mapping(row).get("id"))
            if path is None or not name or name in path:
                kept.append((number, row))
            else:
                intake.ledger.skip(number, "abandoned_branch")
        yield from log.read(kept)


def _path(rows: list[dict[str, Any]]) -> set[str] | None:
    """Ids on the way from the last row to the root; None where rows are not linked."""
    parents = {text(row.get("id")): text(row.get("parentId")) for row in rows if "parentId" in row}
    if not parents:
        return None
    path = {text(row.get("id")) for row in rows if row.get("type") == "session"}
    place = next(reversed(parents))
    while place and place not in path:
        path.add(place)
        place = parents.get(place, "")
    return path


class _PiLog(Log):
    def __post_init__(self) -> None:
        super().__post_init__()
        self._rows: dict[str, int] = {}
        self._numbers: list[int] = []

    def take(self, number: int, row: dict[str, Any]) -> str | None:
        kind = text(row.get("type"))
        self._numbers.append(number)
        if name := text(row.get("id")):
            self._rows[name] = number
        if kind == "session":
            self.builder.session_id = text_or_none(row.get("id"))
            self.builder.cwd = text_or_none(row.get("cwd"))
            self.builder.started_at = text_or_none(row.get("timestamp"))
            version = integer(row.get("version"))
            self.builder.format_version = None if version is None else str(version)
            return None
        if kind == "compaction":
            return self._compact(number, row)
        if kind == "message":
            message = mapping(row.get("message"))
        elif kind in INJECTED:
            message = {"role": "user", "content": row.get(INJECTED[kind])}
        else:
            return kind or "no_type"
        items = self._message(number, message, text_or_none(row.get("timestamp")))
        self.transcript += items
        return None if items else "no_message"

    def _message(self, number: int, message: dict[str, Any], at: str | None) -> list[Item]:
        role = message.get("role")
        blobs = self.builder.intake.blobs
        if role == "toolResult":
            parts = content_parts(message.get("content"), blobs)
            error = message.get("isError")
            known = error if isinstance(error, bool) else None
            return [Result(text(message.get("toolCallId")), parts, (number,), known, at=at)]
        if role == "bashExecution":
            shown = f"Ran `{text(message.get('command'))}`\n{text(message.get('output'))}"
            return [Said("user", content_parts(shown, blobs), "harness", (number,))]
        if role == "user":
            return self.chat.message(message, (number,))
        if role != "assistant":
            return []
        answer = self.chat.message(message, (number,))[0]
        assert isinstance(answer, Answer)
        reason = text(message.get("stopReason"))
        answer.response_id = text_or_none(message.get("responseId"))
        answer.model = text_or_none(message.get("model"))
        answer.finish_reason = FINISH.get(reason)
        answer.times = Times(end=at) if at else None
        answer.usage = _usage(mapping(message.get("usage")))
        if reason in ("aborted", "error") and not answer.parts and not answer.calls:
            answer.skip_reason = f"response_{reason}"
        return [answer]

    def _compact(self, number: int, row: dict[str, Any]) -> str | None:
        """The summary, and what was said from the first entry on that was kept."""
        named, index = row.get("firstKeptEntryId"), integer(row.get("firstKeptEntryIndex"))
        first = self._rows.get(text(named))
        if not named and index is not None and 0 <= index < len(self._numbers):
            first = self._numbers[index]
        lost = first is None and bool(named or index is not None)
        if lost:
            self.builder.warn("kept_entry_not_found", number)
        said = (item for item in self.transcript if not isinstance(item, Replaced))
        kept = [item for item in said if first is not None and item.rows[0] >= first]
        parts = content_parts(text(row.get("summary")), self.builder.intake.blobs)
        summary = Said("user", parts, "summary", (number,))
        fidelity: Fidelity = "lossy" if lost else "after_compaction"
        self.transcript.append(Replaced([summary, *kept], fidelity=fidelity))
        return None


def _usage(usage: dict[str, Any]) -> Usage | None:
    if not usage:
        return None
    read = integer(usage.get("cacheRead"))
    prompt = [integer(usage.get("input")), read, integer(usage.get("cacheWrite"))]
    return Usage(
        prompt=sum(part for part in prompt if part is not None),
        cached=read,
        completion=integer(usage.get("output")),
    )
