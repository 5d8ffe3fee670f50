"""Tool definitions of every dialect, and definitions made from the calls that were observed."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import orjson

from traces.readers.chat.arguments import Call
from traces.readers.chat.shapes import items, mapping, text, text_or_none
from traces.readers.files.json_text import writable
from traces.session.session import Tool, Toolset

MAX_REPEATED = 200
"""Different sets of tools that are remembered while a log is read."""


def recorded_tools(definitions: Any) -> tuple[Tool, ...]:
    """Definitions in the form of chat completions, Responses, Anthropic Messages, or MCP.

        {"type": "function", "function": {"name": "ls", "parameters": {…}}}   chat completions
        {"type": "function", "name": "ls", "parameters": {…}}                 Responses
        {"name": "ls", "input_schema": {…}}                                   Anthropic
        {"type": "custom", "name": "apply_patch", "format": {…}}              free-form

    Null keys, which Arrow fills into unions, are left out. A bare name gets a permissive schema.
    """
    tools = []
    for definition in items(definitions):
        if isinstance(definition, str):
            tools.append(synthesised_tool(definition, ()))
            continue
        outer = mapping(definition)
        inner = mapping(outer.get("function")) or mapping(outer.get("custom")) or outer
        name = text(inner.get("name")) or text(outer.get("type"))
        if not name:
            continue
        schema = next(
            (
                mapping(inner[key])
                for key in ("parameters", "input_schema", "inputSchema", "parametersJsonSchema")
                if isinstance(inner.get(key), dict) and writable(inner[key])
            ),
            None,
        )
        tools.append(
            Tool(
                name=name,
                description=text_or_none(inner.get("description")),
                parameters=without_nulls(schema) if schema else {"type": "object"},
                freeform=outer.get("type") == "custom" and schema is None,
                provenance="recorded",
            )
        )
    return tuple(tools)


def without_nulls(schema: Any) -> Any:
    """A schema without its null keys; ``default``, ``const`` and ``enum`` keep their nulls."""
    if isinstance(schema, dict):
        keep = ("default", "const", "enum", "examples")
        return {
            key: value if key in keep else without_nulls(value)
            for key, value in schema.items()
            if value is not None or key == "const"
        }
    if isinstance(schema, list):
        return [without_nulls(item) for item in schema]
    return schema


def synthesised_tool(name: str, keys: Iterable[str], *, freeform: bool = False) -> Tool:
    """A definition that accepts whatever the recorded calls held, and more."""
    return Tool(
        name=name,
        parameters={
            "type": "object",
            "properties": {key: {} for key in keys},
            "additionalProperties": True,
        },
        freeform=freeform,
        provenance="synthesised",
    )


@dataclass(slots=True)
class RepeatedTools:
    """Definitions of request logs: most requests repeat those of the one before."""

    _known: dict[bytes, Toolset] = field(default_factory=dict)

    def read(self, definitions: Any) -> Toolset:
        """The tools of a request."""
        try:
            name = orjson.dumps(definitions)
        except TypeError:
            return Toolset(provenance="recorded", tools=recorded_tools(definitions))
        known = self._known.get(name)
        if known is None:
            known = Toolset(provenance="recorded", tools=recorded_tools(definitions))
            if len(self._known) < MAX_REPEATED:
                self._known[name] = known
        return known


class ObservedTools:
    """Collects the calls of a session, to offer their tools where the source kept no schemas."""

    def __init__(self, names: Iterable[str] = ()) -> None:
        self._keys: dict[str, dict[str, None]] = {name: {} for name in names}
        self._freeform: dict[str, bool] = {}
        self._defined: dict[str, Tool] = {}

    def define(self, tool: Tool) -> None:
        """Offer a tool whose definition the source kept, beside those that are only observed."""
        self._defined[tool.name] = tool

    def add(self, call: Call) -> None:
        """Learn a call and the names of its arguments."""
        name, kind = call.name, call.kind
        keys = self._keys.get(name)
        if keys is None:
            keys = self._keys[name] = {}
        if kind != "freeform":
            self._freeform[name] = False
        elif name not in self._freeform:
            self._freeform[name] = True
        if kind == "json":
            for key in call.arguments:
                if key not in keys:
                    keys[key] = None

    def toolset(self) -> Toolset:
        """One toolset for the whole session, in order of first use; ``missing`` if no call."""
        made = (
            synthesised_tool(name, keys, freeform=self._freeform.get(name, False))
            for name, keys in self._keys.items()
            if name not in self._defined
        )
        tools = (*self._defined.values(), *made)
        return Toolset(provenance="synthesised" if tools else "missing", tools=tools)
