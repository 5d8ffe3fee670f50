"""What is kept in memory of an exchange while it passes: bytes and times, nothing parsed."""

import time
from dataclasses import dataclass, field

from replay.writing.exchanged import TURN_BYTES, Exchanged
from traces.wire.route import PATHS

TURNS = frozenset(PATHS.values())
"""Paths of vLLM 0.32 whose exchanges are turns."""

HELD_BYTES = 512 << 20
"""Of all exchanges in memory: those that are passing, and those the writer has not confirmed."""


@dataclass(slots=True)
class Held:
    """Bytes in memory, of all tapes and of the queue."""

    bytes: int = 0
    limit: int = HELD_BYTES


@dataclass(slots=True)
class Tape:
    """One passing exchange on a recorded route. `spoiled` says why it cannot be recorded, where
    that is known already; nothing more is kept of it then."""

    number: int
    route: str
    held: Held
    request_encoding: str = ""
    answer_encoding: str = ""
    answer_type: str = ""
    status: int | None = None
    spoiled: str | None = None
    size: int = 0
    sent_at: float = field(default_factory=time.time)
    start: float = field(default_factory=time.perf_counter)
    _asked: list[bytes] = field(default_factory=list)
    _reads: list[tuple[float, bytes]] = field(default_factory=list)

    def asked(self, read: bytes) -> None:
        """A part of the request body went by."""
        if self._fits(read):
            self._asked.append(read)

    def answered(self, read: bytes) -> None:
        """A part of the answer went by."""
        if self._fits(read):
            self._reads.append(((time.perf_counter() - self.start) * 1000, read))

    def spoil(self, reason: str) -> None:
        """It is not recorded, for `reason`; the first one counts."""
        self.spoiled = self.spoiled or reason
        self.held.bytes -= self.size
        self.size = 0
        self._asked, self._reads = [], []

    def exchanged(self, *, cut: bool = False) -> Exchanged:
        """The whole exchange, at its end."""
        return Exchanged(
            number=self.number,
            route=self.route,
            sent_at=self.sent_at,
            ended_ms=(time.perf_counter() - self.start) * 1000,
            answer_type=self.answer_type,
            encodings=(self.request_encoding, self.answer_encoding),
            request=b"".join(self._asked),
            reads=self._reads,
            cut=cut,
        )

    def _fits(self, read: bytes) -> bool:
        if self.spoiled is not None:
            return False
        if self.size + len(read) > TURN_BYTES:
            self.spoil("too_large")
        elif self.held.bytes + len(read) > self.held.limit:
            self.spoil("queue_full")
        else:
            self.size += len(read)
            self.held.bytes += len(read)
            return True
        return False
