"""Decompression that keeps what comes before the damage of a torn archive."""

import gzip
import io
import zlib
from collections.abc import Callable
from typing import IO, Any

import zstandard

GZIP, ZSTD = b"\x1f\x8b", b"\x28\xb5\x2f\xfd"


class Salvaging(io.RawIOBase):
    """Reads from `inner` until it ends or breaks; `damaged` is called once if it breaks."""

    def __init__(self, inner: Any, damaged: Callable[[], None]) -> None:
        self._inner, self._damaged, self._ended = inner, damaged, False

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        if self._ended:
            return 0
        try:
            block = self._inner.read1(len(buffer))
        except (EOFError, OSError, zlib.error, zstandard.ZstdError):
            self._ended = True
            self._damaged()
            return 0
        buffer[: len(block)] = block
        return len(block)

    def close(self) -> None:
        self._inner.close()
        super().close()


def decompressed(raw: IO[bytes], damaged: Callable[[], None]) -> IO[bytes]:
    """`raw`, or what it holds if its first bytes say that it is gzip or zstd."""
    magic = raw.read(4)
    raw.seek(0)
    if magic.startswith(GZIP):
        return io.BufferedReader(Salvaging(gzip.GzipFile(fileobj=raw), damaged))
    if magic == ZSTD:
        reader = zstandard.ZstdDecompressor().stream_reader(raw, read_across_frames=True)
        return io.BufferedReader(Salvaging(reader, damaged))
    return raw
