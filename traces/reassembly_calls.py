"""Assemble tool calls from their deltas, by index.

    {"index": 0, "id": "call_1", "type": "function", "function": {"name": "ls", "arguments": ""}}
    {"index": 0, "function": {"arguments": "{}"}}

Two ids on one index stay one call: its first id and name stand, all argument text is joined.
"""

from dataclasses import dataclass, field
from typing import Any

from traces.response import ToolCall


@dataclass(slots=True)
class _Call:
    index: int
    header_complete: bool
    ids: list[str] = field(default_factory=list)
    name: str | None = None
    arguments: list[str] = field(default_factory=list)


class CallAssembler:
    """Takes the `tool_calls` lists of deltas in order."""

    def __init__(self) -> None:
        self._calls: dict[int, _Call] = {}

    def add(self, deltas: list[dict[str, Any]]) -> None:
        """Take the calls of one delta. A delta without an index means its place in the list."""
        for place, delta in enumerate(deltas):
            if not isinstance(delta, dict):
                continue
            index = delta.get("index")
            index = index if isinstance(index, int) else place
            function = delta.get("function") or {}
            identifier, name = delta.get("id") or "", function.get("name") or ""
            call = self._calls.get(index)
            if call is None:
                call = _Call(index, header_complete=bool(identifier and name))
                self._calls[index] = call
            if identifier and identifier not in call.ids:
                call.ids.append(identifier)
            call.name = call.name or name or None
            call.arguments.append(function.get("arguments") or "")

    def finished(self) -> tuple[ToolCall, ...]:
        """All calls, by index."""
        return tuple(
            ToolCall(
                index=call.index,
                id=call.ids[0] if call.ids else None,
                name=call.name,
                arguments="".join(call.arguments),
                header_complete=call.header_complete,
                ids=tuple(call.ids),
            )
            for _, call in sorted(self._calls.items())
        )
