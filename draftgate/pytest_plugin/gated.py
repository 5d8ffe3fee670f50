"""Turns and answers from a gate run that is made for this test run, once for all its processes."""

import hashlib
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from draftgate.config.config import Config
from draftgate.pytest_plugin.once import once
from draftgate.pytest_plugin.recorded import recorded_turns
from draftgate.pytest_plugin.settings import Settings
from draftgate.pytest_plugin.source import Unavailable
from draftgate.pytest_plugin.stored import StoredJournals
from draftgate.testing.answer import Answer
from draftgate.testing.recorded_turn import RecordedTurn

if TYPE_CHECKING:
    from draftgate.run.outcome import GateOutcome


class GatedRun:
    """A `Source` for servers the gate launches: it replays every turn at the run's concurrency,
    ends the servers, and the tests read its journals."""

    def __init__(self, settings: Settings, config: Config) -> None:
        self.settings = settings
        self.config = config
        self._outcome: GateOutcome | None = None
        self._stored: StoredJournals | None = None

    @cached_property
    def _turns(self) -> list[RecordedTurn]:
        return recorded_turns(self.config, self.settings.turns)

    def turns(self) -> list[RecordedTurn]:
        """The turns the configuration replays."""
        if not self.config.run.sessions:
            raise Unavailable("no recorded sessions are named: --draftgate-sessions")
        return self._turns

    def answer(self, turn: RecordedTurn, path: str, shared: Path) -> Answer:
        """From the run's journals; the first answer asked for makes the run."""
        if self._stored is None:
            folder = str(self.outcome(shared).folder)
            self._stored = StoredJournals(replace(self.settings, journals=(folder,)))
        return self._stored.answer(turn, path, shared)

    def outcome(self, shared: Path) -> "GateOutcome":
        """Run the gate, or read what another process of this test run got from it."""
        from draftgate.api import gate
        from draftgate.progress import PlainReporter

        if self._outcome is None:
            digest = hashlib.sha256(self.config.model_dump_json().encode()).hexdigest()[:12]
            self._outcome = once(
                shared, f"gate-{digest}", lambda: gate(self.config, reporter=PlainReporter())
            )
        return self._outcome
