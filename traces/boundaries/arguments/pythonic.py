"""Calls in Python syntax, alone or in a list.

    [run(cmd="ls", times=2), stop()]
    m nnnmkkkp string p kkkkkp…   m

Brackets around calls, parentheses and commas between calls are markup; inside the parentheses the
labels are those of JSON arguments.
"""

import re
from collections.abc import Callable

from traces.boundaries.arguments.content import Call
from traces.boundaries.arguments.quoted import QuotedString, string_end
from traces.boundaries.blocks.document import Emit
from traces.boundaries.label import KEY, MARKUP, NAME, NUMBER, PUNCT

_LIST = re.compile(r"\[\s*[A-Za-z_][\w.]*\s*\(")
_LIST_BEGUN = re.compile(r"\[\s*(?:[A-Za-z_][\w.]*\s*)?")
_WORD = re.compile(r"[^\s,:=()\[\]{}\"']++")
_SPACE = re.compile(r"\s++")
LONGEST_NAME = 100
"""A name that is longer is not waited for to tell a call from text."""


class PythonReader:
    """Calls; `done` once the list is closed, or at once where a bracket opens no list of calls."""

    def __init__(self, call: Callable[[], Call]) -> None:
        self.done = False
        self._new_call = call
        self._call = call()
        self._stack: list[str] = []
        self._key = ""
        self._wants_key = False
        self._quote_of_key = ""
        self._string: QuotedString | None = None
        self._sure = False
        self._word = ""

    def consume(self, text: str, at: int, end: int, final: bool, emit: Emit) -> int:
        """Label `text` from `at` on."""
        if not self._sure and not self._is_call(text, at, end, final):
            return at
        while at < end and not self.done:
            if self._quote_of_key:
                at, closed = self._read_key(text, at, end, emit)
                if not closed:
                    break
            elif self._string is not None:
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

    def _is_call(self, text: str, at: int, end: int, final: bool) -> bool:
        """Whether calls begin here; settles `done` where they do not."""
        if at == end:
            return False
        if text[at : at + 1] != "[" or _LIST.match(text, at, end):
            self._sure = True
            return True
        begun = _LIST_BEGUN.match(text, at, end)
        waits = begun is not None and begun.end() == end and end - at < LONGEST_NAME
        self.done = final or not waits
        return False

    @property
    def _outside(self) -> bool:
        return "(" not in self._stack

    def _read(self, text: str, at: int, end: int, final: bool, emit: Emit) -> int:
        first = text[at]
        if first in "\"'" and not self._outside:
            if self._wants_key and self._stack[-1] == "{":
                self._quote_of_key, self._key = first, ""
            else:
                self._string = QuotedString(self._call, self._key, first)
        elif first in "([{":
            self._open(first)
        elif first in ")]}":
            return self._close(first, at, emit)
        elif first == ",":
            self._wants_key = bool(self._stack) and self._stack[-1] != "["
        elif first in "=:":
            self._wants_key = False
        else:
            return self._read_word(text, at, end, final, emit)
        markup = self._outside or (first == "(" and self._stack.count("(") == 1)
        emit(at, at + 1, MARKUP if markup else PUNCT, None)
        return at + 1

    def _open(self, bracket: str) -> None:
        if bracket == "(" and self._outside:
            self._call.tool = self._word or None
        self._stack.append(bracket)
        self._wants_key = bracket != "["

    def _close(self, bracket: str, at: int, emit: Emit) -> int:
        if self._stack:
            self._stack.pop()
        emit(at, at + 1, MARKUP if self._outside else PUNCT, None)
        self.done = bracket == "]" and not self._stack
        return at + 1

    def _read_key(self, text: str, at: int, end: int, emit: Emit) -> tuple[int, bool]:
        """A key of a dictionary, between quotes."""
        stop, closed = string_end(text, at, end, self._quote_of_key)
        if stop > at:
            self._key += text[at:stop]
            emit(at, stop, KEY, None)
        if not closed:
            return stop, False
        emit(stop, stop + 1, PUNCT, None)
        self._quote_of_key, self._wants_key = "", False
        return stop + 1, True

    def _read_word(self, text: str, at: int, end: int, final: bool, emit: Emit) -> int:
        space = _SPACE.match(text, at, end)
        if space:
            emit(at, space.end(), MARKUP if self._outside else PUNCT, None)
            return space.end()
        word = _WORD.match(text, at, end)
        stop = word.end() if word else at + 1
        if stop == end and not final and stop - at < LONGEST_NAME:
            return at
        if self._outside:
            self._call, self._word = self._new_call(), text[at:stop]
            emit(at, stop, NAME, None)
        elif self._wants_key:
            self._key = text[at:stop]
            emit(at, stop, KEY, None)
        else:
            emit(at, stop, NUMBER, None)
        return stop
