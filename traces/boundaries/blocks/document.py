"""A text read line by line: every line takes the label of the block it stands in.

Blocks nest: prose holds a fence, the fence a shell script, the script a heredoc, the heredoc a
diff. The innermost block labels a line or says it is not its own, and is then left. Fences and
heredocs are left by their closing line, which is looked for before anything else.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from traces.boundaries.blocks.line import HEAD, Lines, PlainLines

Kind = tuple[str, str | None]
"""Label and, for code, its language."""

Emit = Callable[[int, int, str, str | None], None]
"""Takes start, end, label and language of a stretch; stretches come in order, without gaps."""

PEEK = 8
"""Raw characters of the next line that are looked at: ``--- old`` heads a diff before ``+++ ``."""


class Block(Protocol):
    """A kind of text that labels its own lines."""

    def line(self, head: str, document: "Document") -> Kind | None:
        """The label of a line by its first characters; `None`: the line is not part of the block.

        May push inner blocks on `document`, which get the lines that follow.
        """


@dataclass(frozen=True, slots=True)
class Closer:
    """How a fence or heredoc ends: its closing line, the label of it, the depth it returns to."""

    closes: Callable[[str], bool]
    kind: Kind
    depth: int


class Document:
    """The state of one text. `lines` says whether it is plain or escaped in a JSON string."""

    def __init__(self, block: Block, lines: Lines | None = None) -> None:
        self._lines = lines or PlainLines()
        self._stack = [block]
        self._closers: list[Closer] = []
        self._open: Kind | None = None
        self.heads_file = False
        """Whether the line being read is ``--- old`` with ``+++ new`` right below it."""

    def push(self, block: Block) -> None:
        """Hand the following lines to `block`."""
        self._stack.append(block)

    def enclose(self, block: Block, closes: Callable[[str], bool], kind: Kind) -> None:
        """Hand the following lines to `block`, until a line `closes`; that line is of `kind`."""
        self._closers.append(Closer(closes, kind, len(self._stack)))
        self._stack.append(block)

    def consume(self, text: str, at: int, end: int, final: bool, emit: Emit) -> int:
        """Label `text` from `at` to `end`; returns how far it got.

        Unless `final`, a line is held back until it ends or `HEAD` characters of it are there.
        """
        while at < end:
            stop, ended = self._lines.stop(text, at, end)
            if self._open is None:
                if not ended and not final and stop - at < HEAD:
                    return at
                head = self._lines.head(text, at, stop)
                if ended and head.startswith("--- "):
                    if end - stop < PEEK and not final:
                        return at
                    self.heads_file = text.startswith("+++ ", stop, end)
                self._open = self._classify(head)
                self.heads_file = False
            if not ended and final:
                stop = end
            if stop == at:
                return at
            emit(at, stop, *self._open)
            at = stop
            if ended:
                self._open = None
        return at

    def _classify(self, head: str) -> Kind:
        for place in range(len(self._closers) - 1, -1, -1):
            closer = self._closers[place]
            if closer.closes(head):
                del self._closers[place:]
                del self._stack[closer.depth :]
                return closer.kind
        while True:
            kind = self._stack[-1].line(head, self)
            if kind is not None:
                return kind
            self._stack.pop()
            self._closers = [c for c in self._closers if c.depth <= len(self._stack) - 1]
