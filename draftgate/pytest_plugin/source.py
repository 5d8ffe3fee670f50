"""Where turns, answers and verdicts come from: stored journals, endpoints, or servers to launch."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from draftgate.testing.answer import Answer
from draftgate.testing.recorded_turn import RecordedTurn

if TYPE_CHECKING:
    from draftgate.run.outcome import GateOutcome


class Unavailable(Exception):
    """What a test asks for cannot be had here, for instance a live answer without a server."""


class Source(Protocol):
    """`shared` is a folder that all processes of this test run share."""

    def turns(self) -> Sequence[RecordedTurn]:
        """The turns tests are made of, always in the same order."""

    def answer(self, turn: RecordedTurn, path: str, shared: Path) -> Answer:
        """What `path` answered to a turn. Raises `Unavailable` where there is no such answer."""

    def outcome(self, shared: Path) -> "GateOutcome":
        """The verdict of the whole run. Raises `Unavailable` where there is nothing to judge."""
