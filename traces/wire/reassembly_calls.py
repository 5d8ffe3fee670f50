"""Assemble tool calls from their deltas, by index.

    {"index": 0, "id": "call_1", "type": "function", "function": {"name": "ls", "arguments": ""}}
    {"index": 0, "function": {"arguments": "{}"}}

Two ids on one index stay one call: its first id and name stand, all argument text is joined.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

from traces.wire.chunk import WireCall
from traces.wire.response import ToolCall


@dataclass(slots=True)
class _Call:
    index: int
    header_complete: bool
    ids: dict[str, None] = field(default_factory=dict)
    name: str | None = None
    arguments: list[str] = field(default_factory=list)
    names: dict[str, str] = field(default_factory=dict)
    renamed: dict[str, None] = field(default_factory=dict)

    def take_name(self, name: str, identifier: str) -> None:
        """A name for the id it comes with, or else for the last one seen."""
        self.name = self.name or name
        first = self.names.setdefault(identifier or next(reversed(self.ids), ""), name)
        if name != first:
            self.renamed[name] = None


class CallAssembler:
    """Takes the `tool_calls` lists of deltas in order."""

    def __init__(self) -> None:
        self._calls: dict[int, _Call] = {}

    def add(self, deltas: Sequence[WireCall]) -> int:
        """Take the calls of one delta; the characters of arguments they bring. A delta without an
        index means its place in the list.
        """
        characters = 0
        for place, delta in enumerate(deltas):
            index = place if delta.index is None else delta.index
            identifier, name = delta.id or "", (delta.function and delta.function.name) or ""
            call = self._calls.get(index)
            if call is None:
                call = _Call(index, header_complete=bool(identifier and name))
                self._calls[index] = call
            if identifier:
                call.ids.setdefault(identifier)
            if name:
                call.take_name(name, identifier)
            arguments = delta.arguments
            call.arguments.append(arguments)
            characters += len(arguments)
        return characters

    def __len__(self) -> int:
        return len(self._calls)

    def finished(self) -> tuple[ToolCall, ...]:
        """All calls, by index."""
        return tuple(
            ToolCall(
                index=call.index,
                id=next(iter(call.ids), None),
                name=call.name,
                arguments="".join(call.arguments),
                header_complete=call.header_complete,
                ids=tuple(call.ids),
                renamed=tuple(call.renamed),
            )
            for _, call in sorted(self._calls.items())
        )
