"""Lines of a stream, none of them longer than memory allows: an archive of a few kilobytes can hold
one line of many gigabytes."""

from collections.abc import Iterator
from typing import IO

MAX_LINE_BYTES = 256_000_000
TOO_LONG = b"\0too long"
"""Stands for a line that is longer."""

BLOCK_BYTES = 262_144
"""Read at once, from the first longer line on: `readline` compares byte by byte where a line goes
on beyond its buffer, and many recordings are one line."""


def bounded_lines(stream: IO[bytes]) -> Iterator[bytes]:
    """Every line with its newline; the last one may have none."""
    begun = _Begun()
    limit = min(BLOCK_BYTES, MAX_LINE_BYTES)
    while line := stream.readline(limit):
        if len(line) == limit and not line.endswith(b"\n"):
            begun.add(line)
            break
        yield line
    while block := stream.read(BLOCK_BYTES):
        start = 0
        while end := block.find(b"\n", start) + 1:
            line = block[start:end]
            yield begun.ended_by(line) if begun.size or len(line) > MAX_LINE_BYTES else line
            start = end
        if start < len(block):
            begun.add(block[start:])
    if begun.size:
        yield begun.ended_by(b"")


class _Begun:
    """The pieces of a line whose end was not read yet; of one that is too long, none is kept."""

    def __init__(self) -> None:
        self._pieces: list[bytes] = []
        self.size = 0

    def add(self, piece: bytes) -> None:
        """The line goes on."""
        self.size += len(piece)
        if self.size < MAX_LINE_BYTES:
            self._pieces.append(piece)
        else:
            self._pieces.clear()

    def ended_by(self, piece: bytes) -> bytes:
        """The whole line; no line is begun then."""
        whole = self.size + (len(piece) or 1)
        line = TOO_LONG if whole > MAX_LINE_BYTES else b"".join((*self._pieces, piece))
        self._pieces, self.size = [], 0
        return line
