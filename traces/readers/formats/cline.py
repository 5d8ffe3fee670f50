"""Cline and Roo-Code: ``api_conversation_history.json`` and the SDK's ``messages.json``.

    [{"role":"user","content":[{"type":"text","text":"<task>…"}],"ts":1776…}, …]
    {"version":1,"sessionId":"…","system_prompt":"…","messages":[…]}

Results can be plain user text, ``[execute_command for '…'] Result:`` and a block that follows; they
are given to the calls before them, by name and position. What Cline took out of a prompt that grew
too long is recorded in ``ui_messages.json`` in the same folder, which is looked at if it is there.
"""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, ClassVar

from traces.readers.chat.builder import SessionBuilder
from traces.readers.chat.content import content_parts
from traces.readers.chat.items import Answer, Item, Replaced, Result, Said
from traces.readers.chat.log import Log, entries
from traces.readers.chat.shapes import integer, items, mapping, mappings, text, text_or_none
from traces.readers.files.json_text import embedded
from traces.readers.files.sample import Sample
from traces.readers.intake import Intake
from traces.session.message import Text
from traces.session.session import Session
from traces.session.turn import Usage

RESULT_HEAD = re.compile(r"^\[(\w+)(?: for .*?)?\] Result:", re.DOTALL)
"""What was asked for can have several lines."""

HARNESS = re.compile(r"^\s*(?:<environment_details>|\[TASK RESUMPTION\])")


DELETED = "conversationHistoryDeletedRange"
SHOWN = "ui_messages.json"

Range = tuple[int, int]
"""First and last message of a range, counted from 0."""


EXTRA_KEYS = frozenset({"ts", "modelInfo", "metrics", DELETED})


class Cline:
    """Reads one conversation."""

    format: ClassVar[str] = "cline"
    unsupported: ClassVar[str | None] = None
    keys: ClassVar[frozenset[str]] = frozenset({"role", "messages"})

    def match(self, sample: Sample) -> float:
        """A list of messages with Cline's extra keys or a ``<task>``; or the SDK's object."""
        document = sample.document
        if isinstance(document, dict):
            named = "sessionId" in document and ("system_prompt" in document or "agent" in document)
            return float(named and bool(mappings(document.get("messages"))))
        if not isinstance(document, list) or not sample.objects:
            return 0.0
        messages = [row for row in sample.objects if "role" in row and "content" in row]
        extra = sum(bool(EXTRA_KEYS & row.keys()) for row in messages)
        task = "<task>" in str(messages[0].get("content"))[:400] if messages else False
        return len(messages) / len(sample.rows) if extra or task else 0.0

    def read(self, intake: Intake) -> Iterator[Session]:
        """The session of the file."""
        document = intake.source.document
        outer = mapping(document)
        log = _ClineLog(SessionBuilder(intake, tool="Cline"))
        log.builder.session_id = text_or_none(outer.get("sessionId"))
        version = integer(outer.get("version"))
        log.builder.format_version = None if version is None else str(version)
        log.deletions = _deletions(intake.source.path.with_name(SHOWN))
        prompt = text(outer.get("system_prompt"))
        if prompt:
            log.transcript.append(Said("system", content_parts(prompt, intake.blobs), "harness"))
        messages = document if isinstance(document, list) else items(outer.get("messages"))
        yield from log.read(entries(intake, messages))


class _ClineLog(Log):
    def __post_init__(self) -> None:
        super().__post_init__()
        self._waiting: dict[str, str] = {}
        self._deleted: Range | None = None
        self.deletions: list[tuple[int, Range]] = []

    def take(self, number: int, row: dict[str, Any]) -> str | None:
        content = row.get("content")
        if isinstance(content, list):
            row = {**row, "content": [_block(block) for block in content]}
        found: list[Item] = []
        for item in self.chat.message(row, (number,)):
            if isinstance(item, Answer):
                self._settle(item, row)
                self._waiting = {call.id: call.name for call in item.calls}
                found.append(item)
            elif isinstance(item, Said) and item.role == "user":
                found += self._split(item)
            else:
                found.append(item)
                if isinstance(item, Result):
                    self._waiting.pop(item.call_id, None)
        if (self.deletions or DELETED in row) and found and isinstance(found[0], Answer):
            self._delete(number - 1, row)
        self.transcript += found
        return None if found else "no_message"

    def _delete(self, place: int, row: dict[str, Any]) -> None:
        """Take out of the prompt what was deleted when message `place` was asked for."""
        known = [deleted for before, deleted in self.deletions if before < place]
        deleted = _range(row.get(DELETED)) or (known[-1] if known else self._deleted)
        if deleted is None or deleted == self._deleted:
            return
        self._deleted = deleted
        first, last = deleted
        said = (item for item in self.transcript if not isinstance(item, Replaced) and item.rows)
        kept: list[Item] = [item for item in said if not first <= item.rows[0] - 1 <= last]
        asked = {call.id for item in kept if isinstance(item, Answer) for call in item.calls}
        kept = [item for item in kept if not isinstance(item, Result) or item.call_id in asked]
        self.transcript.append(Replaced(kept))

    def _settle(self, answer: Answer, row: dict[str, Any]) -> None:
        metrics = mapping(row.get("metrics"))
        answer.model = text_or_none(mapping(row.get("modelInfo")).get("id"))
        answer.model = answer.model or text_or_none(mapping(row.get("modelInfo")).get("modelId"))
        if metrics:
            tokens = mapping(metrics.get("tokens")) or metrics
            answer.usage = Usage(
                prompt=integer(tokens.get("inputTokens", tokens.get("prompt"))),
                cached=integer(tokens.get("cacheReadTokens", tokens.get("cached"))),
                completion=integer(tokens.get("outputTokens", tokens.get("completion"))),
            )

    def _split(self, said: Said) -> list[Item]:
        """User text that starts with a result head is the result of a call that still waits."""
        found: list[Item] = []
        rest = list(said.parts)
        while rest and self._waiting:
            head = rest[0]
            found_head = RESULT_HEAD.match(head.text) if isinstance(head, Text) else None
            if not isinstance(head, Text) or found_head is None:
                break
            named = (name for name, tool in self._waiting.items() if tool == found_head.group(1))
            call_id = next(named, None) or next(iter(self._waiting))
            del self._waiting[call_id]
            body = [rest.pop(0)]
            inline = RESULT_HEAD.sub("", head.text).strip()
            if not inline and rest and not _is_harness(rest[0]):
                body.append(rest.pop(0))
            found.append(Result(call_id, body, said.rows))
        if rest or not found:
            origin = said.origin if not all(map(_is_harness, rest)) else "harness"
            found.append(Said("user", rest, origin, said.rows))
        return found


def _block(block: Any) -> Any:
    """A file block as text: its content was put into the prompt."""
    if isinstance(block, dict) and block.get("type") == "file" and text(block.get("content")):
        shown = (
            f'<file_content path="{text(block.get("path"))}">\n{block["content"]}\n</file_content>'
        )
        return {"type": "text", "text": shown}
    return block


def _is_harness(part: Any) -> bool:
    return isinstance(part, Text) and bool(HARNESS.match(part.text))


def _deletions(shown: Path) -> list[tuple[int, Range]]:
    """The ranges in force, each with the number of the last message of the prompt it was cut from,
    by what Cline showed."""
    try:
        rows = mappings(embedded(shown.read_bytes()))
    except OSError:
        return []
    found = ((integer(r.get("conversationHistoryIndex")), _range(r.get(DELETED))) for r in rows)
    return [(place, deleted) for place, deleted in found if place is not None and deleted]


def _range(value: Any) -> Range | None:
    numbers = [integer(entry) for entry in items(value)]
    if len(numbers) != 2 or numbers[0] is None or numbers[1] is None:
        return None
    return numbers[0], numbers[1]
