"""Messages of Goose as a transcript."""

from typing import Any

from traces.readers.chat.arguments import tool_call
from traces.readers.chat.content import content_parts
from traces.readers.chat.items import Answer, Item, Replaced, Result, Said
from traces.readers.chat.log import Log
from traces.readers.chat.shapes import items, mapping, mappings, text, text_or_none
from traces.readers.chat.tools import recorded_tools
from traces.readers.files.json_text import embedded


def message_of(row: dict[str, Any]) -> dict[str, Any]:
    """A row, out of the wrapper that ``--output-format stream-json`` puts around it."""
    return mapping(row.get("message")) if row.get("type") == "message" else row


def is_agent_only(row: dict[str, Any]) -> bool:
    """Whether a message was made for the model alone: the summary of a compaction."""
    return _metadata(row).get("userVisible") is False


def _metadata(row: dict[str, Any]) -> dict[str, Any]:
    return mapping(message_of(row).get("metadata"))


class GooseLog(Log):
    """Takes the messages of one session.

    A compaction hides what came before from the model and goes on with messages for it alone;
    `last_compaction` is the row of the last of those, 0 if there is none. Messages that are hidden
    without a compaction after them never reached the model.
    """

    toolset: str | None = None
    model: str | None = None
    last_compaction: int = 0

    def __post_init__(self) -> None:
        super().__post_init__()
        self._unnamed: list[str] = []
        self._made = 0
        self._compacting = False
        self._last: tuple[str, Answer] | None = None

    def take(self, number: int, row: dict[str, Any]) -> str | None:
        metadata = _metadata(row)
        row = message_of(row)
        if "role" not in row:
            return self._describe(row)
        if row["role"] not in ("user", "assistant"):
            return "no_role"
        if metadata.get("agentVisible") is False and number > self.last_compaction:
            return "hidden_from_the_model"
        blocks = mappings(row.get("content"))
        found = self._found(number, row, blocks)
        agent_only = metadata.get("userVisible") is False
        if agent_only:
            self._compact(found)
        else:
            self.transcript += found
        self._compacting = agent_only
        return None if found or row["role"] == "assistant" else "no_content"

    def _describe(self, header: dict[str, Any]) -> str | None:
        self.builder.session_id = self.builder.session_id or text_or_none(header.get("id"))
        self.builder.cwd = text_or_none(header.get("working_dir")) or self.builder.cwd
        if items(header.get("tools")):
            self.toolset = self.builder.toolset(recorded_tools(header["tools"]))
        return None if "working_dir" in header or "tools" in header else "no_role"

    def _found(self, number: int, row: dict[str, Any], blocks: list[dict[str, Any]]) -> list[Item]:
        if row["role"] != "assistant":
            self._last = None
            return self._user(number, blocks)
        answer = self._assistant(number, blocks)
        name = text(row.get("id"))
        if self._last is not None and name and self._last[0] == name:
            joined = self._last[1]
            joined.parts += answer.parts
            joined.calls += answer.calls
            joined.rows += answer.rows
            joined.reasoning += answer.reasoning
            return []
        answer.response_id = name or None
        self._last = name, answer
        return [answer]

    def _compact(self, found: list[Item]) -> None:
        """The first message for the model alone takes the place of what was before it."""
        for item in found:
            if isinstance(item, Said):
                item.origin = "summary"
            elif isinstance(item, Answer):
                item.target = False
        if self._compacting:
            self.transcript += found
        else:
            self.transcript.append(Replaced(found))

    def _assistant(self, number: int, blocks: list[dict[str, Any]]) -> Answer:
        answer = Answer(rows=(number,), toolset=self.toolset, model=self.model)
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
        return answer

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
