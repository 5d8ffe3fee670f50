"""What reads the text between two markers, and the plain readers."""

from typing import Protocol

from traces.boundaries.arguments.content import Call
from traces.boundaries.blocks.document import Document, Emit
from traces.boundaries.blocks.text_block import ProseBlock
from traces.boundaries.label import KEY, NAME


class Reader(Protocol):
    """Labels the text of one mode.

    `consume` labels `text` from `at` to `end` and returns how far it got; what it holds back comes
    again with more text. `final` says that nothing more comes. `done` turns true where the reader
    has seen the end of what it reads; it then consumes nothing more.
    """

    done: bool

    def consume(self, text: str, at: int, end: int, final: bool, emit: Emit) -> int:
        """Label what can be labeled for good."""


class PlainReader:
    """Everything has one label."""

    def __init__(self, label: str) -> None:
        self.done = False
        self._label = label

    def consume(self, text: str, at: int, end: int, final: bool, emit: Emit) -> int:
        """All of it, at once."""
        if end > at:
            emit(at, end, self._label, None)
        return end


class ProseReader:
    """The answer to the user: prose with fences and diffs."""

    def __init__(self) -> None:
        self.done = False
        self._document = Document(ProseBlock())

    def consume(self, text: str, at: int, end: int, final: bool, emit: Emit) -> int:
        """Line by line."""
        return self._document.consume(text, at, end, final, emit)


class NameReader:
    """The name of a tool; remembered in the call. `done` at a brace that opens its arguments."""

    def __init__(self, call: Call) -> None:
        self.done = False
        self._call = call
        self._read = ""

    def consume(self, text: str, at: int, end: int, final: bool, emit: Emit) -> int:
        """Up to a brace; the name is known there, or when it is final."""
        brace = text.find("{", at, end)
        stop = end if brace < 0 else brace
        self._read += text[at:stop]
        self.done = brace >= 0
        if stop > at:
            emit(at, stop, NAME, None)
        if final or self.done:
            self._call.tool = self._read.strip() or None
        return stop


class KeyReader:
    """The name of an argument."""

    def __init__(self) -> None:
        self.done = False
        self.key = ""

    def consume(self, text: str, at: int, end: int, final: bool, emit: Emit) -> int:
        """All of it."""
        self.key += text[at:end]
        if end > at:
            emit(at, end, KEY, None)
        return end


class SpaceReader:
    """White space only; done at the first other character."""

    def __init__(self, label: str) -> None:
        self.done = False
        self._label = label

    def consume(self, text: str, at: int, end: int, final: bool, emit: Emit) -> int:
        """Up to the first character that is not white space."""
        start = at
        while at < end and text[at].isspace():
            at += 1
        if at > start:
            emit(start, at, self._label, None)
        self.done = at < end
        return at
