"""Qwen Code logs: rows linked like Claude Code's, with messages in Gemini's form.

    {"uuid":"…","parentUuid":"…","sessionId":"…","type":"assistant",
     "message":{"role":"model","parts":[…]},"usageMetadata":{…}}

The path to the last message is taken; branches left by a rewind are counted.
"""

from collections.abc import Iterator
from typing import Any, ClassVar

from traces.readers.chat.builder import SessionBuilder
from traces.readers.chat.items import Answer, Item
from traces.readers.chat.log import Log
from traces.readers.chat.shapes import items, mapping, text, text_or_none
from traces.readers.files.sample import Sample
from traces.readers.formats.gemini.content import ContentReader, gemini_usage
from traces.readers.intake import Intake
from traces.readers.reader import share
from traces.session.session import Session


def _has_parts(row: dict[str, Any]) -> bool:
    return isinstance(mapping(row.get("message")).get("parts"), list)


class QwenCode:
    """Reads one log."""

    format: ClassVar[str] = "qwen-code"
    unsupported: ClassVar[str | None] = None
    keys: ClassVar[frozenset[str]] = frozenset({"uuid"})

    def match(self, sample: Sample) -> float:
        """Linked rows whose messages have parts."""
        rows = sample.objects
        if not any(_has_parts(row) for row in rows):
            return 0.0
        return share(sample, sum("uuid" in row and "sessionId" in row for row in rows))

    def read(self, intake: Intake) -> Iterator[Session]:
        """The session of the file."""
        rows = [(number, mapping(row)) for number, row in intake.source.rows()]
        parents = {text(row.get("uuid")): text(row.get("parentUuid")) for _, row in rows}
        leaf = next((text(row.get("uuid")) for _, row in reversed(rows) if _has_parts(row)), "")
        path: set[str] = set()
        while leaf and leaf not in path:
            path.add(leaf)
            leaf = parents.get(leaf, "")
        log = _QwenLog(SessionBuilder(intake, tool="Qwen Code"))
        log.path = path
        yield from log.read(rows)


class _QwenLog(Log):
    path: set[str]

    def __post_init__(self) -> None:
        super().__post_init__()
        self._contents = ContentReader(self.builder.intake.blobs)
        self._answers: dict[str, Answer] = {}

    def take(self, number: int, row: dict[str, Any]) -> str | None:
        builder = self.builder
        builder.session_id = builder.session_id or text_or_none(row.get("sessionId"))
        builder.tool_version = builder.tool_version or text_or_none(row.get("version"))
        builder.cwd = text_or_none(row.get("cwd")) or builder.cwd
        uuid = text(row.get("uuid"))
        if not _has_parts(row):
            kind = text(row.get("type"))
            return f"{kind}_{text(row.get('subtype'))}" if row.get("subtype") else kind or "no_type"
        if uuid not in self.path:
            return "abandoned_branch"
        if row["message"].get("role") not in ("user", "model"):
            return "no_role"
        found: list[Item] = self._contents.read(
            {**row["message"], "parts": items(row["message"]["parts"])}, (number,)
        )
        for item in found:
            if isinstance(item, Answer):
                if uuid in self._answers:
                    _join(self._answers[uuid], item, row)
                    continue
                self._answers[uuid] = item
                _settle(item, row)
            self.transcript.append(item)
        return None


def _settle(answer: Answer, row: dict[str, Any]) -> None:
    answer.model = text_or_none(row.get("model")) or answer.model
    answer.response_id = text_or_none(row.get("uuid"))
    answer.usage = gemini_usage(mapping(row.get("usageMetadata"))) or answer.usage


def _join(first: Answer, more: Answer, row: dict[str, Any]) -> None:
    """Rows with one uuid are parts of one response."""
    first.parts += more.parts
    first.calls += more.calls
    first.rows += more.rows
    first.reasoning += more.reasoning
    if first.state == "none":
        first.state = more.state
    _settle(first, row)
