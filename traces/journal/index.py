"""Where in the journals of a run each turn stands, so that a run is read session by session.

index = JournalIndex()
index.add(folder / "candidate-main-0.jsonl.zst")     # every record passes by, none is kept
exchange = index.read(index.of("candidate")["s1", "t0"])
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from msgspec import MsgspecError, Struct, convert
from msgspec.json import Decoder

from traces.journal.capture_record import decode_record
from traces.journal.exchange import PATHS, ArmKey, Exchange, Stray, TurnId, exchange_of
from traces.journal.frames import FrameAt, FrameReader
from traces.journal.loss import Loss, loss_of
from traces.journal.server_sample import ServerSample
from traces.json_bytes import decode_json
from traces.wire.capture import LOST


class Place(NamedTuple):
    """A record of a journal: the byte at which its frame begins, its line in the frame, and of its
    key what the turn does not tell."""

    journal: Path
    start: int
    line: int
    run: str
    attempt: int


class _Key(Struct):
    """What names a capture; `traces.journal.capture_record` has the whole line."""

    run: str
    path: str
    session: str
    turn: str
    attempt: int
    arm: str = "main"
    ended: str | None = None


_KEY = Decoder(_Key).decode


@dataclass(slots=True)
class JournalIndex:
    """Places by arm and turn: as `Evidence`, with no exchange in memory.

    `samples` are readings of the servers' metrics by arm, `losses` attempts whose connection was
    lost, `strays` records of no path.
    """

    arms: dict[ArmKey, dict[TurnId, Place]] = field(default_factory=dict)
    samples: dict[ArmKey, list[ServerSample]] = field(default_factory=dict)
    losses: list[Loss] = field(default_factory=list)
    strays: list[Stray] = field(default_factory=list)
    _open: dict[Path, FrameAt] = field(default_factory=dict)

    def of(self, path: str, arm: str = "main") -> Mapping[TurnId, Place]:
        """The places of one arm; empty where it did not run."""
        return self.arms.get((path, arm), {})

    def places(self) -> Iterator[Place]:
        for found in self.arms.values():
            yield from found.values()

    def add(self, journal: Path) -> None:
        """Note the records of one journal; of several attempts at a turn the last one counts.

        Raises InputError, naming file and byte, for damage and for what is no capture.
        """
        frames = FrameReader(journal)
        start, line = -1, 0
        for number, record in enumerate(frames, start=1):
            line = line + 1 if frames.whole_bytes == start else 0
            start = frames.whole_bytes
            try:
                key = _key_of(record)
                lost = key.ended is None or key.ended in LOST
                loss = loss_of(decode_record(record)) if lost else None
            except (ValueError, RecursionError) as error:
                raise frames.damaged(f"not a capture record ({error!s:.200})") from None
            if key.path not in PATHS:
                self.strays.append(Stray(journal, number, key.path))
                continue
            if loss is not None:
                self.losses.append(loss)
            found = self.arms.setdefault((key.path, key.arm), {})
            known = found.get((key.session, key.turn))
            if known is None or known.attempt <= key.attempt:
                place = Place(journal, start, line, key.run, key.attempt)
                found[key.session, key.turn] = place

    def read(self, place: Place) -> Exchange:
        """The exchange of that place. Raises InputError, naming file and byte, where it is none."""
        if place.journal not in self._open:
            self._open[place.journal] = FrameAt(place.journal)
        record = self._open[place.journal].lines(place.start)[place.line]
        try:
            return exchange_of(decode_record(record))
        except (ValueError, RecursionError) as error:
            reader = FrameReader(place.journal, place.start)
            raise reader.damaged(f"not a capture record ({error!s:.200})") from None

    def close(self) -> None:
        """Give the journals free."""
        while self._open:
            self._open.popitem()[1].close()


def _key_of(record: bytes) -> _Key:
    try:
        return _KEY(record)
    except (MsgspecError, UnicodeDecodeError):  # a lone surrogate, or no capture at all
        return convert(decode_json(record), _Key)
