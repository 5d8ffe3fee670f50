"""Arguments of recorded tool calls: JSON objects, free text, or neither."""

from typing import Any

import orjson

from traces.message import ToolCall
from traces.readers.json_text import dump
from traces.readers.shapes import text


def tool_call(call_id: Any, name: Any, arguments: Any) -> ToolCall:
    """A call whose `arguments` are an object, or a string that should hold one.

    A string that parses to an object is kept as written; an empty one means no arguments. All else
    is kind ``invalid`` and wrapped: ``{"input": "<as recorded>"}``.
    """
    call_id, name = text(call_id) or "call", text(name) or "unknown"
    if isinstance(arguments, dict):
        return ToolCall(id=call_id, name=name, arguments_json=dump(arguments))
    if arguments is None or (isinstance(arguments, str) and not arguments.strip()):
        return ToolCall(id=call_id, name=name, arguments_json="{}")
    if not isinstance(arguments, str):
        return _wrapped(call_id, name, dump(arguments), invalid=True)
    try:
        parsed = orjson.loads(arguments)
    except orjson.JSONDecodeError:
        return _wrapped(call_id, name, arguments, invalid=True)
    if isinstance(parsed, str):
        return tool_call(call_id, name, _object_or(parsed, arguments))
    if not isinstance(parsed, dict):
        return _wrapped(call_id, name, arguments, invalid=True)
    return ToolCall(id=call_id, name=name, arguments_json=arguments)


def freeform_call(call_id: Any, name: Any, given: Any) -> ToolCall:
    """A call of a tool that takes text, such as a grammar tool."""
    raw = given if isinstance(given, str) else dump(given)
    return _wrapped(text(call_id) or "call", text(name) or "unknown", raw, invalid=False)


def _wrapped(call_id: str, name: str, raw: str, *, invalid: bool) -> ToolCall:
    return ToolCall(
        id=call_id,
        name=name,
        arguments_json=dump({"input": raw}),
        arg_kind="invalid" if invalid else "freeform",
        arguments_raw=raw,
    )


def _object_or(inner: str, otherwise: str) -> Any:
    """An object that was encoded twice; else something that is no object, so that it is wrapped."""
    try:
        parsed = orjson.loads(inner)
    except orjson.JSONDecodeError:
        parsed = None
    return parsed if isinstance(parsed, dict) else [otherwise]
