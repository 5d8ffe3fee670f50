"""Values of this process kept in a temporary file, one after the other, and read again by place.

The file has no name: nobody else reads it, and nothing is left of it, however the process ends. It
lies where `TMPDIR` says.
"""

import os
import pickle
import tempfile
from pathlib import Path
from typing import Any, NamedTuple

import zstandard

from traces.collection import collector_paused
from traces.output import writing

LEVEL = 1
"""Of zstd: what is written is read once or twice."""


class Kept(NamedTuple):
    """Where a value lies: first byte, length in bytes."""

    start: int
    length: int


class Spool:
    """Takes values that can be pickled, and texts. Raises OutputError where the disk is full."""

    def __init__(self) -> None:
        with writing(Path(tempfile.gettempdir())):
            self._file = tempfile.TemporaryFile(prefix="draftgate-", buffering=0)  # noqa: SIM115
        self._end = 0
        self._compress = zstandard.ZstdCompressor(level=LEVEL).compress
        self._decompress = zstandard.ZstdDecompressor().decompress

    def add(self, value: Any) -> Kept:
        """Keep a value."""
        with collector_paused():
            return self._write(self._compress(pickle.dumps(value, pickle.HIGHEST_PROTOCOL)))

    def value(self, kept: Kept) -> Any:
        """The value again, a new object each time."""
        with collector_paused():
            return pickle.loads(self._decompress(self._read(kept)))

    def add_text(self, text: str) -> Kept:
        """Keep a text."""
        return self._write(text.encode("utf-8", "surrogatepass"))

    def text(self, kept: Kept) -> str:
        """The text again."""
        return self._read(kept).decode("utf-8", "surrogatepass")

    def close(self) -> None:
        """Give the disk back."""
        self._file.close()

    def _write(self, data: bytes) -> Kept:
        kept = Kept(self._end, len(data))
        left = memoryview(data)
        with writing(Path(tempfile.gettempdir())):
            while left:
                left = left[self._file.write(left) or 0 :]
        self._end += kept.length
        return kept

    def _read(self, kept: Kept) -> bytes:
        return os.pread(self._file.fileno(), kept.length, kept.start)
