"""JSON arguments read as they come: structure, keys, numbers, and what the strings hold.

    {"path": "a.py", "content": "x = 1\\ny = 2"}
    ppkkkkppp…   string    pp  code, python      p

Quotes, braces, colons, commas and white space are `tool.punct`; `true`, `false` and `null` count as
numbers. Broken JSON is labelled by the same rules as far as they go.
"""

import re

from traces.boundaries.content import Call, string_block
from traces.boundaries.document import Document, Emit
from traces.boundaries.label import KEY, NUMBER, PUNCT
from traces.boundaries.line import EscapedLines, unescape

_BODY = re.compile(r'(?:[^"\\]++|\\[\s\S])*+')
_SPACE = re.compile(r"\s*+")
_WORD = re.compile(r'[^\s,:\[\]{}"]++')
NOTED = 512
"""Longest argument text that is remembered to tell what other arguments hold."""


class JsonReader:
    """One JSON value. `done` once it is complete."""

    def __init__(self, call: Call) -> None:
        self.done = False
        self._call = call
        self._stack: list[str] = []
        self._wants_key = False
        self._key = ""
        self._string: Document | None = None
        self._in_key = False
        self._note = ""

    def consume(self, text: str, at: int, end: int, final: bool, emit: Emit) -> int:
        """Label `text` from `at` on, until the value is complete."""
        while at < end and not self.done:
            if self._in_key:
                at, more = self._read_key(text, at, end, emit)
            elif self._string is not None:
                at, more = self._read_string(text, at, end, final, emit)
            else:
                at, more = self._read_structure(text, at, end, emit), True
            if not more:
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
            self._open_string()
            emit(at, at + 1, PUNCT, None)
            return at + 1
        if first in "{[":
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

    def _open_string(self) -> None:
        if self._wants_key:
            self._in_key, self._key = True, ""
        else:
            block = self._call.block(self._key) or string_block()
            self._string, self._note = Document(block, EscapedLines()), ""

    def _read_key(self, text: str, at: int, end: int, emit: Emit) -> tuple[int, bool]:
        stop, closed = string_body(text, at, end)
        if stop > at:
            self._key += text[at:stop]
            emit(at, stop, KEY, None)
        if not closed:
            return stop, False
        emit(stop, stop + 1, PUNCT, None)
        self._in_key = self._wants_key = False
        self._key = unescape(self._key)
        return stop + 1, True

    def _read_string(
        self, text: str, at: int, end: int, final: bool, emit: Emit
    ) -> tuple[int, bool]:
        assert self._string is not None
        stop, closed = string_body(text, at, end)
        reached = self._string.consume(text, at, stop, closed or final, emit)
        if len(self._note) < NOTED:
            self._note += text[at:reached]
        if not closed:
            return reached, False
        self._call.note(self._key, unescape(self._note))
        emit(stop, stop + 1, PUNCT, None)
        self._string = None
        self.done = not self._stack
        return stop + 1, True


def string_body(text: str, at: int, end: int) -> tuple[int, bool]:
    """Where the string body from `at` on stops, and whether its closing quote stands there."""
    match = _BODY.match(text, at, end)
    stop = match.end() if match else at
    return stop, stop < end and text[stop] == '"'
