"""Where turns, answers and verdicts come from: stored journals, endpoints, or servers to launch."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from draftgate.testing.answer import Answer
from draftgate.testing.recorded_turn import RecordedTurn
from traces.errors import ConfigError

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


class Strict:
    """A `Source` whose tests fail where they would be skipped: what is not there is an error."""

    def __init__(self, source: Source) -> None:
        self.source = source

    def turns(self) -> Sequence[RecordedTurn]:
        """As the source's. Raises ConfigError."""
        with nothing_is_wrong():
            return self.source.turns()

    def answer(self, turn: RecordedTurn, path: str, shared: Path) -> Answer:
        """As the source's. Raises ConfigError."""
        with nothing_is_wrong():
            return self.source.answer(turn, path, shared)

    def outcome(self, shared: Path) -> "GateOutcome":
        """As the source's. Raises ConfigError."""
        with nothing_is_wrong():
            return self.source.outcome(shared)


@contextmanager
def nothing_is_wrong() -> Iterator[None]:
    """Make an error of `Unavailable`."""
    try:
        yield
    except Unavailable as reason:
        fix = "name it, or take --draftgate-strict (draftgate_strict) out"
        raise ConfigError(str(reason), fix) from None
