"""What the journals of a run hold, turn by turn: the last settled exchange of every arm.

Beside them: what the servers' metrics said while each arm ran.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from pathlib import Path
from typing import Any

from draftgate.run.folder import RunFolder
from replay.facts.sampler import read_samples
from traces.collection import collector_paused
from traces.journal.journal import JournalReader
from traces.journal.server_sample import ServerSample
from traces.wire.capture import Capture, CaptureKey
from traces.wire.reassembly import response_of
from traces.wire.response import Response

PATHS = ("baseline", "candidate")

TurnId = tuple[str, str]
"""(session, turn)."""

ArmKey = tuple[str, str]
"""(path, arm)."""

ARMS: tuple[ArmKey, ...] = (
    ("candidate", "main"),
    ("baseline", "main"),
    ("baseline", "aa"),
    ("baseline", "verify"),
    ("candidate", "plain"),
    ("baseline", "plain"),
    ("candidate", "rerun-1"),
    ("candidate", "rerun-2"),
    ("candidate", "rerun-alone"),
    ("candidate", "plain-rerun-1"),
    ("candidate", "plain-rerun-2"),
    ("candidate", "plain-rerun-alone"),
)
"""The arms that every run may hold; further ones are read after them."""


@dataclass(frozen=True, slots=True)
class Exchange:
    """One request and what came back, reassembled. Times are in ms since it was sent."""

    key: CaptureKey
    request: dict[str, Any]
    response: Response
    sent_at: float
    ended: str
    ended_ms: float | None
    bytes: int
    error: str | None

    @property
    def turn(self) -> TurnId:
        return self.key.session, self.key.turn

    @property
    def ended_at(self) -> float:
        """Seconds since the epoch when the last byte came."""
        return self.sent_at + (self.ended_ms or 0.0) / 1000


def exchange_of(capture: Capture) -> Exchange:
    """A capture, read."""
    return Exchange(
        key=capture.key,
        request=capture.request,
        response=response_of(capture),
        sent_at=capture.sent_at,
        ended=capture.ended,
        ended_ms=capture.events[-1][0] if capture.events else None,
        bytes=len(capture.body),
        error=capture.error,
    )


@dataclass(frozen=True, slots=True)
class Stray:
    """A record of a journal, counted from 1, whose path is none of `PATHS`."""

    journal: Path
    record: int
    path: str


@dataclass(slots=True)
class Evidence:
    """Exchanges by arm and turn; turns keep the order in which they were first answered.

    `samples` are readings of the servers' metrics by arm, oldest first.
    """

    arms: dict[ArmKey, dict[TurnId, Exchange]] = field(default_factory=dict)
    samples: dict[ArmKey, list[ServerSample]] = field(default_factory=dict)
    strays: list[Stray] = field(default_factory=list)

    def of(self, path: str, arm: str = "main") -> Mapping[TurnId, Exchange]:
        """The exchanges of one arm; empty where it did not run."""
        return self.arms.get((path, arm), {})

    def __iter__(self) -> Iterator[Exchange]:
        for exchanges in self.arms.values():
            yield from exchanges.values()


@collector_paused()
def add_journal(evidence: Evidence, journal: Path) -> None:
    """Add the captures of one journal; of several attempts at a turn the last one counts."""
    for number, capture in enumerate(JournalReader(journal), start=1):
        key = capture.key
        if key.path not in PATHS:
            evidence.strays.append(Stray(journal, number, key.path))
            continue
        found = evidence.arms.setdefault((key.path, key.arm), {})
        known = found.get((key.session, key.turn))
        if known is None or known.key.attempt <= key.attempt:
            found[key.session, key.turn] = exchange_of(capture)


def most_in_flight(exchanges: Collection[Exchange]) -> int:
    """Most requests that were in flight at the same time."""
    ends = [(e.ended_at, -1) for e in exchanges]
    events = sorted([*ends, *((e.sent_at, 1) for e in exchanges)])
    return max(accumulate(step for _, step in events), default=1)


def add_samples(evidence: Evidence, folder: RunFolder) -> None:
    """Add the readings of the servers' metrics of every arm the evidence holds."""
    for path, arm in evidence.arms:
        file = folder.samples(path, arm)
        if file.exists():
            evidence.samples[path, arm] = read_samples(file)


def read_evidence(folder: RunFolder, further: Sequence[ArmKey] = ()) -> Evidence:
    """All arms of a run; `further` names those that not every run has."""
    evidence = Evidence()
    for path, arm in (*ARMS, *further):
        journal = folder.journal(path, arm)
        if journal.exists():
            add_journal(evidence, journal)
    add_samples(evidence, folder)
    return evidence
