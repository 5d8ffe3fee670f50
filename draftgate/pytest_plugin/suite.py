"""What the tests of one process share: each source is opened once, each turn answered once."""

from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from draftgate.case_check import case_files
from draftgate.pytest_plugin.capturing import Capturing
from draftgate.pytest_plugin.ending import failed_or_skipped, message_of
from draftgate.pytest_plugin.naming import slug, unique
from draftgate.pytest_plugin.settings import Settings, settings_of_item
from draftgate.pytest_plugin.source import Source, Strict, Unavailable, nothing_is_wrong
from draftgate.pytest_plugin.sources import source_of
from draftgate.testing.both_paths import BothPaths
from draftgate.testing.recorded_turn import RecordedTurn
from traces.cases.case import CaseScenario, read_case
from traces.errors import DraftgateError

if TYPE_CHECKING:
    from draftgate.run.outcome import GateOutcome

NO_CASES = "no case files are named: --draftgate-cases, `draftgate docs pytest`"


class Suite:
    """Made when the first test asks for something of draftgate's, so that others never pay."""

    def __init__(self, strict: bool = False) -> None:
        self._strict = strict
        self._sources: dict[Settings, Source] = {}
        self._turns: dict[Settings, Sequence[RecordedTurn]] = {}
        self._both: dict[tuple[Settings, str, str], BothPaths] = {}

    def parameters(self, name: str, function: pytest.Item) -> list[Any]:
        """What the tests of a function are made of: turns (``recorded_turn``) or scenarios.

        Where nothing is named there is one parameter, which is skipped and says so, or under
        --draftgate-strict an error of the collection, as what is named and cannot be read is.
        """
        try:
            settings = settings_of_item(function)
            found = (
                self._named_turns(settings) if name == "recorded_turn" else self._cases(settings)
            )
            return [pytest.param(value, id=name) for name, value in found]
        except Unavailable as reason:
            return [pytest.param(None, id="none", marks=pytest.mark.skip(reason=str(reason)))]
        except DraftgateError as error:
            raise pytest.Collector.CollectError(message_of(error)) from error

    def _named_turns(self, settings: Settings) -> Iterator[tuple[str, RecordedTurn]]:
        if settings not in self._turns:
            self._turns[settings] = self._source(settings).turns()
        for turn in self._turns[settings]:
            yield turn.name, turn

    @failed_or_skipped()
    def both(self, item: pytest.Item, turn: RecordedTurn, shared: Path) -> BothPaths:
        """A turn as both paths answered it; asked for once, however many tests are about it."""
        settings = settings_of_item(item)
        key = settings, turn.session, turn.turn
        if key not in self._both:
            source = self._source(settings)
            self._both[key] = BothPaths(
                source.answer(turn, "baseline", shared), source.answer(turn, "candidate", shared)
            )
        return self._both[key]

    @failed_or_skipped()
    def outcome(self, item: pytest.Item, shared: Path) -> "GateOutcome":
        """The verdict of the run."""
        return self._source(settings_of_item(item)).outcome(shared)

    @failed_or_skipped()
    def capturing(self, item: pytest.Item, shared: Path) -> Capturing:
        """What asks the paths for a test."""
        return Capturing(self._source(settings_of_item(item)), shared)

    def _source(self, settings: Settings) -> Source:
        if settings not in self._sources:
            source = source_of(settings)
            self._sources[settings] = Strict(source) if self._strict else source
        return self._sources[settings]

    def _cases(self, settings: Settings) -> Sequence[tuple[str, Any]]:
        with nothing_is_wrong() if self._strict else nullcontext():
            if not settings.cases:
                raise Unavailable(NO_CASES)
            return scenarios(settings.cases)


def scenarios(cases: Sequence[str]) -> list[tuple[str, CaseScenario]]:
    """(name, scenario) of every scenario: ``tool-step3-seen``.

    Raises InputError for a folder without case files and for a file that is none.
    """
    found = [
        (file.name.split(".")[0], scenario)
        for file in case_files([Path(case) for case in cases])
        for scenario in read_case(file).scenarios
    ]
    names = unique([f"{slug(file)}-{slug(scenario.name)}" for file, scenario in found])
    return list(zip(names, (scenario for _, scenario in found), strict=True))
