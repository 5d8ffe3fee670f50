"""Progress of long steps on stderr: a bar on a terminal, one line now and then elsewhere.

candidate: replaying        118/252  46%  0:01:12 left
"""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Protocol

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from reports.inert import visible

Advance = Callable[[int], None]
"""Says how many of the step's units are done in all."""

PLAIN_EVERY_S = 10.0


class Reporter(Protocol):
    """Where a run says what it is doing."""

    def note(self, text: str) -> None:
        """One line."""

    def step(self, title: str, total: int) -> AbstractContextManager[Advance]:
        """A step of `total` units; the context gives the function that reports units done."""


class TerminalReporter:
    """A rich bar for each step."""

    def __init__(self) -> None:
        self.console = Console(stderr=True)

    def note(self, text: str) -> None:
        self.console.print(visible(text), markup=False, highlight=False)

    @contextmanager
    def step(self, title: str, total: int) -> Iterator[Advance]:
        columns = (
            TextColumn("{task.description}", markup=False),
            BarColumn(),
            MofNCompleteColumn(),
            TimeRemainingColumn(),
        )
        with Progress(*columns, console=self.console, transient=True) as bars:
            task = bars.add_task(title, total=total)
            yield lambda done: bars.update(task, completed=done)


class PlainReporter:
    """Plain lines: a start, one line every ten seconds, an end."""

    def note(self, text: str) -> None:
        print(visible(text), file=sys.stderr, flush=True)

    @contextmanager
    def step(self, title: str, total: int) -> Iterator[Advance]:
        started = last = time.monotonic()
        self.note(f"{title}: started ({total})")

        def advance(done: int) -> None:
            nonlocal last
            now = time.monotonic()
            if now - last >= PLAIN_EVERY_S:
                last = now
                left = (now - started) / done * (total - done) if done else None
                rest = "" if left is None else f", about {left:.0f} s left"
                self.note(f"{title}: {done}/{total}{rest}")

        yield advance
        self.note(f"{title}: done in {time.monotonic() - started:.0f} s")


class SilentReporter:
    """Says nothing; for library use."""

    def note(self, text: str) -> None:
        pass

    @contextmanager
    def step(self, title: str, total: int) -> Iterator[Advance]:
        yield lambda done: None


def reporter() -> Reporter:
    """The one that fits stderr."""
    return TerminalReporter() if sys.stderr.isatty() else PlainReporter()
