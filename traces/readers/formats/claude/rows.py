"""Rows of a Claude Code log, reduced to what a prompt is made of.

{"type":"assistant","uuid":"…","parentUuid":"…","sessionId":"…","isSidechain":false,
 "message":{"id":"msg_…","role":"assistant","content":[…],"usage":{…}}}
"""

import re
from collections.abc import Sequence
from typing import Any

import msgspec

from traces.readers.chat.chat import ChatReader
from traces.readers.chat.content import content_parts
from traces.readers.chat.items import Answer, Item, Result, Said
from traces.readers.chat.payloads import Outcome
from traces.readers.chat.shapes import integer, items, mapping, number, text, text_or_none
from traces.readers.files.json_text import dump
from traces.session.blobs import BlobStore
from traces.session.message import Origin
from traces.session.turn import Sampling, Times, Usage

FINISH = {
    "end_turn": "stop",
    "stop_sequence": "stop",
    "tool_use": "tool_calls",
    "max_tokens": "length",
    "refusal": "content_filter",
}
"""Anthropic's stop reasons in the words of chat completions."""

NOTHING_BESIDE: dict[str, Any] = {}
"""Content blocks hold all of a response; the message has nothing beside them."""

HARNESS_TEXT = re.compile(r"^\s*<(?:command-|local-command-|system-reminder|task-notification)")
INTERRUPTED = "[Request interrupted by user"
EXIT_CODE = re.compile(r"^\s*(?:Error: )?Exit code (\d+)")


IFLOW = "session-"
"""How ids of sessions of iFlow CLI begin; its rows are read in order, whatever they link to."""


class ClaudeRow(msgspec.Struct, gc=False):
    """A row, its place in the tree (`linked`: it has a parentUuid key), and its items, if any.

    Rows of one `group` are parts of one response; `message` is what the API said of it then.
    `left_out` counts what of the row could not be read. A compaction can keep rows, named by uuid
    or as the first and last of a `stretch`; they stand behind the row `anchor` then.
    """

    number: int
    uuid: str | None
    parent: str | None
    linked: bool
    session: str | None
    thread: str
    items: list[Item] = []
    group: str | None = None
    message: dict[str, Any] = {}
    at: str | None = None
    effort: str | None = None
    boundary: bool = False
    kept: Sequence[str] = ()
    stretch: tuple[str, str] | None = None
    anchor: str | None = None
    left_out: int = 0


def read_row(number: int, row: dict[str, Any], chat: ChatReader) -> tuple[ClaudeRow, str | None]:
    """The reduced row, and the reason why it adds nothing to a prompt, if it does not."""
    thread = "main"
    parent = row.get("parentUuid")
    caller = text(row["parent_tool_use_id"]) if "parent_tool_use_id" in row else ""
    if caller or row.get("isSidechain") is True:
        thread = f"sidechain:{text(row.get('agentId')) or caller}"
    reduced = ClaudeRow(
        number,
        text_or_none(row.get("uuid")),
        (parent or None) if parent is None or isinstance(parent, str) else dump(parent),
        "parentUuid" in row,
        text_or_none(row["sessionId"] if "sessionId" in row else row.get("session_id")),
        thread,
    )
    if reduced.session is not None and reduced.session.startswith(IFLOW):
        reduced.parent, reduced.linked = None, False
    kind = row.get("type")
    if kind == "assistant":
        return reduced, _read_answer(reduced, row, chat)
    if kind == "user":
        return reduced, _read_user(reduced, row, chat)
    if kind == "attachment":
        return reduced, _read_attachment(reduced, mapping(row.get("attachment")), chat.blobs)
    if kind == "system":
        subtype = text(row.get("subtype")) or "message"
        reduced.boundary = subtype == "compact_boundary"
        _read_kept(reduced, mapping(row.get("compactMetadata")))
        return reduced, None if reduced.boundary else f"system_{subtype}"
    return reduced, text(kind) or "no_type"


def _read_kept(reduced: ClaudeRow, compaction: dict[str, Any]) -> None:
    messages = mapping(compaction.get("preservedMessages"))
    stretch = mapping(compaction.get("preservedSegment"))
    reduced.kept = [name for name in items(messages.get("uuids")) if isinstance(name, str)]
    first, last = text(stretch.get("headUuid")), text(stretch.get("tailUuid"))
    reduced.stretch = (first, last) if first and last and not reduced.kept else None
    reduced.anchor = text_or_none(messages.get("anchorUuid", stretch.get("anchorUuid")))


def _content(message: dict[str, Any]) -> str | list[Any] | None:
    content = message.get("content")
    return content if content and isinstance(content, (str, list)) else None


def _read_answer(reduced: ClaudeRow, row: dict[str, Any], chat: ChatReader) -> str | None:
    message = mapping(row.get("message"))
    content = _content(message)
    if content is None:
        return "no_content" if message else "no_message"
    if message.get("model") == "<synthetic>" or row.get("isApiErrorMessage") is True:
        return "synthetic_response"
    reduced.group = text(message.get("id")) or reduced.uuid or f"row {reduced.number}"
    reduced.message = message
    reduced.at, reduced.effort = text_or_none(row.get("timestamp")), text_or_none(row.get("effort"))
    reduced.items = [chat.answer(NOTHING_BESIDE, content, (reduced.number,))]
    return None


def _read_user(reduced: ClaudeRow, row: dict[str, Any], chat: ChatReader) -> str | None:
    message = mapping(row.get("message"))
    content = _content(message)
    if content is None:
        return "no_content" if message else "no_message"
    found = chat.said("user", content, (reduced.number,))
    for item in found:
        if isinstance(item, Said):
            item.origin = _origin(item, row)
        elif isinstance(item, Result):
            _settle_result(item, row)
    reduced.items = found
    return None


def _origin(said: Said, row: dict[str, Any]) -> Origin:
    if row.get("isCompactSummary") is True:
        return "summary"
    first = said.parts[0].text if said.parts and said.parts[0].type == "text" else ""
    harness = row.get("isMeta") is True or HARNESS_TEXT.match(first) or INTERRUPTED in first
    return "harness" if harness else "human"


def settle_answer(answer: Answer, rows: Sequence[ClaudeRow]) -> None:
    """What the rows of a response say of it; a later row knows better, as far as it says so."""
    answer.response_id = text_or_none(rows[-1].message.get("id"))
    reason = ended = effort = None
    for row in rows:
        message = row.message
        answer.model = text_or_none(message.get("model")) or answer.model
        reason = text_or_none(message.get("stop_reason")) or reason
        ended, effort = row.at or ended, row.effort or effort
    answer.finish_reason = FINISH.get(reason, reason) if reason else None
    answer.times = Times(end=ended) if ended else None
    answer.sampling = Sampling(effort=effort) if effort else None
    counted = (usage for row in reversed(rows) if (usage := mapping(row.message.get("usage"))))
    answer.usage = _usage(next(counted, {}))


def _usage(usage: dict[str, Any]) -> Usage | None:
    if not usage:
        return None
    cached = integer(usage.get("cache_read_input_tokens"))
    sent = (integer(usage.get("input_tokens")), cached,
            integer(usage.get("cache_creation_input_tokens")))  # fmt: skip
    return Usage(
        prompt=sum(part for part in sent if part is not None),
        cached=cached,
        completion=integer(usage.get("output_tokens")),
    )


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
