"""Taking the evidence: every arm of a path, replayed into the journals of the run's folder.

    candidate: main, plain        baseline: main, aa, plain

``main`` are the judged captures, ``aa`` is the baseline against itself (the noise floor), and
``plain`` replays a share of the sessions as users send them, without token ids and logprobs.
Every arm has its own cache salt, so that none profits from another's prefix cache.
"""

import asyncio
import random
from collections.abc import Callable, Sequence

from draftgate.config import Config
from draftgate.gate.folder import RunFolder
from draftgate.gate.paths import OpenPath
from draftgate.progress import Reporter
from replay.arm import ArmPlan, ArmResult, run_arm
from replay.endpoint import Endpoint
from replay.facts import gather_facts
from replay.fit import Fitted, fit_turns
from replay.job import Job, SessionJobs
from replay.request import gate_request, plain_request
from traces.path_facts import PathFacts

ARMS_OF = {"candidate": ("main", "plain"), "baseline": ("main", "aa", "plain")}
"""The arms of each path, in the order they run."""

WARM_UP = ({"role": "user", "content": "Count to three."},)
WARM_UP_TOKENS = 16


class Collector:
    """Runs the arms of one gate run on whichever path is open."""

    def __init__(self, config: Config, folder: RunFolder, reporter: Reporter) -> None:
        self.config = config
        self.folder = folder
        self.reporter = reporter
        self.results: dict[tuple[str, str], ArmResult] = {}

    def facts(self, path: OpenPath) -> list[PathFacts]:
        """What every server of a path says of itself; asking also warms it up."""

        async def ask() -> list[PathFacts]:
            return [
                await gather_facts(
                    path.name, url, path.model, api_key=path.api_key, server=path.server
                )
                for url in path.urls
            ]

        return asyncio.run(ask())

    def fit(self, path: OpenPath, chats: Sequence[SessionJobs]) -> Fitted:
        """Leave out the turns too long for the server, and cap the others to the room left."""
        capped = [
            [
                Job(
                    j.session,
                    j.turn,
                    plain_request(
                        j.request,
                        model=path.model,
                        cache_salt="fit",
                        max_tokens=self.config.run.max_tokens,
                    ),
                )
                for j in session
            ]
            for session in chats
        ]

        async def fit() -> Fitted:
            async with Endpoint(path.urls[0], api_key=path.api_key) as server:
                return await fit_turns(server, path.model, capped, progress=advance)

        total = sum(len(session) for session in chats)
        with self.reporter.step(f"{path.name}: measuring prompts", total) as advance:
            return asyncio.run(fit())

    def warm_up(self, path: OpenPath) -> None:
        """Two small turns: the first request after a start takes seconds."""

        async def send() -> None:
            for url in path.urls:
                async with Endpoint(url, api_key=path.api_key) as server:
                    for _ in range(2):
                        request = {
                            "model": path.model,
                            "messages": list(WARM_UP),
                            "max_tokens": WARM_UP_TOKENS,
                            "temperature": 0,
                        }
                        await server.post_json("/v1/chat/completions", request)

        asyncio.run(send())

    def run_path(
        self, path: OpenPath, chats: Sequence[SessionJobs], limits: dict[tuple[str, str], int]
    ) -> None:
        """Every arm of a path. `limits` holds the `max_tokens` of each turn that fits."""
        self.warm_up(path)
        for arm in ARMS_OF[path.name]:
            chosen = self.plain_sessions(chats) if arm == "plain" else chats
            if chosen:
                self.run_arm(path, arm, chosen, limits, self.config.run.concurrency)

    def plain_sessions(self, chats: Sequence[SessionJobs]) -> list[SessionJobs]:
        """The share of the sessions that is also replayed as users send them; seeded."""
        share = self.config.run.plain_share
        chats = [session for session in chats if session]
        count = min(len(chats), max(1, round(len(chats) * share))) if share else 0
        chosen = random.Random(self.config.run.seed).sample(range(len(chats)), count)
        return [chats[i] for i in sorted(chosen)]

    def run_arm(
        self,
        path: OpenPath,
        arm: str,
        chats: Sequence[SessionJobs],
        limits: dict[tuple[str, str], int],
        concurrency: int,
    ) -> None:
        """One arm, into its journal; finished turns are not sent again."""
        sessions = [
            [
                self._job(path, arm, job, limits)
                for job in session
                if (job.session, job.turn) in limits
            ]
            for session in chats
        ]
        plan = ArmPlan(
            run=self.folder.run,
            path=path.name,
            arm=arm,
            urls=path.urls,
            concurrency=concurrency,
            api_key=path.api_key,
            timeout_s=self.config.run.timeout_s,
        )
        total = sum(len(session) for session in sessions)
        journal = self.folder.journal(path.name, arm)
        with self.reporter.step(f"{path.name}: replaying ({arm})", total) as advance:
            self.results[path.name, arm] = asyncio.run(
                run_arm(plan, sessions, journal, progress=advance, check_alive=path.check_alive)
            )

    def _job(self, path: OpenPath, arm: str, job: Job, limits: dict[tuple[str, str], int]) -> Job:
        make: Callable[..., dict[str, object]] = plain_request if arm == "plain" else gate_request
        request = make(
            job.request,
            model=path.model,
            cache_salt=f"{self.folder.run}-{path.name}-{arm}",
            max_tokens=limits[job.session, job.turn],
            seed=self.config.run.seed,
        )
        return Job(job.session, job.turn, request)
