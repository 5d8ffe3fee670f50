"""Lines of a stream, none of them longer than memory allows: an archive of a few kilobytes can hold
one line of many gigabytes."""

from collections.abc import Iterator
from typing import IO

MAX_LINE_BYTES = 256_000_000
TOO_LONG = b"\0too long"
"""Stands for a line that is longer."""


def bounded_lines(stream: IO[bytes]) -> Iterator[bytes]:
    """Every line with its newline; the last one may have none."""
    limit = MAX_LINE_BYTES
    while line := stream.readline(limit):
        if len(line) == limit and not line.endswith(b"\n"):
            while (rest := stream.readline(limit)) and not rest.endswith(b"\n"):
                pass
            line = TOO_LONG
        yield line
