"""Turns and answers from the journals of a run: no server, and nothing is sent."""

import warnings
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from checks.run.answered import stray_notes
from draftgate.pytest_plugin.naming import slug, unique
from draftgate.pytest_plugin.recorded import some, turns_of
from draftgate.pytest_plugin.settings import Settings
from draftgate.pytest_plugin.source import Unavailable
from draftgate.run.folder import RunFolder, add_journal
from draftgate.testing.answer import Answer
from draftgate.testing.recorded_turn import RecordedTurn
from traces.errors import InputError
from traces.journal.exchange import Evidence, Exchange, turn_order
from traces.user_paths import matching

if TYPE_CHECKING:
    from draftgate.run.outcome import GateOutcome


class StoredJournals:
    """A `Source` over journals that are on file. They are read when they are first needed."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings

    @cached_property
    def files(self) -> list[Path]:
        """The journals named, and those of the folders named."""
        found: list[Path] = []
        for path in (one for given in self.settings.journals for one in matching(given)):
            found += RunFolder(path).journals() if path.is_dir() else [path]
        if not found:
            named = ", ".join(self.settings.journals)
            raise InputError(f"{named}: no journal there", "name the folder of a run")
        return found

    @cached_property
    def evidence(self) -> Evidence:
        """Everything in them, read."""
        evidence = Evidence()
        for file in self.files:
            if not file.is_file():
                raise InputError(f"{file}: no such journal", "name the folder of a run")
            add_journal(evidence, file)
        for note in stray_notes(evidence.strays):
            warnings.warn(note, stacklevel=2)
        return evidence.in_order()

    def turns(self) -> list[RecordedTurn]:
        """Those of the session files, where some are named; else those in the journals."""
        if self.settings.sessions:
            return turns_of(self.settings.sessions, self.settings.turns)
        exchanges: dict[tuple[str, str], Exchange] = {}
        for path in ("baseline", "candidate"):
            exchanges |= self.evidence.of(path)
        exchanges = dict(sorted(exchanges.items(), key=lambda item: turn_order(item[0])))
        names = unique([_name(exchange) for exchange in exchanges.values()])
        turns = [
            RecordedTurn(name, *exchange.turn, exchange.request)
            for name, exchange in zip(names, exchanges.values(), strict=True)
        ]
        return some(turns, self.settings.turns)

    def answer(self, turn: RecordedTurn, path: str, shared: Path) -> Answer:
        """The journaled answer of the judged arm."""
        exchange = self.evidence.of(path).get((turn.session, turn.turn))
        if exchange is None:
            raise Unavailable(f"the journals hold no answer of the {path} to {turn.name}")
        return Answer.of_exchange(exchange, turn.name)

    def outcome(self, shared: Path) -> "GateOutcome":
        """Judged offline: what only a live baseline can tell counts as not judged."""
        from draftgate.run.offline import judge_journals

        config = Path(self.settings.config) if self.settings.config else None
        return judge_journals(self.files, config)


def _name(exchange: Exchange) -> str:
    calls = exchange.response.tool_calls
    what = (calls[0].name or "call") if calls else "text"
    return "-".join(map(slug, (exchange.key.session, exchange.key.turn, what)))
