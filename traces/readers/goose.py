"""Goose session logs: JSON Lines up to 1.9, and the untagged blocks of 2024.

{"working_dir":"…","description":"…","message_count":14}
{"role":"assistant","created":1747178334,"content":[{"type":"toolRequest","id":"…",
 "toolCall":{"status":"success","value":{"name":"…","arguments":{…}}}}]}
"""

from collections.abc import Iterator
from typing import Any, ClassVar

from traces.readers.arguments import tool_call
from traces.readers.builder import SessionBuilder
from traces.readers.content import content_parts
from traces.readers.intake import Intake
from traces.readers.items import Answer, Item, Result, Said
from traces.readers.json_text import embedded
from traces.readers.log import Log
from traces.readers.reader import share
from traces.readers.shapes import items, mapping, mappings, text, text_or_none
from traces.readers.source import Sample
from traces.readers.tools import recorded_tools
from traces.session import Session

BLOCKS = frozenset(
    {"toolRequest", "toolResponse", "toolConfirmationRequest", "frontendToolRequest"}
)


class Goose:
    """Reads one log."""

    format: ClassVar[str] = "goose"
    unsupported: ClassVar[str | None] = None

    def match(self, sample: Sample) -> float:
        """Messages with a creation time and a list of Goose's blocks."""
        rows = [_message_of(row) for row in sample.objects]
        messages = [
            row for row in rows if "created" in row and isinstance(row.get("content"), list)
        ]
        blocks = [b for message in messages for b in mappings(message["content"])]
        particular = any(
            text(block.get("type")) in BLOCKS or "tool_name" in block or "tool_result" in block
            for block in blocks
        )
        header = any("working_dir" in row for row in sample.objects)
        fits = share(sample, len(messages))
        return fits if particular or header else 0.5 * fits

    def read(self, intake: Intake) -> Iterator[Session]:
        """The session of the file."""
        yield from _GooseLog(SessionBuilder(intake, tool="goose")).read(intake.source.rows())


def _message_of(row: dict[str, Any]) -> dict[str, Any]:
    """A row, out of the wrapper that ``--output-format stream-json`` puts around it."""
    return mapping(row.get("message")) if row.get("type") == "message" else row


class _GooseLog(Log):
    toolset: str | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        self._unnamed: list[str] = []
        self._made = 0

    def take(self, number: int, row: dict[str, Any]) -> str | None:
        row = _message_of(row)
        if "role" not in row:
            self.builder.cwd = text_or_none(row.get("working_dir")) or self.builder.cwd
            if items(row.get("tools")):
                self.toolset = self.builder.toolset(recorded_tools(row["tools"]))
            return None if "working_dir" in row or "tools" in row else "no_role"
        blocks = mappings(row.get("content"))
        found = (
            self._assistant(number, blocks)
            if row["role"] == "assistant"
            else self._user(number, blocks)
        )
        self.transcript += found
        return None if found else "no_content"

    def _assistant(self, number: int, blocks: list[dict[str, Any]]) -> list[Item]:
        answer = Answer(rows=(number,), toolset=self.toolset)
        for block in blocks:
            if "tool_name" in block:
                self._made += 1
                call_id = text(block.get("id")) or f"call_{self._made}"
                self._unnamed.append(call_id)
                answer.calls.append(tool_call(call_id, block["tool_name"], block.get("arguments")))
            elif block.get("type") in ("toolRequest", "frontendToolRequest"):
                asked = mapping(block.get("toolCall"))
                value = mapping(asked.get("value"))
                if asked.get("status") == "error":
                    answer.calls.append(
                        tool_call(block.get("id"), "invalid_call", asked.get("error"))
                    )
                else:
                    answer.calls.append(
                        tool_call(block.get("id"), value.get("name"), value.get("arguments"))
                    )
            elif block.get("type") == "thinking":
                answer.reasoning, answer.state = text(block.get("thinking")), "visible"
            elif block.get("type") == "redactedThinking":
                answer.state = "encrypted"
            elif "text" in block or block.get("type") == "image":
                answer.parts += content_parts(block, self.builder.intake.blobs)
        return [answer]

    def _user(self, number: int, blocks: list[dict[str, Any]]) -> list[Item]:
        found: list[Item] = []
        rest: list[dict[str, Any]] = []
        for block in blocks:
            if block.get("type") == "toolResponse":
                found.append(self._result(block, number))
            elif "tool_result" in block:
                found.append(self._old_result(block, number))
            elif block.get("type") not in ("toolConfirmationRequest", "systemNotification"):
                rest.append(block)
        if rest:
            parts = content_parts(rest, self.builder.intake.blobs)
            found.append(Said("user", parts, "human", (number,)))
        return found

    def _result(self, block: dict[str, Any], number: int) -> Result:
        given = mapping(block.get("toolResult"))
        value = given.get("value", given.get("error"))
        content = mapping(value).get("content", value) if isinstance(value, dict) else value
        error = given.get("status") == "error" or mapping(value).get("isError") is True
        parts = content_parts(content, self.builder.intake.blobs)
        return Result(text(block.get("id")), parts, (number,), error)

    def _old_result(self, block: dict[str, Any], number: int) -> Result:
        """2024: blocks are tagged by their key, ``{"Text": {"text": …}}``; calls have no id."""
        call_id = self._unnamed.pop(0) if self._unnamed else text(block.get("id"))
        value = embedded(block.get("tool_result"))
        blocks = [mapping(part).get("Text", part) for part in items(value)] or value
        return Result(call_id, content_parts(blocks, self.builder.intake.blobs), (number,))
