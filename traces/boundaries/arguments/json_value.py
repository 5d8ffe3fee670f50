"""JSON arguments read as they come: structure, keys, numbers, and what the strings hold.

    {"path": "a.py", "content": "x = 1\\ny = 2"}
    ppkkkkppp…   string    pp  code, python      p

Quotes, braces, colons, commas and white space are `tool.punct`; `true`, `false` and `null` count as
numbers. Broken JSON is labeled by the same rules as far as they go.
"""

import re

from traces.boundaries.arguments.content import Call
from traces.boundaries.arguments.quoted import QuotedString, string_end
from traces.boundaries.blocks.document import Emit
from traces.boundaries.blocks.line import unescape
from traces.boundaries.label import KEY, NUMBER, PUNCT

_SPACE = re.compile(r"\s*+")
_WORD = re.compile(r'[^\s,:\[\]{}"]++')


class JsonReader:
    """One JSON value. `done` once it is complete."""

    def __init__(self, call: Call) -> None:
        self.done = False
        self._call = call
        self._stack: list[str] = []
        self._wants_key = False
        self._key = ""
        self._in_key = False
        self._string: QuotedString | None = None

    def consume(self, text: str, at: int, end: int, final: bool, emit: Emit) -> int:
        """Label `text` from `at` on, until the value is complete."""
        while at < end and not self.done:
            if self._in_key:
                at, closed = self._read_key(text, at, end, emit)
            elif self._string is not None:
                at, closed = self._string.consume(text, at, end, final, emit)
                if closed:
                    self._string = None
                    self.done = not self._stack
            else:
                at, closed = self._read_structure(text, at, end, emit), True
            if not closed:
                break
        if final and at < end and not self.done:
            emit(at, end, PUNCT, None)
            at = end
        return at

    def _read_structure(self, text: str, at: int, end: int, emit: Emit) -> int:
        first = text[at]
        if not self._stack and first in "}],":
            self.done = True  # a bare literal ended; what follows belongs to whatever holds it
            return at
        if first == '"':
            if self._wants_key:
                self._in_key, self._key = True, ""
            else:
                self._string = QuotedString(self._call, self._key, '"')
        elif first in "{[":
            self._stack.append(first)
            self._wants_key = first == "{"
        elif first in "}]":
            self._stack.pop()
            self._wants_key = False
            self.done = not self._stack
        elif first == ",":
            self._wants_key = bool(self._stack) and self._stack[-1] == "{"
        elif first == ":":
            self._wants_key = False
        else:
            return self._read_word(text, at, end, emit)
        emit(at, at + 1, PUNCT, None)
        return at + 1

    def _read_word(self, text: str, at: int, end: int, emit: Emit) -> int:
        """White space, or a number or literal."""
        space = _SPACE.match(text, at, end)
        if space and space.end() > at:
            emit(at, space.end(), PUNCT, None)
            return space.end()
        word = _WORD.match(text, at, end)
        stop = word.end() if word else at + 1
        emit(at, stop, NUMBER, None)
        return stop

    def _read_key(self, text: str, at: int, end: int, emit: Emit) -> tuple[int, bool]:
        stop, closed = string_end(text, at, end)
        if stop > at:
            self._key += text[at:stop]
            emit(at, stop, KEY, None)
        if not closed:
            return stop, False
        emit(stop, stop + 1, PUNCT, None)
        self._in_key = self._wants_key = False
        self._key = unescape(self._key)
        return stop + 1, True
