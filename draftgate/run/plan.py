"""What will be replayed: the turns of the recorded sessions, as chat requests.

A turn that cannot be replayed is kept with its reason; nothing is left out silently.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from draftgate.config.config import Config
from replay.sending.fit import Fitted
from replay.sending.job import Job
from traces.counted import counted
from traces.errors import InputError
from traces.importing.importer import ImportedFile, import_files
from traces.journal.exchange import TurnId
from traces.session.facts import SessionFacts, facts_of
from traces.session.render import chat_request
from traces.session.session import Session
from traces.session.turn import Fidelity, Turn
from traces.wire.route import PATHS, Route, route_of_format

CAP_REASON = "beyond run.max_turns"


@dataclass(frozen=True, slots=True)
class PlannedSession:
    """A session, its turns as chat requests (`jobs`), and the turns left out with reasons."""

    session: Session
    jobs: tuple[Job, ...]
    skipped: dict[str, str]


@dataclass(frozen=True, slots=True)
class Plan:
    """All sessions of a run. `unread` counts source rows that could not be used, by reason."""

    sessions: tuple[PlannedSession, ...]
    unread: Counter[str] = field(default_factory=Counter)

    @property
    def jobs(self) -> list[tuple[Job, ...]]:
        """The chat requests, session by session."""
        return [planned.jobs for planned in self.sessions]

    @property
    def turns(self) -> int:
        """Turns that will be sent."""
        return sum(len(planned.jobs) for planned in self.sessions)

    @property
    def facts(self) -> tuple[SessionFacts, ...]:
        """What judgement and rows need of each session."""
        return tuple(facts_of(p.session, p.skipped) for p in self.sessions)

    @property
    def skipped(self) -> Counter[str]:
        """Turns left out, by reason."""
        return Counter(r for planned in self.sessions for r in planned.skipped.values())


@dataclass(frozen=True, slots=True)
class Fitting:
    """`limits` holds the `max_tokens` of every turn that fits the servers' context, `too_long` the
    reason of each that does not."""

    limits: Mapping[TurnId, int] = field(default_factory=dict)
    too_long: Mapping[TurnId, str] = field(default_factory=dict)

    @classmethod
    def of(cls, fitted: Fitted) -> "Fitting":
        """What was measured."""
        limits = {
            (job.session, job.turn): int(job.request["max_tokens"])
            for session in fitted.sessions
            for job in session
        }
        return cls(limits, fitted.skipped)


def left_out(fitting: Fitting) -> str:
    """Why fewer turns are sent than were planned: ``13 of 26 turns are too long for the servers``.

    The first reason stands for all.
    """
    lost, fit = len(fitting.too_long), len(fitting.limits)
    (session, turn), reason = next(iter(fitting.too_long.items()))
    return (
        f"{lost:,} of {lost + fit:,} turns are too long for the servers, so {fit:,} are replayed "
        f"(session {session}, turn {turn}: {reason})"
    )


def altered(plan: Plan, limits: Mapping[TurnId, int]) -> Iterator[str]:
    """Recorded options that the main arm asks for otherwise, and in how many turns:
    ```max_tokens` lowered in 3 turns``. `limits` holds the `max_tokens` sent."""
    counts: Counter[str] = Counter()
    for session in plan.jobs:
        for job in session:
            request = job.request
            limit = limits.get((job.session, job.turn), request["max_tokens"])
            counts["max_tokens"] += limit < request["max_tokens"]
            counts["logprobs"] += "logprobs" in request
    words = {
        "max_tokens": "`max_tokens` lowered in",
        "logprobs": "more `top_logprobs` than recorded in",
    }
    for name, text in words.items():
        if counts[name]:
            yield f"{text} {counted(counts[name], 'turn')}"


def make_plan(config: Config) -> Plan:
    """Import what `run.sessions` names and render each replayable turn.

    Files behind the last session or turn that `run.max_sessions` and `run.max_turns` let in are
    not read, however many they are.

    Raises InputError where nothing is named or nothing can be replayed.
    """
    if not config.run.sessions:
        raise InputError("no sessions to replay", "name files, or set `run.sessions`")
    files: list[ImportedFile] = []
    room = config.run.max_turns
    planned: list[PlannedSession] = []
    for session in _sessions(config.run.sessions, files):
        planned.append(_planned(session, room, config.run.fidelity))
        if room is not None:
            room -= len(planned[-1].jobs)
        if room == 0 or len(planned) == config.run.max_sessions:
            break
    unread: Counter[str] = Counter()
    for file in files:
        unread.update(file.skipped)
    plan = Plan(tuple(planned), unread)
    if not plan.turns:
        raise _nothing(files, plan)
    return plan


def _sessions(paths: Iterable[str | Path], files: list[ImportedFile]) -> Iterator[Session]:
    """The sessions of all files, one after the other; `files` gets those that were read whole."""
    for file in import_files(paths):
        yield from file.sessions
        files.append(file)


def _planned(session: Session, room: int | None, fidelity: Collection[Fidelity]) -> PlannedSession:
    jobs: list[Job] = []
    skipped: dict[str, str] = {}
    for turn in session.turns:
        reason = _skip_reason(turn, fidelity, full=room is not None and len(jobs) >= room)
        if reason is None:
            request = chat_request(session, turn)
            jobs.append(Job(session.session_id, turn.turn_id, request, route_of(session)))
        else:
            skipped[turn.turn_id] = reason
    return PlannedSession(session, tuple(jobs), skipped)


def route_of(session: Session) -> Route:
    """The route that the session's turns came by: as its tag says, else that of its agent."""
    tagged = session.tags.get("route")
    return tagged if tagged in PATHS else route_of_format(session.source.format)


def _skip_reason(turn: Turn, fidelity: Collection[Fidelity], *, full: bool) -> str | None:
    if not turn.replayable:
        return turn.skip_reason or "not replayable"
    if turn.fidelity not in fidelity:
        return f"{turn.fidelity}, which run.fidelity leaves out"
    return CAP_REASON if full else None


def _nothing(files: list[ImportedFile], plan: Plan) -> InputError:
    reasons = ", ".join(f"{reason}: {n}" for reason, n in (plan.skipped + plan.unread).items())
    named = (f"{file.file}: {file.reason}" if file.reason else file.file for file in files[:5])
    names = ", ".join(named) or "no file"
    return InputError(
        f"no turn can be replayed ({names}{'; ' + reasons if reasons else ''})",
        "`draftgate inspect FILES` shows what is in them",
    )
