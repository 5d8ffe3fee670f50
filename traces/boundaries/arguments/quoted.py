"""One string argument between quotes, read as what it holds."""

import re

from traces.boundaries.arguments.content import Call, string_block
from traces.boundaries.blocks.document import Document, Emit
from traces.boundaries.blocks.line import EscapedLines, PlainLines, unescape
from traces.boundaries.label import PUNCT

NOTED = 512
"""Longest argument text that is remembered to tell what other arguments hold."""

_BODY = {
    '"': re.compile(r'(?:[^"\\]++|\\[\s\S])*+'),
    "'": re.compile(r"(?:[^'\\]++|\\[\s\S])*+"),
}


def string_end(text: str, at: int, end: int, quote: str = '"') -> tuple[int, bool]:
    """Where the escaped string body from `at` on stops, and whether its closing quote is there."""
    match = _BODY[quote].match(text, at, end)
    stop = match.end() if match else at
    return stop, stop < end and text[stop] == quote


class QuotedString:
    """The body of a string and its closing quote; `quote` is ``"``, ``'``, or a delimiter token.

    Between single characters the text is escaped as in JSON; between delimiter tokens it is not.
    """

    def __init__(self, call: Call, key: str, quote: str) -> None:
        self._call = call
        self._key = key
        self._quote = quote
        block = call.block(key) or string_block()
        self._document = Document(block, EscapedLines() if quote in _BODY else PlainLines())
        self._note = ""

    def consume(self, text: str, at: int, end: int, final: bool, emit: Emit) -> tuple[int, bool]:
        """Label the body as far as it is there; true once the closing quote has been read."""
        stop, closed = self._end(text, at, end, final)
        reached = self._document.consume(text, at, stop, closed or final, emit)
        if len(self._note) < NOTED:
            self._note += text[at:reached]
        if not closed:
            return reached, False
        self._call.note(self._key, unescape(self._note) if self._quote in _BODY else self._note)
        emit(stop, stop + len(self._quote), PUNCT, None)
        return stop + len(self._quote), True

    def _end(self, text: str, at: int, end: int, final: bool) -> tuple[int, bool]:
        if self._quote in _BODY:
            return string_end(text, at, end, self._quote)
        found = text.find(self._quote, at, end)
        if found >= 0:
            return found, True
        return (end if final else max(at, end - len(self._quote) + 1)), False
