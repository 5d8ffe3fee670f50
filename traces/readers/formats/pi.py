"""pi (coding agent of pi-mono) session logs, versions 1 to 3.

    {"type":"session","id":"…","cwd":"…","provider":"anthropic","modelId":"…"}
    {"type":"message","message":{"role":"assistant","content":[{"type":"toolCall",…}],…}}

Version 3 is a tree by ``id`` and ``parentId``; the path to the last row is taken. A ``compaction``
row replaces what is older than its ``firstKeptEntryId``.
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
from traces.session.turn import Times, Usage

FINISH = {"stop": "stop", "toolUse": "tool_calls", "length": "length"}
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
        self._ids: list[tuple[str, Item]] = []

    def take(self, number: int, row: dict[str, Any]) -> str | None:
        kind = text(row.get("type"))
        if kind == "session":
            self.builder.session_id = text_or_none(row.get("id"))
            self.builder.cwd = text_or_none(row.get("cwd"))
            self.builder.started_at = text_or_none(row.get("timestamp"))
            version = integer(row.get("version"))
            self.builder.format_version = None if version is None else str(version)
            return None
        if kind == "compaction":
            return self._compact(number, row)
        if kind != "message":
            return kind or "no_type"
        message = mapping(row.get("message"))
        items = self._message(number, message, text_or_none(row.get("timestamp")))
        self._ids += [(text(row.get("id")), item) for item in items]
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
        first = text(row.get("firstKeptEntryId"))
        places = [place for place, (entry, _) in enumerate(self._ids) if entry == first and first]
        kept = [item for _, item in self._ids[places[0] :]] if places else []
        parts = content_parts(text(row.get("summary")), self.builder.intake.blobs)
        summary = Said("user", parts, "summary", (number,))
        self.transcript.append(Replaced([summary, *kept]))
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
