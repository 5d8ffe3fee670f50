"""The journal: an append-only file of captures that survives ``kill -9`` at any moment.

    <run folder>/candidate-main-0.jsonl.zst  =  frame · frame · frame …

Each capture is one whole zstd frame (RFC 8878, with content checksum) that holds one JSON line, and
goes to the file in a single write. A crash can therefore tear the last frame only; reading stops
before it and says so, and the next writer cuts it off first. ``zstdcat FILE`` shows the lines.
"""

import fcntl
import mmap
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Self

import zstandard

from traces.capture import Capture
from traces.capture_record import decode_record, encode_record
from traces.errors import InputError

FRAME_MAGIC = b"\x28\xb5\x2f\xfd"
"""First bytes of a zstd frame, RFC 8878 section 3.1.1."""


def journal_path(folder: Path, path: str, arm: str, shard: int = 0) -> Path:
    """Where the captures of one path, arm and shard go."""
    return folder / f"{path}-{arm}-{shard}.jsonl.zst"


@dataclass(slots=True)
class JournalReader:
    """Iterates over the captures of one journal, oldest first.

    After the iteration `whole_bytes` is the length up to the last whole frame and `torn_bytes` what
    lies behind it (0 unless a writer was killed inside a write). Raises InputError, naming file and
    byte, for damage before the tail and for a line that is no capture.
    """

    file: Path
    whole_bytes: int = 0
    torn_bytes: int = 0

    def __iter__(self) -> Iterator[Capture]:
        self.whole_bytes = self.torn_bytes = 0
        try:
            size = self.file.stat().st_size
        except FileNotFoundError:
            fix = "name a journal written by `draftgate gate` or `draftgate replay`"
            raise InputError(f"{self.file}: no such journal", fix) from None
        if size == 0:
            return
        with (
            self.file.open("rb") as handle,
            mmap.mmap(handle.fileno(), 0, access=mmap.ACCESS_READ) as data,
        ):
            yield from self._frames(data)

    def _frames(self, data: mmap.mmap) -> Iterator[Capture]:
        while self.whole_bytes < len(data):
            frame = _frame(data, self.whole_bytes)
            if frame is None:
                if _frame_after(data, self.whole_bytes + 1):
                    raise self._damaged("the zstd frame is damaged, and whole frames follow it")
                self.torn_bytes = len(data) - self.whole_bytes
                return
            lines, length = frame
            for line in lines.splitlines():
                try:
                    capture = decode_record(line)
                except (KeyError, TypeError, ValueError) as error:
                    raise self._damaged(f"not a capture record ({error!r:.200})") from None
                yield capture
            self.whole_bytes += length

    def _damaged(self, why: str) -> InputError:
        fix = "replay this path again, or restore the file from a copy"
        return InputError(f"{self.file}, byte {self.whole_bytes}: {why}", fix)


class JournalWriter:
    """Appends captures to one journal; a second writer of the same file is refused.

    `torn_bytes` tells how much of a torn tail was cut off on opening. Raises InputError where the
    file is locked or damaged before its tail.
    """

    def __init__(self, file: Path) -> None:
        self.file = file
        file.parent.mkdir(parents=True, exist_ok=True)
        self._fd = os.open(file, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o644)
        try:
            fcntl.flock(self._fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
            self.torn_bytes = self._cut_torn_tail()
        except BlockingIOError:
            os.close(self._fd)
            fix = "wait until the other run has ended, or give this one another output folder"
            raise InputError(f"{file}: another process is writing this journal", fix) from None
        except BaseException:
            os.close(self._fd)
            raise
        self._compressor = zstandard.ZstdCompressor(level=3, write_checksum=True)

    def append(self, capture: Capture) -> None:
        """Write one capture as one whole frame."""
        frame = self._compressor.compress(encode_record(capture))
        while frame:
            frame = frame[os.write(self._fd, frame) :]

    def close(self) -> None:
        """Flush to the disk and give the file free."""
        if self._fd >= 0:
            os.fsync(self._fd)
            os.close(self._fd)
            self._fd = -1

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def _cut_torn_tail(self) -> int:
        reader = JournalReader(self.file)
        for _ in reader:
            pass
        if reader.torn_bytes:
            os.ftruncate(self._fd, reader.whole_bytes)
        return reader.torn_bytes


def _frame(data: mmap.mmap, start: int) -> tuple[bytes, int] | None:
    """(content, length in bytes) of the frame at `start`, or None where none is whole."""
    decompressor = zstandard.ZstdDecompressor().decompressobj()
    content, at, step = [], start, 1 << 16
    try:
        while not decompressor.eof and at < len(data):
            content.append(decompressor.decompress(data[at : at + step]))
            at += step
    except zstandard.ZstdError:
        return None
    if not decompressor.eof:
        return None
    return b"".join(content), min(at, len(data)) - len(decompressor.unused_data) - start


def _frame_after(data: mmap.mmap, start: int) -> bool:
    """Whether some whole frame begins at or after `start`."""
    while (start := data.find(FRAME_MAGIC, start)) >= 0:
        if _frame(data, start) is not None:
            return True
        start += 1
    return False
