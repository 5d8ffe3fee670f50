"""The journal: the captures of one path, arm and shard, as frames of JSON lines.

    <run folder>/candidate-main-0.jsonl.zst

How the file survives crashes is in `traces.journal.frames`, what a line holds in
`traces.journal.capture_record`.
A journal is enough to judge a run again without a server.
"""

from collections.abc import Iterator
from pathlib import Path

from traces.journal.capture_record import decode_record, encode_record
from traces.journal.frames import FrameReader, FrameWriter
from traces.wire.capture import Capture


def journal_path(folder: Path, path: str, arm: str, shard: int = 0) -> Path:
    """Where the captures of one path, arm and shard go."""
    return folder / f"{path}-{arm}-{shard}.jsonl.zst"


class JournalReader:
    """Iterates over the captures of one journal, oldest first; all attempts are there.

    After the iteration `torn_bytes` tells how much of a torn last record was left out. Raises
    InputError, naming file and byte, for damage before the tail and for a line that is no capture.
    """

    def __init__(self, file: Path) -> None:
        self._frames = FrameReader(file)

    @property
    def torn_bytes(self) -> int:
        return self._frames.torn_bytes

    def __iter__(self) -> Iterator[Capture]:
        for line in self._frames:
            try:
                capture = decode_record(line)
            except (ValueError, RecursionError) as error:
                raise self._frames.damaged(f"not a capture record ({error!s:.200})") from None
            yield capture


class JournalWriter(FrameWriter):
    """Appends captures to one journal; each is on file when `add` returns."""

    def add(self, capture: Capture) -> None:
        self.append(encode_record(capture))
