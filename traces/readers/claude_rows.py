"""Rows of a Claude Code log, reduced to what a prompt is made of.

{"type":"assistant","uuid":"…","parentUuid":"…","sessionId":"…","isSidechain":false,
 "message":{"id":"msg_…","role":"assistant","content":[…],"usage":{…}}}
"""

import re
from dataclasses import dataclass, field
from typing import Any

from traces.blobs import BlobStore
from traces.message import Origin
from traces.readers.chat import ChatReader
from traces.readers.content import content_parts
from traces.readers.items import Answer, Item, Result, Said
from traces.readers.payloads import Outcome
from traces.readers.shapes import integer, mapping, number, text, text_or_none
from traces.turn import Sampling, Times, Usage

FINISH = {
    "end_turn": "stop",
    "stop_sequence": "stop",
    "tool_use": "tool_calls",
    "max_tokens": "length",
    "refusal": "content_filter",
}
"""Anthropic's stop reasons in the words of chat completions."""

HARNESS_TEXT = re.compile(r"^\s*<(?:command-|local-command-|system-reminder|task-notification)")
INTERRUPTED = "[Request interrupted by user"
EXIT_CODE = re.compile(r"^\s*(?:Error: )?Exit code (\d+)")


@dataclass(slots=True)
class ClaudeRow:
    """A row, its place in the tree (`linked`: it has a parentUuid key), and its items, if any."""

    number: int
    uuid: str | None
    parent: str | None
    linked: bool
    session: str | None
    thread: str
    items: list[Item] = field(default_factory=list)
    group: str | None = None
    boundary: bool = False


def read_row(number: int, row: dict[str, Any], chat: ChatReader) -> tuple[ClaudeRow, str | None]:
    """The reduced row, and the reason why it adds nothing to a prompt, if it does not."""
    agent = text(row.get("agentId")) or text(row.get("parent_tool_use_id"))
    side = row.get("isSidechain") is True or bool(text(row.get("parent_tool_use_id")))
    reduced = ClaudeRow(
        number=number,
        uuid=text_or_none(row.get("uuid")),
        parent=text_or_none(row.get("parentUuid")),
        linked="parentUuid" in row,
        session=text_or_none(row.get("sessionId", row.get("session_id"))),
        thread=f"sidechain:{agent}" if side else "main",
    )
    kind = text(row.get("type"))
    if kind in ("user", "assistant"):
        return reduced, _read_message(reduced, kind, row, chat)
    if kind == "attachment":
        return reduced, _read_attachment(reduced, mapping(row.get("attachment")), chat.blobs)
    if kind == "system":
        subtype = text(row.get("subtype")) or "message"
        reduced.boundary = subtype == "compact_boundary"
        return reduced, None if reduced.boundary else f"system_{subtype}"
    return reduced, kind or "no_type"


def _read_message(
    reduced: ClaudeRow, kind: str, row: dict[str, Any], chat: ChatReader
) -> str | None:
    message = mapping(row.get("message"))
    if not message:
        return "no_message"
    content = message.get("content")
    if not isinstance(content, str | list) or not content:
        return "no_content"
    if kind == "assistant":
        if message.get("model") == "<synthetic>" or row.get("isApiErrorMessage") is True:
            return "synthetic_response"
        reduced.group = text(message.get("id")) or reduced.uuid or f"row {reduced.number}"
    items = chat.message({"content": content, "role": kind}, (reduced.number,))
    for item in items:
        if isinstance(item, Answer):
            _settle_answer(item, message, row)
        elif isinstance(item, Said):
            item.origin = _origin(item, row)
        elif isinstance(item, Result):
            _settle_result(item, row)
    reduced.items = items
    return None if items else "no_content"


def _origin(said: Said, row: dict[str, Any]) -> Origin:
    if row.get("isCompactSummary") is True:
        return "summary"
    first = said.parts[0].text if said.parts and said.parts[0].type == "text" else ""
    harness = row.get("isMeta") is True or HARNESS_TEXT.match(first) or INTERRUPTED in first
    return "harness" if harness else "human"


def _settle_answer(answer: Answer, message: dict[str, Any], row: dict[str, Any]) -> None:
    usage = mapping(message.get("usage"))
    answer.response_id = text_or_none(message.get("id"))
    answer.model = text_or_none(message.get("model"))
    reason = text_or_none(message.get("stop_reason"))
    answer.finish_reason = FINISH.get(reason, reason) if reason else None
    if usage:
        cached = integer(usage.get("cache_read_input_tokens"))
        parts = [integer(usage.get("input_tokens")), cached]
        parts.append(integer(usage.get("cache_creation_input_tokens")))
        answer.usage = Usage(
            prompt=sum(part for part in parts if part is not None),
            cached=cached,
            completion=integer(usage.get("output_tokens")),
        )
    at, effort = text_or_none(row.get("timestamp")), text_or_none(row.get("effort"))
    answer.times = Times(end=at) if at else None
    answer.sampling = Sampling(effort=effort) if effort else None


def _settle_result(result: Result, row: dict[str, Any]) -> None:
    shown = mapping(row.get("toolUseResult"))
    first = result.parts[0].text if result.parts and result.parts[0].type == "text" else ""
    ended = EXIT_CODE.match(first) if result.is_error else None
    seconds = number(shown.get("durationSeconds"))
    duration = number(shown.get("durationMs"))
    if duration is None and seconds is not None:
        duration = seconds * 1000
    succeeded = "stdout" in shown and not result.is_error
    code = int(ended.group(1)) if ended else 0 if succeeded else None
    result.outcome = Outcome(code, duration)
    result.at = text_or_none(row.get("timestamp"))


def _read_attachment(
    reduced: ClaudeRow, attachment: dict[str, Any], blobs: BlobStore
) -> str | None:
    """Attachments reach the model as text; a row that keeps the text is part of the prompt."""
    kind = text(attachment.get("type")) or "unknown"
    if kind == "queued_command":
        origin: Origin = "human"
        written: Any = attachment.get("prompt")
    elif kind in ("file", "nested_memory"):
        inner = mapping(attachment.get("content"))
        origin, written = "harness", mapping(inner.get("file")).get("content", inner.get("content"))
    elif kind in ("edited_text_file", "skill_listing", "total_tokens_reminder"):
        keys = ("snippet", "content", "text")
        origin = "harness"
        written = next((attachment[key] for key in keys if key in attachment), None)
    elif kind == "hook_additional_context":
        origin, written = "harness", attachment.get("content")
    else:
        return f"attachment_{kind}"
    parts = content_parts(written, blobs) if isinstance(written, str | list) else []
    if not parts:
        return f"attachment_{kind}"
    reduced.items = [Said("user", parts, origin, (reduced.number,))]
    return None
