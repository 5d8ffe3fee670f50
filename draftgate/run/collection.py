"""Taking the evidence: every arm of a path, replayed into the journals of the run's folder.

    candidate: main, plain, sampled        baseline: main, aa, plain, sampled
               messages, responses, …                messages, responses, …

``main`` are the judged captures, ``aa`` is the baseline against itself (the noise floor), and
``plain`` replays a share of the sessions as users send them, without token ids and logprobs; so do
``messages``, ``responses`` and ``completions``, on other routes.
``sampled`` are turns recorded without a temperature once more, as the production sampler does.
Further arms (`draftgate.run.arms`) follow. Every arm has its own cache salt, so that none profits
from another's prefix cache, and while it runs the servers' metrics are sampled.
"""

import asyncio
import random
import zlib
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace

from checks.run.reruns import in_flight_beside
from checks.sessions.in_flight import span_of
from draftgate.config.config import Config
from draftgate.judging.captures import FiledCaptures
from draftgate.progress import Reporter
from draftgate.run.arms import (
    choose_sessions,
    further_arms,
    route_sessions,
    sampled_share,
    side_by_side,
)
from draftgate.run.folder import RunFolder
from draftgate.run.paths import OpenPath
from replay.facts.sampler import MetricsSampler
from replay.launch.gpu import GpuReader
from replay.sending.arm import ArmPlan, ArmResult, run_arm
from replay.sending.endpoint import Endpoint
from replay.sending.fit import Fitted, fit_turns, prompts_of
from replay.sending.job import Job, SessionJobs
from replay.sending.request import gate_request, plain_request, turn_seed
from traces.counted import counted
from traces.journal.arm import MAIN, OTHER_ROUTES, PLAIN, REPEAT, SAMPLED, SERVED, Arm
from traces.journal.exchange import PATHS, TurnId
from traces.routes.asking import asked
from traces.session.grammar import under_grammar
from traces.session.perturbation import perturb

ARMS_OF = {
    "candidate": (MAIN, PLAIN, *OTHER_ROUTES, SAMPLED),
    "baseline": (MAIN, REPEAT, PLAIN, *OTHER_ROUTES, SAMPLED),
}
"""The arms that every run has of each path, in the order they run."""

WARM_UP = ({"role": "user", "content": "Count to three."},)
WARM_UP_TOKENS = 16


class Collector:
    """Runs the arms of one gate run on whichever path is open."""

    def __init__(self, config: Config, folder: RunFolder, reporter: Reporter) -> None:
        self.config = config
        self.folder = folder
        self.reporter = reporter
        self.results: dict[tuple[str, str], ArmResult] = {}
        self.arms = further_arms(config)
        self.routes = {**SERVED, **dict.fromkeys(Arm(PLAIN, 1).rerun_names, SERVED[PLAIN])}
        self.unasked: Counter[tuple[str, str]] = Counter()
        self.gpu = GpuReader()

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
        self, path: OpenPath, chats: Sequence[SessionJobs], limits: Mapping[TurnId, int]
    ) -> None:
        """Every arm of a path. `limits` holds the `max_tokens` of each turn that fits."""
        self.warm_up(path)
        fitting = [[j for j in session if (j.session, j.turn) in limits] for session in chats]
        chosen_for = {
            PLAIN: self.plain_sessions,
            SAMPLED: self.sampled_sessions,
            **{name: self._route_sessions(name) for name in OTHER_ROUTES},
        }
        for arm in ARMS_OF[path.name]:
            chosen = chosen_for.get(arm, list)(fitting if arm in OTHER_ROUTES else chats)
            if chosen:
                self.run_arm(path, arm, chosen, limits, self.config.run.concurrency)
        for further in self.arms:
            if not further.small_kv:
                self.run_further(path, further, chats, limits)

    def run_further(
        self,
        path: OpenPath,
        arm: Arm,
        chats: Sequence[SessionJobs],
        limits: Mapping[TurnId, int],
    ) -> None:
        """A further arm, and on the baseline its repeat."""
        fitting = [[j for j in session if (j.session, j.turn) in limits] for session in chats]
        drawn = side_by_side(self.sessions_of(arm, fitting), arm.concurrency)
        chosen = [[_changed(job, arm) for job in session] for session in drawn]
        for name in arm.names_on(path.name):
            self.run_arm(
                path,
                name,
                chosen,
                limits,
                arm.concurrency,
                prefix_cache=arm.prefix_cache,
                abort=arm.abort,
            )

    def sessions_of(self, arm: Arm, chats: Sequence[SessionJobs]) -> list[SessionJobs]:
        """What an arm replays of `chats`, drawn by the run's seed."""
        return choose_sessions(arm, chats, self.config.run.seed)

    def run_again(
        self,
        path: OpenPath,
        chats: Sequence[SessionJobs],
        limits: Mapping[TurnId, int],
        captures: FiledCaptures,
        suspicious: Mapping[Arm, Sequence[TurnId]],
    ) -> None:
        """Send suspicious turns again, three times, into journals of their own.

        At the arm's concurrency they have the company they had: without the turns that were in
        flight beside them, a few suspects would run as good as alone.
        """
        for arm, turns in suspicious.items():
            sent = {
                turn: span_of(exchange)
                for session in captures.of(("candidate", arm.name))
                for turn, exchange in session.of("candidate", arm.name).items()
            }
            company = in_flight_beside(sent, turns)
            *together, alone = arm.rerun_names
            for name in (*together, alone):
                wanted = set(turns) if name == alone else set(turns) | company
                again: list[SessionJobs] = [
                    [_changed(job, arm) for job in session if (job.session, job.turn) in wanted]
                    for session in chats
                ]
                self.run_arm(
                    path,
                    name,
                    [session for session in again if session],
                    limits,
                    1 if name == alone else arm.concurrency,
                    prefix_cache=arm.prefix_cache,
                    abort=arm.abort and name != alone,
                )

    def abort_notes(self) -> Iterator[str]:
        """How many streams were broken off in the arms that do so."""
        for arm in self.arms:
            if arm.abort and not arm.small_kv:
                for path in PATHS:
                    result = self.results.get((path, arm.name))
                    if result is not None and result.sent:
                        yield broken_off(arm.name, path, result.aborted)

    def plain_sessions(self, chats: Sequence[SessionJobs]) -> list[SessionJobs]:
        """The share of the sessions that is also replayed as users send them; seeded."""
        share = self.config.run.plain_share
        chats = [session for session in chats if session]
        count = min(len(chats), max(1, round(len(chats) * share))) if share else 0
        chosen = random.Random(self.config.run.seed).sample(range(len(chats)), count)
        return [chats[i] for i in sorted(chosen)]

    def _route_sessions(self, arm: str) -> Callable[[Sequence[SessionJobs]], list[SessionJobs]]:
        """What the arm of another route replays."""
        return lambda chats: route_sessions(SERVED[arm], chats, self.config)

    def sampled_sessions(self, chats: Sequence[SessionJobs]) -> list[SessionJobs]:
        """The turns that are sampled besides, with their temperature. Raises ValueError where
        `run.temperature` was not settled (`draftgate.run.target.settle_sampling`)."""
        run = self.config.run
        if run.sampled_share and run.temperature == "model":
            raise ValueError("the model's temperature was not looked up")
        values = {"temperature": run.temperature, "top_p": run.top_p, "top_k": run.top_k}
        return [
            [Job(job.session, job.turn, {**values, **job.request}) for job in session]
            for session in sampled_share(chats, run.sampled_share, run.seed)
        ]

    def run_arm(
        self,
        path: OpenPath,
        arm: str,
        chats: Sequence[SessionJobs],
        limits: Mapping[TurnId, int],
        concurrency: int,
        *,
        prefix_cache: bool = True,
        abort: bool = False,
    ) -> None:
        """One arm, into its journal; finished turns are not sent again."""
        sessions: list[SessionJobs] = [
            [
                self._job(path, arm, job, limits, prefix_cache)
                for job in session
                if (job.session, job.turn) in limits
            ]
            for session in chats
        ]
        if arm in OTHER_ROUTES:
            sessions = self._on_route(path, arm, sessions)
        plan = ArmPlan(
            run=self.folder.run,
            path=path.name,
            arm=arm,
            urls=path.urls,
            concurrency=concurrency,
            api_key=path.api_key,
            timeout_s=self.config.run.timeout_s,
            abort=abort,
        )
        total = sum(len(session) for session in sessions)
        journal = self.folder.journal(path.name, arm)
        sampler = MetricsSampler(
            path.name,
            arm,
            path.urls,
            self.folder.samples(path.name, arm),
            api_key=path.api_key,
            gpu=self.gpu if path.server is not None else None,
        )

        async def replay() -> ArmResult:
            async with sampler:
                return await run_arm(
                    plan,
                    sessions,
                    journal,
                    progress=advance,
                    check_alive=path.check_alive,
                    note=self.reporter.note,
                )

        with self.reporter.step(f"{path.name}: replaying ({arm})", total) as advance:
            self.results[path.name, arm] = asyncio.run(replay())

    @property
    def notes(self) -> list[str]:
        """Which servers asked to wait, took no connection, or lost requests, which nothing else
        shows where the next attempt was answered."""
        found = [
            f"arm {arm}: {counted(turns, 'turn')} not asked on this route: {reason}"
            for (arm, reason), turns in self.unasked.items()
            if turns
        ]
        for (path, arm), result in self.results.items():
            if result.waits:
                found.append(
                    f"{path} (arm {arm}): the server was busy and asked "
                    f"{counted(result.waits, 'time')} to wait, {result.waited_s:,.0f} s in all; "
                    "those turns were sent again"
                )
            if result.refusals:
                found.append(
                    f"{path} (arm {arm}): the server took no connection "
                    f"{counted(result.refusals, 'time')} and was waited for, "
                    f"{result.refused_s:,.0f} s in all; those turns were sent again"
                )
            if result.lost:
                found.append(
                    f"{path} (arm {arm}): {counted(result.lost, 'request')} lost the connection "
                    "before the first byte of an answer; those turns were sent again"
                )
        return found

    def _job(
        self,
        path: OpenPath,
        arm: str,
        job: Job,
        limits: Mapping[TurnId, int],
        prefix_cache: bool,
    ) -> Job:
        served = arm in self.routes
        make: Callable[..., dict[str, object]] = plain_request if served else gate_request
        salt = f"{self.folder.run}-{path.name}-{arm}"
        if not prefix_cache:
            salt += f"-{zlib.crc32(f'{job.session}/{job.turn}'.encode(errors='replace')):08x}"
        request = make(
            job.request,
            model=path.model,
            cache_salt=salt,
            max_tokens=limits[job.session, job.turn],
            seed=self._seed(path, arm, job),
        )
        return Job(job.session, job.turn, request)

    def _on_route(
        self, path: OpenPath, arm: str, sessions: Sequence[SessionJobs]
    ) -> list[SessionJobs]:
        """The turns as the route asks for them; those it has no words for are left out, and
        counted."""
        route = SERVED[arm]
        prompts: Mapping[TurnId, Sequence[int]] = {}
        if route == "completions":
            prompts = asyncio.run(self._prompts(path, sessions))
        found: list[SessionJobs] = []
        for session in sessions:
            jobs = []
            for job in session:
                try:
                    body = asked(route, job.request, prompts.get((job.session, job.turn)))
                except ValueError as reason:
                    self.unasked[arm, str(reason)] += path.name == "candidate"
                    continue
                jobs.append(replace(job, request=body, route=route))
            found.append(jobs)
        return [session for session in found if session]

    async def _prompts(
        self, path: OpenPath, sessions: Sequence[SessionJobs]
    ) -> Mapping[TurnId, Sequence[int]]:
        async with Endpoint(path.urls[0], api_key=path.api_key) as server:
            return await prompts_of(server, path.model, sessions)

    def _seed(self, path: OpenPath, arm: str, job: Job) -> int | None:
        """The seed of a sampled turn that was recorded without one."""
        if self.config.run.sampled_seeds == "none":
            return None
        return turn_seed(self.config.run.seed, path.name, arm, job.session, job.turn)


def _changed(job: Job, arm: Arm) -> Job:
    """The turn as the arm asks for it: with its changes of the prompt, under a grammar."""
    request = job.request
    for name in arm.perturb:
        request = perturb(request, name)
    return Job(job.session, job.turn, under_grammar(request) if arm.grammar else request)


def broken_off(arm: str, path: str, streams: int) -> str:
    """How many streams of a path were closed in the middle, as a note."""
    if not streams:
        return (
            f"arm {arm}: no stream of the {path} could be broken off, for all had ended; it shows "
            "nothing about aborts"
        )
    return f"arm {arm}: {counted(streams, 'stream')} of the {path} were broken off"
