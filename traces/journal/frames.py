"""An append-only file of JSON lines that survives ``kill -9`` at any moment.

    frame · frame · frame …        (``zstdcat FILE`` shows the lines)

Each record is one whole zstd frame (RFC 8878, with content checksum) that holds one JSON line, and
goes to the file in a single write. A crash can therefore tear the last frame only; reading stops
before it and says so, and the next writer cuts it off first.
"""

import contextlib
import errno
import fcntl
import mmap
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Self

import zstandard

from traces.errors import InputError
from traces.output import not_written, writing

FRAME_MAGIC = b"\x28\xb5\x2f\xfd"
"""First bytes of a zstd frame, RFC 8878 section 3.1.1."""

READ_BYTES = 1 << 16

KEPT_BYTES = 1 << 23
"""So much of a file that is read from end to end stays mapped behind the frame being read; all of
it would count as this process's memory."""

REPLAY_AGAIN = "restore the file from a copy, or replay again into another output folder"

OWNER_ONLY = 0o600
"""Permissions of a new file: what was recorded may hold secrets."""


@dataclass(slots=True)
class FrameReader:
    """Iterates over the lines of one file, oldest first.

    `whole_bytes` is the length up to the frame being read, after the iteration up to the last whole
    one; `torn_bytes` is what lies behind it (0 unless a writer was killed inside a write). Raises
    InputError, naming file and byte, for a missing file and for damage before the tail.
    """

    file: Path
    whole_bytes: int = 0
    torn_bytes: int = 0

    def __iter__(self) -> Iterator[bytes]:
        self.whole_bytes = self.torn_bytes = 0
        try:
            size = self.file.stat().st_size
        except FileNotFoundError:
            fix = "name a journal written by `draftgate gate` or `draftgate replay`"
            raise InputError(f"{self.file}: no such file", fix) from None
        if size == 0:
            return
        with (
            self.file.open("rb") as handle,
            mmap.mmap(handle.fileno(), 0, access=mmap.ACCESS_READ) as data,
        ):
            yield from self._lines(data)

    def damaged(self, why: str, fix: str = REPLAY_AGAIN) -> InputError:
        """The error for the frame being read."""
        return InputError(f"{self.file}, byte {self.whole_bytes}: {why}", fix)

    def _lines(self, data: mmap.mmap) -> Iterator[bytes]:
        zstd, given_back = zstandard.ZstdDecompressor(), 0
        while self.whole_bytes < len(data):
            if self.whole_bytes - given_back >= KEPT_BYTES:
                data.madvise(mmap.MADV_DONTNEED, given_back, KEPT_BYTES)
                given_back += KEPT_BYTES
            frame = _frame(data, self.whole_bytes, zstd)
            if frame is None:
                if _frame_after(data, self.whole_bytes + 1):
                    raise self.damaged("the zstd frame is damaged, and whole frames follow it")
                if not _may_be_torn(data, self.whole_bytes):
                    raise self.damaged("this is no zstd frame, not even the beginning of one")
                self.torn_bytes = len(data) - self.whole_bytes
                return
            content, length = frame
            yield from content.splitlines()
            self.whole_bytes += length


class FrameAt:
    """Reads single frames of a file that was read to its end before."""

    def __init__(self, file: Path) -> None:
        self.file = file
        self._zstd = zstandard.ZstdDecompressor()
        self._fd = os.open(file, os.O_RDONLY | os.O_CLOEXEC)

    def lines(self, start: int) -> list[bytes]:
        """The lines of the frame that begins at byte `start`. Raises InputError where the file has
        changed since."""
        frame = _frame(_FileBytes(self._fd), start, self._zstd)
        if frame is None:
            raise FrameReader(self.file, start).damaged("the zstd frame is damaged")
        return frame[0].splitlines()

    def close(self) -> None:
        """Give the file free."""
        os.close(self._fd)


class _FileBytes:
    """The bytes of an open file, read where they are sliced."""

    def __init__(self, fd: int) -> None:
        self._fd = fd
        self._size = os.fstat(fd).st_size

    def __len__(self) -> int:
        return self._size

    def __getitem__(self, span: slice) -> bytes:
        return os.pread(self._fd, span.stop - span.start, span.start)


class FrameWriter:
    """Appends lines to one file; a second writer of the same file is refused.

    `torn_bytes` tells how much of a torn tail was cut off on opening. Raises InputError where the
    file is locked or damaged before its tail, OutputError where it cannot be written.
    """

    def __init__(self, file: Path) -> None:
        self.file = file
        self._compressor = zstandard.ZstdCompressor(level=3, write_checksum=True)
        with writing(file):
            file.parent.mkdir(parents=True, exist_ok=True)
            flags = os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC
            self._fd = os.open(file, flags, OWNER_ONLY)
        try:
            fcntl.flock(self._fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
            self.torn_bytes = self._cut_torn_tail()
        except BlockingIOError:
            os.close(self._fd)
            fix = "wait until the other run has ended, or give this one another output folder"
            raise InputError(f"{file}: another process is writing this file", fix) from None
        except BaseException:
            os.close(self._fd)
            raise

    def append(self, line: bytes) -> None:
        """Write one line, newline included, as one whole frame. Raises OutputError, and leaves no
        part of the frame behind, where the disk is full.
        """
        self.append_frame(self.frame(line))

    def frame(self, line: bytes) -> bytes:
        """The frame of one line, for callers that look at its size before they write it."""
        frame: bytes = self._compressor.compress(line)
        return frame

    def append_frame(self, frame: bytes) -> None:
        """Write what `frame` gave. Raises OutputError as `append` does."""
        written = 0
        try:
            while written < len(frame):
                written += os.write(self._fd, frame[written:])
        except OSError as error:
            with contextlib.suppress(OSError):
                os.ftruncate(self._fd, os.fstat(self._fd).st_size - written)
            raise not_written(self.file, error) from None

    @property
    def is_in_place(self) -> bool:
        """Whether the file still stands under its name: it may have been moved or removed."""
        try:
            return os.path.samestat(os.fstat(self._fd), self.file.stat())
        except OSError:
            return False

    def close(self) -> None:
        """Flush to the disk and give the file free. May be called again."""
        if self._fd < 0:
            return
        fd, self._fd = self._fd, -1
        try:
            os.fsync(fd)
        except OSError as error:
            if error.errno != errno.EINVAL:  # what cannot be flushed, such as a device
                raise not_written(self.file, error) from None
        finally:
            os.close(fd)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def _cut_torn_tail(self) -> int:
        reader = FrameReader(self.file)
        for _ in reader:
            pass
        if reader.torn_bytes:
            os.ftruncate(self._fd, reader.whole_bytes)
        return reader.torn_bytes


def _frame(
    data: "mmap.mmap | _FileBytes", start: int, zstd: zstandard.ZstdDecompressor
) -> tuple[bytes, int] | None:
    """(content, length in bytes) of the frame at `start`, or None where none is whole."""
    decompressor = zstd.decompressobj()
    content, at = [], start
    try:
        while not decompressor.eof and at < len(data):
            content.append(decompressor.decompress(data[at : at + READ_BYTES]))
            at += READ_BYTES
    except zstandard.ZstdError:
        return None
    if not decompressor.eof:
        return None
    return b"".join(content), min(at, len(data)) - len(decompressor.unused_data) - start


def _may_be_torn(data: mmap.mmap, start: int) -> bool:
    """Whether a writer that was killed may have left this: it begins as a frame does, or it is the
    zeros that a power cut leaves.
    """
    head = data[start : start + len(FRAME_MAGIC)]
    return FRAME_MAGIC.startswith(head) or not any(data[start:])


def _frame_after(data: mmap.mmap, start: int) -> bool:
    """Whether some whole frame begins at or after `start`."""
    zstd = zstandard.ZstdDecompressor()
    while (start := data.find(FRAME_MAGIC, start)) >= 0:
        if _frame(data, start, zstd) is not None:
            return True
        start += 1
    return False
