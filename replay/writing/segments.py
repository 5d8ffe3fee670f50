"""The files of a recording: rows appended as frames, rotated, within a budget of bytes.

    DIR/sessions-20261130T212201-7f3a-0001.jsonl.zst

A session stays in the file it began in, so that an import finds it whole; new sessions go to a new
file once the newest has reached the rotation size. At most `MAX_OPEN` files are open: a session
that outlives them goes on in the newest. Nothing recorded is ever deleted: where the budget is used
up, new rows are refused until somebody frees space.
"""

import os
from collections import OrderedDict
from dataclasses import dataclass, field
from pathlib import Path

from replay.writing.budget import Budget
from traces.errors import OutputError
from traces.journal.frames import FrameWriter

MAX_OPEN = 4


class BudgetUsed(Exception):
    """Another row would not fit into the budget."""


@dataclass(slots=True)
class Segments:
    """`rotate` is in bytes."""

    folder: Path
    prefix: str
    rotate: int
    budget: Budget
    _open: OrderedDict[Path, FrameWriter] = field(default_factory=OrderedDict)
    _sizes: dict[Path, int] = field(default_factory=dict)
    _of: dict[str, Path] = field(default_factory=dict)
    _home: os.stat_result | None = None
    _count: int = 0

    def __post_init__(self) -> None:
        """The folder must be there: a disk that was taken away is not replaced by its mount."""
        self._home = self.folder.stat()

    def append(self, session: str, line: bytes) -> int:
        """Write a row of `session`; returns its size on file. Raises OutputError where the disk
        refuses it or the folder has gone, BudgetUsed where it does not fit."""
        self._check_folder()
        segment = self._segment_of(session)
        frame = segment.frame(line)
        if not self.budget.take(len(frame)):
            raise BudgetUsed
        segment.append_frame(frame)
        self._sizes[segment.file] += len(frame)
        self._of[session] = segment.file
        return len(frame)

    def forget(self, session: str) -> None:
        """Nothing more comes of a session."""
        self._of.pop(session, None)

    def close(self) -> None:
        """Flush and close all files."""
        while self._open:
            self._close(next(iter(self._open)))

    def _segment_of(self, session: str) -> FrameWriter:
        for file in [file for file, segment in self._open.items() if not segment.is_in_place]:
            self._close(file)
        own = self._open.get(self._of.get(session, Path()))
        if own is not None:
            return own
        newest = next(reversed(self._open), None)
        if newest is not None and self._sizes[newest] < self.rotate:
            return self._open[newest]
        self._count += 1
        file = self.folder / f"sessions-{self.prefix}-{self._count:04d}.jsonl.zst"
        self._open[file] = FrameWriter(file)
        self._sizes[file] = 0
        if len(self._open) > MAX_OPEN:
            self._close(next(iter(self._open)))
        return self._open[file]

    def _close(self, file: Path) -> None:
        self._sizes.pop(file)
        self._open.pop(file).close()
        self._of = {session: own for session, own in self._of.items() if own != file}

    def _check_folder(self) -> None:
        try:
            there = self._home is not None and os.path.samestat(self._home, self.folder.stat())
        except OSError:
            there = False
        if not there:
            raise OutputError(f"{self.folder}: the folder has gone", "put it back, or start anew")
