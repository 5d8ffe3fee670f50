"""Recorded tool calls, whose arguments are JSON objects, free text, or neither."""

from typing import Any

import msgspec
import orjson

from traces.readers.chat.shapes import text
from traces.readers.files.json_text import dump
from traces.session.message import ArgKind, ToolCall


class Call(msgspec.Struct, gc=False):
    """A call as a reader found it: its arguments parsed, and as the JSON that will be kept.

    `made`: the source gave it no id, so one was made up.
    """

    id: str
    name: str
    arguments: dict[str, Any]
    arguments_json: str
    kind: ArgKind = "json"
    raw: str | None = None
    made: bool = False

    def recorded(self) -> ToolCall:
        """The call as part of a message."""
        return ToolCall(
            id=self.id,
            name=self.name,
            arguments_json=self.arguments_json,
            arg_kind=self.kind,
            arguments_raw=self.raw,
        )


def tool_call(call_id: Any, name: Any, arguments: Any) -> Call:
    """A call whose `arguments` are an object, or a string that should hold one.

    A string that parses to an object is kept as written; an empty one means no arguments. All else
    is kind ``invalid`` and wrapped: ``{"input": "<as recorded>"}``.
    """
    call_id, name = text(call_id) or "call", text(name) or "unknown"
    if isinstance(arguments, dict):
        return Call(call_id, name, arguments, dump(arguments))
    if arguments is None or (isinstance(arguments, str) and not arguments.strip()):
        return Call(call_id, name, {}, "{}")
    if not isinstance(arguments, str):
        return _wrapped(call_id, name, dump(arguments), "invalid")
    try:
        parsed = orjson.loads(arguments)
    except orjson.JSONDecodeError:
        return _wrapped(call_id, name, arguments, "invalid")
    if isinstance(parsed, str):
        return tool_call(call_id, name, _object_or(parsed, arguments))
    if not isinstance(parsed, dict):
        return _wrapped(call_id, name, arguments, "invalid")
    return Call(call_id, name, parsed, arguments)


def same_call(one: Call, other: Call) -> bool:
    """Whether two entries of one message, in its content and beside it, stand for one call.

    Nothing but their id says so, or, where one has none, all of what they ask for.
    """
    asked = one.name == other.name and one.arguments == other.arguments
    return one.id == other.id or (asked and (one.made or other.made))


def freeform_call(call_id: Any, name: Any, given: Any) -> Call:
    """A call of a tool that takes text, such as a grammar tool."""
    raw = given if isinstance(given, str) else dump(given)
    return _wrapped(text(call_id) or "call", text(name) or "unknown", raw, "freeform")


def _wrapped(call_id: str, name: str, raw: str, kind: ArgKind) -> Call:
    arguments = {"input": raw}
    return Call(call_id, name, arguments, dump(arguments), kind, raw)


def _object_or(inner: str, otherwise: str) -> Any:
    """An object that was encoded twice; else something that is no object, so that it is wrapped."""
    try:
        parsed = orjson.loads(inner)
    except orjson.JSONDecodeError:
        parsed = None
    return parsed if isinstance(parsed, dict) else [otherwise]
