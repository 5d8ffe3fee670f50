"""Running one arm: the turns of many sessions through one path, into the journal.

Sessions run side by side up to the concurrency; the turns of one session run one after the other,
always against the same URL, so that its prefix cache is found again. A turn that the journal
already holds an answer to is not sent again.
"""

import asyncio
import time
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from pathlib import Path

from replay.sending.client import StreamClient
from replay.sending.job import Job, SessionJobs
from replay.sending.refusal import asked_wait, context_refusal
from replay.sending.resume import Finished, finished_turns, request_digest, settles
from traces.errors import DraftgateError, InputError, ServerError
from traces.journal.journal import JournalWriter
from traces.wire.capture import Capture, CaptureKey

FEWEST_EVENTS = 2
"""A stream is closed after so many events at the earliest: the role, and a token."""

GIVE_UP_AFTER = 3
"""So many turns in a row without any answer mean that the server is gone."""


@dataclass(frozen=True, slots=True)
class ArmPlan:
    """How to run it. `retries` counts further attempts at a turn of which nothing was received;
    `patience_s` is how long a turn waits in all for a busy server that says when to come back, and
    for one that takes no connection: it may be restarting.
    With `abort` another turn's request goes before each, and its stream is closed early.
    """

    run: str
    path: str
    arm: str
    urls: tuple[str, ...]
    concurrency: int
    api_key: str = field(default="", repr=False)
    timeout_s: float = 600.0
    retries: int = 2
    retry_wait_s: float = 0.5
    abort: bool = False
    patience_s: float = 300.0


@dataclass(slots=True)
class ArmResult:
    """What happened: turns `sent` and answered now, `resumed` from the journal, `failed` without
    any answer (their attempts are in the journal), and `skipped` as too long, with the reason per
    (session, turn); skipped turns are among the sent or resumed ones. `torn_bytes` of an earlier
    writer's last record were cut off. `aborted` streams were closed early, on purpose. `waits` for
    a busy server, `waited_s` seconds in all; `refusals` counts the waits for one that took no
    connection, `refused_s` their seconds; `lost` the attempts whose connection was lost before the
    first byte, whatever came of the turn.
    """

    sent: int = 0
    resumed: int = 0
    failed: int = 0
    torn_bytes: int = 0
    aborted: int = 0
    skipped: dict[tuple[str, str], str] = field(default_factory=dict)
    waits: int = 0
    waited_s: float = 0.0
    refusals: int = 0
    refused_s: float = 0.0
    lost: int = 0

    @property
    def done(self) -> int:
        """Turns dealt with."""
        return self.sent + self.resumed + self.failed


async def run_arm(
    plan: ArmPlan,
    sessions: Sequence[SessionJobs],
    journal: Path,
    *,
    progress: Callable[[int], None] = lambda done: None,
    check_alive: Callable[[], None] = lambda: None,
    note: Callable[[str], None] = lambda text: None,
) -> ArmResult:
    """Send every turn once; `progress` gets the number of turns done in all, `note` a line about
    a server that is waited for.

    `check_alive` raises ServerError when a launched server has died; it is asked whenever a turn
    got no answer. Raises ServerError too when `GIVE_UP_AFTER` turns in a row got none, and
    InputError where the journal holds other requests for the same turns. Whatever ends the run
    early (an error, Ctrl-C), every finished turn is in the journal.
    """
    if not plan.urls:
        raise ServerError(f"path {plan.path}: no URL to send to", "set `urls`, or launch a server")
    async with AsyncExitStack() as stack:
        writer = stack.enter_context(JournalWriter(journal))
        clients = [
            await stack.enter_async_context(
                StreamClient(
                    url,
                    api_key=plan.api_key,
                    timeout_s=plan.timeout_s,
                    connections=2 * plan.concurrency,
                )
            )
            for url in plan.urls
        ]
        finished = finished_turns(journal, plan.run)
        runner = _Runner(plan, writer, clients, finished, progress, check_alive)
        runner.note = note
        runner.decoys = decoys(sessions) if plan.abort else {}
        waiting = iter(sessions)
        try:
            async with asyncio.TaskGroup() as group:
                for _ in range(min(plan.concurrency, len(sessions))):
                    group.create_task(runner.work(waiting))
        except ExceptionGroup as errors:
            raise _first(errors) from errors
    return runner.result


def decoys(sessions: Sequence[SessionJobs]) -> dict[tuple[str, str], Job]:
    """By turn, the turn whose stream is broken off before it: one far away in the list, so of
    another session where there is one. What is left of it is then not the turn's own."""
    jobs = [job for session in sessions for job in session]
    away = (len(jobs) + 1) // 2
    return {
        (job.session, job.turn): jobs[(place + away) % len(jobs)] for place, job in enumerate(jobs)
    }


class _Runner:
    """The state the workers of one arm share."""

    def __init__(
        self,
        plan: ArmPlan,
        writer: JournalWriter,
        clients: Sequence[StreamClient],
        finished: dict[tuple[str, str], Finished],
        progress: Callable[[int], None],
        check_alive: Callable[[], None],
    ) -> None:
        self.plan = plan
        self.writer = writer
        self.clients = clients
        self.finished = finished
        self.progress = progress
        self.check_alive = check_alive
        self.result = ArmResult(torn_bytes=writer.torn_bytes)
        self.unanswered = 0
        self.decoys: Mapping[tuple[str, str], Job] = {}
        self.note: Callable[[str], None] = lambda text: None
        self.awaited: set[str] = set()

    async def work(self, waiting: Iterator[SessionJobs]) -> None:
        """Take one session after the other until none is left."""
        for session in waiting:
            for job in session:
                await self._turn(job)
                self.progress(self.result.done)

    async def _turn(self, job: Job) -> None:
        before = self.finished.get((job.session, job.turn))
        if before is not None:
            self._refuse_other_request(job, before)
            if before.answered:
                self.result.resumed += 1
                self._note_skip(job, before.skipped)
                return
        if (decoy := self.decoys.get((job.session, job.turn))) is not None:
            self.result.aborted += await self._client(job.session).abort(
                decoy.request, FEWEST_EVENTS + zlib.crc32(job.turn.encode(errors="replace")) % 5
            )
        attempt = before.attempts if before else 0
        patience = self.plan.patience_s
        left = self.plan.retries + 1
        while left:
            capture = await self._send(job, attempt)
            attempt += 1
            asked = asked_wait(capture)
            if asked is not None and asked <= patience:
                patience -= await self._wait(asked)
                continue
            if capture.ended == "refused":
                patience -= await self._until_taken(job, capture, patience)
                continue
            if asked is not None or settles(capture):
                self.unanswered = 0
                self.result.sent += 1
                self._note_skip(job, context_refusal(capture))
                if capture.ended == "error":
                    self.check_alive()
                return
            self.result.lost += 1
            self.check_alive()
            await asyncio.sleep(self.plan.retry_wait_s)
            left -= 1
        self.result.failed += 1
        self.unanswered += 1
        if self.unanswered >= GIVE_UP_AFTER:
            # A launched server may still be dying; its own last words are the better error.
            for _ in range(GIVE_UP_AFTER):
                await asyncio.sleep(self.plan.retry_wait_s)
                self.check_alive()
            raise self._gone(job, capture)

    async def _wait(self, asked: float) -> float:
        """Do as a busy server asks; the answer is how long that took, at least."""
        wait = max(asked, self.plan.retry_wait_s)
        self.result.waits += 1
        self.result.waited_s += wait
        await asyncio.sleep(wait)
        return wait

    async def _until_taken(self, job: Job, capture: Capture, patience: float) -> float:
        """Wait until the server takes a connection; the answer is how long that took.

        Raises ServerError where it takes none for `patience` seconds.
        """
        began, client = time.monotonic(), self._client(job.session)
        self.result.refusals += 1
        if client.base_url not in self.awaited:
            self.awaited.add(client.base_url)
            self.note(
                f"path {self.plan.path}: {client.base_url} takes no connection; it is waited for, "
                f"up to {patience:.0f} s"
            )
        while True:
            self.check_alive()
            await asyncio.sleep(self.plan.retry_wait_s)
            waited = time.monotonic() - began
            if waited > patience:
                self.result.failed += 1
                raise self._gone(job, capture)
            if await client.takes_connections():
                self.awaited.discard(client.base_url)
                self.result.refused_s += waited
                return waited

    async def _send(self, job: Job, attempt: int) -> Capture:
        plan = self.plan
        key = CaptureKey(plan.run, plan.path, plan.arm, job.session, job.turn, attempt)
        capture = await self._client(job.session).send(key, job.request, job.route)
        self.writer.add(capture)
        return capture

    def _client(self, session: str) -> StreamClient:
        """The same one for a session in every arm, run and shard."""
        return self.clients[zlib.crc32(session.encode(errors="replace")) % len(self.clients)]

    def _note_skip(self, job: Job, reason: str | None) -> None:
        if reason is not None:
            self.result.skipped[job.session, job.turn] = reason

    def _refuse_other_request(self, job: Job, before: Finished) -> None:
        if before.digest != request_digest(job.request):
            raise InputError(
                f"{self.writer.file}: session {job.session}, turn {job.turn}: the journal holds "
                "another request for this turn",
                "the sessions or the configuration have changed; start a new run",
            )

    def _gone(self, job: Job, capture: Capture) -> ServerError:
        url = self._client(job.session).base_url
        return ServerError(
            f"path {self.plan.path}: {url} gives no answer any more "
            f"(session {job.session}, turn {job.turn}: {capture.error})",
            "start the server again and run the same command with its run id; "
            "finished turns are kept",
        )


def _first(errors: ExceptionGroup[Exception]) -> Exception:
    """The error worth showing: one that says how to fix it, else the first."""
    fixable = [e for e in errors.exceptions if isinstance(e, DraftgateError)]
    return fixable[0] if fixable else errors.exceptions[0]
