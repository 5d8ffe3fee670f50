"""Which source a test's settings name."""

from pathlib import Path
from typing import TYPE_CHECKING

from draftgate.config.config import CandidateSection, Config, PathSection, RunSection
from draftgate.config.file import read_config
from draftgate.config.overrides import overrides
from draftgate.pytest_plugin.gated import GatedRun
from draftgate.pytest_plugin.live import LivePaths
from draftgate.pytest_plugin.recorded import turns_of
from draftgate.pytest_plugin.settings import Settings
from draftgate.pytest_plugin.source import Source, Unavailable
from draftgate.pytest_plugin.stored import StoredJournals
from draftgate.testing.answer import Answer
from draftgate.testing.recorded_turn import RecordedTurn

if TYPE_CHECKING:
    from draftgate.run.outcome import GateOutcome

NOTHING = "no journals, endpoints or configuration are named: `draftgate docs pytest`"


class NoPaths:
    """A `Source` where no path is known: recorded turns, and no answer to any."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings

    def turns(self) -> list[RecordedTurn]:
        """Those of the session files."""
        if not self.settings.sessions:
            raise Unavailable(NOTHING)
        return turns_of(self.settings.sessions, self.settings.turns)

    def answer(self, turn: RecordedTurn, path: str, shared: Path) -> Answer:
        """Raises `Unavailable`."""
        raise Unavailable(NOTHING)

    def outcome(self, shared: Path) -> "GateOutcome":
        """Raises `Unavailable`."""
        raise Unavailable(NOTHING)


def source_of(settings: Settings) -> Source:
    """Journals before a configuration, and a configuration with or without URLs before nothing.

    Raises ConfigError for a configuration that is wrong.
    """
    if settings.journals:
        return StoredJournals(settings)
    config = _config(settings)
    if config is None:
        return NoPaths(settings)
    launched = bool(config.server.model) and not (config.baseline.urls and config.candidate.urls)
    return GatedRun(settings, config) if launched else LivePaths(settings, config)


def _config(settings: Settings) -> Config | None:
    """The configuration named, or one made of URLs: one path alone is enough to be asked."""
    urls = {"baseline": settings.baseline_url, "candidate": settings.candidate_url}
    if settings.config:
        changed = overrides(sessions=settings.sessions, urls=dict(urls))
        return read_config(Path(settings.config), changed)
    if not any(urls.values()):
        return None
    return Config.model_construct(
        run=RunSection(sessions=settings.sessions),
        baseline=PathSection(urls=settings.baseline_url),
        candidate=CandidateSection(urls=settings.candidate_url),
    )
