"""Logs that hold one session, row after row, in the order things happened."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any

from traces.readers.chat.builder import SessionBuilder
from traces.readers.chat.chat import ChatReader
from traces.readers.chat.items import Item
from traces.readers.chat.transcript import add_thread
from traces.readers.intake import Intake
from traces.session.session import Session
from traces.session.turn import Fidelity


@dataclass
class Log:
    """State while the rows of one session go by; a format says in `take` what a row means."""

    builder: SessionBuilder
    transcript: list[Item] = field(default_factory=list)
    fidelity: Fidelity = "rebuilt"

    def __post_init__(self) -> None:
        """Prepare to read messages."""
        self.chat = ChatReader(self.builder.intake.blobs)

    def take(self, number: int, row: dict[str, Any]) -> str | None:
        """Take a row; the reason why it is not used, if it is not."""
        raise NotImplementedError

    def finish(self) -> None:
        """Called after the last row."""

    def read(self, rows: Iterable[tuple[int, Any]]) -> Iterator[Session]:
        """Take all rows, keep the account, and yield the session if it has a turn."""
        ledger = self.builder.intake.ledger
        for number, value in rows:
            before = self.chat.left_out
            reason = self.take(number, value) if isinstance(value, dict) else "not_an_object"
            if reason is not None:
                ledger.skip(number, reason)
                continue
            ledger.use(number)
            if self.chat.left_out > before:
                self.builder.left_out(number, self.chat.left_out - before)
                self.fidelity = "lossy"
        self.finish()
        add_thread(self.builder, self.transcript, fidelity=self.fidelity)
        if self.builder.turn_count:
            yield self.builder.build()


def runs(
    rows: Iterable[tuple[int, Any]], name_of: Callable[[dict[str, Any]], str]
) -> Iterator[Iterator[tuple[int, Any]]]:
    """The stretches of a log that several runs wrote into, each to be read to its end.

    `name_of` a row is that of its run, empty if the row does not say: it belongs to the run so far.
    """
    current = ""

    def run(numbered: tuple[int, Any]) -> str:
        nonlocal current
        row = numbered[1]
        current = (name_of(row) if isinstance(row, dict) else "") or current
        return current

    for _, stretch in groupby(rows, run):
        yield stretch


def entries(intake: Intake, values: Iterable[Any]) -> Iterator[tuple[int, Any]]:
    """The entries of a list inside a document, as rows."""
    for number, value in enumerate(values, 1):
        intake.ledger.see(number)
        yield number, value
