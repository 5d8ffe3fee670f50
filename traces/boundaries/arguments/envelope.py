"""A call as one JSON object, or a list of them: envelope, name, arguments.

    {"name": "run", "arguments": {"cmd": "ls"}}
    markup   name   markup        arguments    markup

The names of the keys vary (`parameters`, `args`), and the object may stand inside another one.
A `keyed` envelope uses the tool's name as the key of its arguments: ``[{"run": {"cmd": "ls"}}]``.
"""

from collections.abc import Callable

from traces.boundaries.arguments.content import Call
from traces.boundaries.arguments.json_value import JsonReader
from traces.boundaries.arguments.quoted import string_end
from traces.boundaries.blocks.document import Emit
from traces.boundaries.blocks.line import unescape
from traces.boundaries.label import MARKUP, NAME

NAME_KEYS = frozenset({"name", "tool_name"})
ARGUMENT_KEYS = frozenset({"arguments", "parameters", "args", "tool_arguments", "input"})


class EnvelopeReader:
    """The envelope; `done` once its outermost bracket closes. `begin` starts each call."""

    def __init__(self, call: Callable[[], Call], *, keyed: bool = False) -> None:
        self.done = False
        self._new_call = call
        self._call = call()
        self._keyed = keyed
        self._stack: list[str] = []
        self._wants_key = False
        self._string: str | None = None
        self._in_key = False
        self._key = ""
        self._arguments: JsonReader | None = None

    def consume(self, text: str, at: int, end: int, final: bool, emit: Emit) -> int:
        """Label `text` from `at` on, until the envelope is closed."""
        while at < end and not self.done:
            if self._arguments is not None:
                at = self._arguments.consume(text, at, end, final, emit)
                if not self._arguments.done:
                    break
                self._arguments = None
            elif self._string is not None:
                at, closed = self._read_string(text, at, end, emit)
                if not closed:
                    break
            else:
                at = self._read_structure(text, at, end, emit)
        if final and at < end and not self.done:
            emit(at, end, MARKUP, None)
            at = end
        return at

    def _read_structure(self, text: str, at: int, end: int, emit: Emit) -> int:
        first = text[at]
        if first == '"':
            self._string, self._in_key = "", self._wants_key
        elif first in "{[":
            self._stack.append(first)
            self._wants_key = first == "{"
            if first == "{" and self._stack.count("{") == 1:
                self._call = self._new_call()
        elif first in "}]" and self._stack:
            self._stack.pop()
            self._wants_key = False
            self.done = not self._stack
        elif first == ",":
            self._wants_key = bool(self._stack) and self._stack[-1] == "{"
        elif first == ":":
            self._wants_key = False
            if self._key in ARGUMENT_KEYS or self._keyed:
                self._arguments = JsonReader(self._call)
                self._key = ""
        emit(at, at + 1, MARKUP, None)
        return at + 1

    def _read_string(self, text: str, at: int, end: int, emit: Emit) -> tuple[int, bool]:
        assert self._string is not None
        stop, closed = string_end(text, at, end)
        is_name = self._in_key if self._keyed else not self._in_key and self._key in NAME_KEYS
        if stop > at:
            self._string += text[at:stop]
            emit(at, stop, NAME if is_name else MARKUP, None)
        if not closed:
            return stop, False
        read = unescape(self._string)
        if is_name:
            self._call.tool = read
        if self._in_key:
            self._key = read
        self._string, self._wants_key = None, False
        emit(stop, stop + 1, MARKUP, None)
        return stop + 1, True
