"""A message of a recorded conversation, stored once under a name made from its content.

{"record":"message","mid":"9d3c…","role":"assistant","content":[{"type":"text","text":"Look:"}],
 "tool_calls":[{"id":"c1","name":"ls","arguments_json":"{}","arg_kind":"json"}],
 "origin":"model","rows":[17]}
"""

import hashlib
from collections.abc import Iterable, Sequence
from typing import ClassVar, Literal

import orjson

from traces.session.record import Record

Role = Literal["system", "developer", "user", "assistant", "tool"]
Origin = Literal["human", "harness", "tool", "model", "summary", "synthetic"]
ArgKind = Literal["json", "freeform", "invalid"]


class Text(Record, frozen=True, kw_only=True, tag_field="type", tag="text"):
    """Text as the model saw it."""

    type: ClassVar[Literal["text"]] = "text"
    text: str


class Blob(Record, frozen=True, kw_only=True, tag_field="type", tag="blob"):
    """Bytes kept beside the session file: an image, another attachment, or a very long text.

    `blob` is the sha256 of the bytes (empty where the source kept only a reference), `size` their
    number. `head` shows the start of a text.
    """

    type: ClassVar[Literal["blob"]] = "blob"
    mime: str
    blob: str = ""
    size: int | None = None
    head: str | None = None


TOOL_REFERENCE = "tool reference: "
"""A note that begins so names a tool, whose definition is no text of the message."""


class Note(Record, frozen=True, kw_only=True, tag_field="type", tag="note"):
    """Stands for something the source names but whose content it did not keep."""

    type: ClassVar[Literal["note"]] = "note"
    text: str


Part = Text | Blob | Note


class ToolCall(Record, frozen=True, kw_only=True):
    """One call of an assistant message.

    `arguments_json` always parses, to a JSON object. For `freeform` input (a grammar tool such as
    ``apply_patch``) and for `invalid` arguments it is ``{"input": <text>}``; `arguments_raw` then
    holds the text as recorded.
    """

    id: str
    name: str
    arguments_json: str
    arg_kind: ArgKind = "json"
    arguments_raw: str | None = None


class Message(Record, frozen=True, kw_only=True, tag_field="record", tag="message"):
    """`mid` names the content; `rows` are the 1-based rows of the source it was read from.

    `reasoning` is the visible reasoning text of an assistant message. `is_error` is what the source
    says of a tool result, None where it says nothing.
    """

    mid: str
    role: Role
    content: tuple[Part, ...] = ()
    reasoning: str | None = None
    tool_calls: tuple[ToolCall, ...] = ()
    tool_call_id: str | None = None
    is_error: bool | None = None
    origin: Origin
    rows: tuple[int, ...] = ()

    @property
    def text(self) -> str:
        """All text parts, joined by newlines."""
        return "\n".join(part.text for part in self.content if part.type == "text")

    @property
    def left_out(self) -> int:
        """How many parts are known by their kind alone."""
        notes = [part for part in self.content if isinstance(part, Note)]
        return sum(not note.text.startswith(TOOL_REFERENCE) for note in notes) if notes else 0


def make_message(
    role: Role,
    content: Iterable[Text | Blob | Note] | str,
    *,
    origin: Origin,
    reasoning: str | None = None,
    tool_calls: Iterable[ToolCall] = (),
    tool_call_id: str | None = None,
    is_error: bool | None = None,
    rows: Iterable[int] = (),
) -> Message:
    """A message named by its content. `rows` does not enter the name; everything else does."""
    if isinstance(content, str):
        content = (Text(text=content),) if content else ()
    parts, calls, reasoning = tuple(content), tuple(tool_calls), reasoning or None
    said: Sequence[tuple[str, str]]
    if len(parts) == 1 and isinstance(only := parts[0], Text):
        said = (("text", only.text),)
    else:
        said = [
            ("text", part.text) if isinstance(part, Text) else (part.type, _content_of(part))
            for part in parts
        ]
    asked = (
        [(call.id, call.name, call.arguments_json, call.arg_kind) for call in calls]
        if calls
        else calls
    )
    name = orjson.dumps((role, origin, reasoning, tool_call_id, is_error, said, asked))
    return Message(
        mid=hashlib.sha256(name).hexdigest()[:16],
        role=role,
        content=parts,
        reasoning=reasoning,
        tool_calls=calls,
        tool_call_id=tool_call_id,
        is_error=is_error,
        origin=origin,
        rows=tuple(rows),
    )


def _content_of(part: Blob | Note) -> str:
    return f"{part.mime} {part.blob} {part.head}" if part.type == "blob" else part.text
