"""Arguments in Gemma's syntax: bare keys, strings between delimiter tokens.

{cmd:<|"|>ls<|"|>,times:2}
pkkkp  d    s d  pkkkkkpnp
"""

import re

from traces.boundaries.arguments.content import Call
from traces.boundaries.arguments.quoted import QuotedString
from traces.boundaries.blocks.document import Emit
from traces.boundaries.label import KEY, NUMBER, PUNCT

DELIMITERS = ('<|"|>', "<escape>")
_WORD = re.compile(r"[^\s,:\[\]{}<]++")
_SPACE = re.compile(r"\s++")
LONGEST_KEY = 100
"""A longer bare word is not waited for."""


class GemmaReader:
    """One object of arguments. `done` once it is closed."""

    def __init__(self, call: Call) -> None:
        self.done = False
        self._call = call
        self._stack: list[str] = []
        self._key = ""
        self._wants_key = False
        self._string: QuotedString | None = None

    def consume(self, text: str, at: int, end: int, final: bool, emit: Emit) -> int:
        """Label `text` from `at` on, until the object is closed."""
        while at < end and not self.done:
            if self._string is not None:
                at, closed = self._string.consume(text, at, end, final, emit)
                if not closed:
                    break
                self._string = None
            else:
                reached = self._read(text, at, end, final, emit)
                if reached == at:
                    break
                at = reached
        if final and at < end and not self.done:
            emit(at, end, PUNCT, None)
            at = end
        return at

    def _read(self, text: str, at: int, end: int, final: bool, emit: Emit) -> int:
        first = text[at]
        if first == "<":
            return self._open_string(text, at, end, final, emit)
        if first in "{[":
            self._stack.append(first)
            self._wants_key = first == "{"
        elif first in "}]":
            if self._stack:
                self._stack.pop()
            self._wants_key = False
            self.done = not self._stack
        elif first == ",":
            self._wants_key = bool(self._stack) and self._stack[-1] == "{"
        elif first == ":":
            self._wants_key = False
        else:
            return self._read_word(text, at, end, final, emit)
        emit(at, at + 1, PUNCT, None)
        return at + 1

    def _open_string(self, text: str, at: int, end: int, final: bool, emit: Emit) -> int:
        for delimiter in DELIMITERS:
            if text.startswith(delimiter, at, end):
                self._string = QuotedString(self._call, self._key, delimiter)
                emit(at, at + len(delimiter), PUNCT, None)
                return at + len(delimiter)
        partial = any(delimiter.startswith(text[at:end]) for delimiter in DELIMITERS)
        if partial and not final:
            return at
        emit(at, at + 1, PUNCT, None)
        return at + 1

    def _read_word(self, text: str, at: int, end: int, final: bool, emit: Emit) -> int:
        space = _SPACE.match(text, at, end)
        if space:
            emit(at, space.end(), PUNCT, None)
            return space.end()
        word = _WORD.match(text, at, end)
        stop = word.end() if word else at + 1
        if stop == end and not final and stop - at < LONGEST_KEY:
            return at
        if self._wants_key:
            self._key = text[at:stop]
            emit(at, stop, KEY, None)
        else:
            emit(at, stop, NUMBER, None)
        return stop
