"""Turns sent to running servers, each when its test asks for the answer."""

import asyncio
import itertools
import secrets
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from draftgate.config.config import Config
from draftgate.progress import SilentReporter
from draftgate.pytest_plugin.gated import GatedRun
from draftgate.pytest_plugin.settings import Settings
from draftgate.pytest_plugin.source import Unavailable
from draftgate.run.folder import RunFolder
from draftgate.run.paths import OpenPath, open_paths, section_of
from draftgate.testing.answer import Answer
from draftgate.testing.recorded_turn import RecordedTurn
from replay.sending.arm import ArmPlan, run_arm
from replay.sending.endpoint import Endpoint
from replay.sending.fit import Fitted, fit_turns
from replay.sending.job import Job
from replay.sending.request import gate_request, plain_request
from traces.journal.exchange import PATHS, exchange_of
from traces.journal.journal import JournalReader, journal_path

if TYPE_CHECKING:
    from draftgate.run.outcome import GateOutcome

T = TypeVar("T")
TurnId = tuple[str, str]


class LivePaths:
    """A `Source` over attached servers. The verdict is still that of a whole gate run.

    What was sent and answered is kept in journals below the folder of the test run.
    """

    def __init__(self, settings: Settings, config: Config) -> None:
        self.config = config
        self._gated = GatedRun(settings, config)
        self._salt = secrets.token_hex(4)
        self._numbers = itertools.count()
        self._open: dict[str, OpenPath] = {}
        self._limits: dict[TurnId, int] = {}

    def turns(self) -> list[RecordedTurn]:
        """The turns the configuration replays."""
        return self._gated.turns()

    def outcome(self, shared: Path) -> "GateOutcome":
        """That of a gate run over all turns."""
        return self._gated.outcome(shared)

    def answer(self, turn: RecordedTurn, path: str, shared: Path) -> Answer:
        """Send the turn to `path` now. Raises `Unavailable` where it does not fit the server."""
        return _apart(lambda: self._answer(turn, path, shared))

    def _answer(self, turn: RecordedTurn, path: str, shared: Path) -> Answer:
        opened = self._opened(path)
        request = gate_request(
            turn.request,
            model=opened.model,
            cache_salt=f"pytest-{self._salt}-{path}",
            max_tokens=self._limit(turn),
            seed=self.config.run.seed,
        )
        plan = ArmPlan(
            run=f"pytest-{self._salt}",
            path=path,
            arm="main",
            urls=opened.urls,
            concurrency=1,
            api_key=opened.api_key,
            timeout_s=self.config.run.timeout_s,
        )
        folder = shared / f"live-{self._salt}"
        folder.mkdir(parents=True, exist_ok=True)
        journal = journal_path(folder, path, turn.name, next(self._numbers))
        asyncio.run(run_arm(plan, [[Job(turn.session, turn.turn, request)]], journal))
        *_, capture = JournalReader(journal)
        return Answer.of_exchange(exchange_of(capture), turn.name)

    def _opened(self, path: str) -> OpenPath:
        if path not in self._open:
            if not section_of(self.config, path).urls:
                raise Unavailable(f"no URL of the {path} is named: --draftgate-{path}-url")
            nowhere = RunFolder(Path())
            with open_paths(self.config, [path], nowhere, SilentReporter()) as paths:
                self._open[path] = paths[path]
        return self._open[path]

    def _limit(self, turn: RecordedTurn) -> int:
        """The same `max_tokens` on both paths: what is left of the context, as the gate does."""
        key = turn.session, turn.turn
        if key not in self._limits:
            known = [path for path in PATHS if section_of(self.config, path).urls]
            fitted = asyncio.run(self._fitted(turn, self._opened(known[-1])))
            if fitted.skipped:
                raise Unavailable(f"{turn.name}: {fitted.skipped[key]}")
            self._limits[key] = int(fitted.sessions[0][0].request["max_tokens"])
        return self._limits[key]

    async def _fitted(self, turn: RecordedTurn, opened: OpenPath) -> Fitted:
        request = plain_request(
            turn.request,
            model=opened.model,
            cache_salt="fit",
            max_tokens=self.config.run.max_tokens,
        )
        async with Endpoint(opened.urls[0], api_key=opened.api_key) as server:
            return await fit_turns(server, opened.model, [[Job(turn.session, turn.turn, request)]])


def _apart(work: Callable[[], T]) -> T:
    """Done in a thread of its own: a test may itself run inside an event loop."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(work).result()
