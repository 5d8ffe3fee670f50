"""A request and what came back, and the exchanges of a run by arm and turn."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from traces.journal.server_sample import ServerSample
from traces.routes.asking import chat_view
from traces.routes.reading import read_capture
from traces.wire.capture import Capture, CaptureKey
from traces.wire.response import Response
from traces.wire.route import Route

PATHS = ("baseline", "candidate")

TurnId = tuple[str, str]
"""(session, turn)."""

ArmKey = tuple[str, str]
"""(path, arm)."""

_DIGITS = re.compile(r"([0-9]+)")


def turn_order(turn: TurnId) -> tuple[object, ...]:
    """Sort key: by session, then by turn; ``t10`` comes after ``t2``, as numbers do."""
    session, name = turn
    return *session_order(session), _natural(name), name


def session_order(session: str) -> tuple[object, ...]:
    """Sort key of sessions, as `turn_order` has them."""
    return _natural(session), session


def _natural(name: str) -> list[tuple[int, str]]:
    """Texts and numbers of a name in turn. A longer number is a greater one; no `int`, whose digits
    are limited."""
    parts = _DIGITS.split(name)
    return [
        (len(part.lstrip("0")), part.lstrip("0")) if place % 2 else (0, part)
        for place, part in enumerate(parts)
    ]


@dataclass(frozen=True, slots=True)
class Exchange:
    """One request and what came back, reassembled. Times are in ms since it was sent.

    `request` is a chat request: of another route it is what that body asks for
    (`traces.routes.asking.chat_view`).
    """

    key: CaptureKey
    request: dict[str, Any]
    response: Response
    sent_at: float
    ended: str
    ended_ms: float | None
    bytes: int
    error: str | None
    route: Route = "chat"

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
        request=chat_view(capture.route, capture.request),
        response=read_capture(capture),
        sent_at=capture.sent_at,
        ended=capture.ended,
        ended_ms=capture.events[-1][0] if capture.events else None,
        bytes=len(capture.body),
        error=capture.error,
        route=capture.route,
    )


@dataclass(frozen=True, slots=True)
class Stray:
    """A record of a journal, counted from 1, whose path is none of `PATHS`."""

    journal: Path
    record: int
    path: str


@dataclass(frozen=True, slots=True)
class Evidence:
    """Exchanges by arm and turn; `samples` are readings of the servers' metrics by arm, oldest
    first."""

    arms: dict[ArmKey, dict[TurnId, Exchange]] = field(default_factory=dict)
    samples: dict[ArmKey, list[ServerSample]] = field(default_factory=dict)
    strays: list[Stray] = field(default_factory=list)

    def of(self, path: str, arm: str = "main") -> Mapping[TurnId, Exchange]:
        """The exchanges of one arm; empty where it did not run."""
        return self.arms.get((path, arm), {})

    def in_order(self) -> "Evidence":
        """The same, with the turns of each arm in `turn_order`: journals list them as their answers
        ended, which no two runs repeat, and names, rows, findings and reports must not hang on it.
        """
        arms = {
            arm: dict(sorted(exchanges.items(), key=lambda item: turn_order(item[0])))
            for arm, exchanges in self.arms.items()
        }
        return Evidence(arms, self.samples, self.strays)

    def __iter__(self) -> Iterator[Exchange]:
        for exchanges in self.arms.values():
            yield from exchanges.values()
