"""The arms of a run: the main one, and further ones at another load or with other prompts.

    main             every session, at run.concurrency; the verdict's certificate rests on it
    c1, c4, c16, c64 the speed-up curve, and faults of mixed batches
    no-prefix-cache  no prompt is found in the cache
    abort            other clients go away in the middle of their answers
    grammar          every turn under a grammar
    small-kv         turns preempt each other (servers of its own)
    date-line, …     the prompts are worded otherwise; on the candidate alone, for its acceptance

The baseline replays each of the others a second time (``NAME-aa``; ``aa`` for main): the noise
floor at the same concurrency, for rates of two concurrencies do not compare. Further arms are off
by default: `run.arms`, or ``--arms all``.
"""

from collections.abc import Iterator, Sequence

from checks.sampled.sampling import obstacles
from checks.stats.sessions import hash_order
from draftgate.config.config import ArmSection, Config
from replay.sending.job import Job, SessionJobs
from traces.journal.arm import Arm
from traces.wire.route import Route

CURVE = (1, 4, 16, 64)
"""Concurrencies of EAGLE 3.1's announcement, and one that fills a server's batch."""

READY_SHARE = 0.25
LEAST_SESSIONS = 6
"""Fewer give no interval worth reading."""

LEAST_SAMPLED = 24
"""Fewer hold no thousand tokens, without which nothing is said of their distribution."""

READY_CHANGES = ("date_line", "system_as_user")
"""Changes of a prompt that deployments make all the time: of its text, and of its template."""


def choose_sessions(arm: Arm, sessions: Sequence[SessionJobs], seed: int) -> list[SessionJobs]:
    """Sessions of an arm, the longest first so that few are left to drain at the end, and of those
    its turns. A smaller share is part of a larger one.
    """
    known = {session[0].session: session for session in sessions if session}
    wanted = max(round(arm.share * len(known)), arm.concurrency, LEAST_SESSIONS)
    if arm.max_sessions is not None:
        wanted = min(wanted, arm.max_sessions)
    drawn = set(hash_order(known, seed)[:wanted])
    chosen = [session for name, session in known.items() if name in drawn]
    if arm.max_turns is not None:
        chosen = _first_turns(chosen, arm.max_turns)
    return sorted(chosen, key=len, reverse=True)


def side_by_side(sessions: Sequence[SessionJobs], concurrency: int) -> list[SessionJobs]:
    """As many parts as there are to be in flight, as far as the turns go: the longest sessions are
    halved, and the later half, whose history is recorded too, runs beside the earlier one."""
    parts = [session for session in sessions if session]
    while parts and len(parts) < concurrency and len(longest := max(parts, key=len)) > 1:
        place, half = parts.index(longest), (len(longest) + 1) // 2
        parts[place : place + 1] = [longest[:half], longest[half:]]
    return sorted(parts, key=len, reverse=True)


def sampled_share(sessions: Sequence[SessionJobs], share: float, seed: int) -> list[SessionJobs]:
    """The turns that are sampled besides their greedy replay: of those recorded without a
    temperature whose distribution can be rebuilt, `share` of them, and no fewer than
    `LEAST_SAMPLED`; turn by turn in the order of a hash, so that many sessions are among them.
    """
    named = {
        "/".join((job.session, job.turn)): job
        for session in sessions
        for job in session
        if job.request.get("temperature") is None and not obstacles(job.request)
    }
    wanted = max(round(share * len(named)), LEAST_SAMPLED) if share else 0
    drawn = {(named[name].session, named[name].turn) for name in hash_order(named, seed)[:wanted]}
    chosen = [[j for j in session if (j.session, j.turn) in drawn] for session in sessions]
    return [session for session in chosen if session]


def route_sessions(
    route: Route, sessions: Sequence[SessionJobs], config: Config
) -> list[SessionJobs]:
    """The turns that are also asked on `route`: with ``routes = "recorded"`` those whose agent
    sends them there, else of all; the first ones of sessions drawn by the run's seed.
    """
    wanted = config.run.routes
    if wanted == "recorded":
        sessions = [s for s in sessions if s and s[0].route == route]
    elif wanted == "none" or route not in wanted:
        return []
    known = {session[0].session: session for session in sessions if session}
    chosen: list[SessionJobs] = []
    for name in hash_order(known, config.run.seed):
        enough = sum(map(len, chosen)) >= config.run.route_turns
        if enough and len(chosen) >= max(config.run.concurrency, LEAST_SESSIONS):
            break
        chosen.append(known[name])
    return sorted(_first_turns(chosen, config.run.route_turns), key=len, reverse=True)


def _first_turns(sessions: Sequence[SessionJobs], turns: int) -> list[SessionJobs]:
    """The first turn of every session, then the second ones, until there are `turns`."""
    kept: list[list[Job]] = [[] for _ in sessions]
    longest = max((len(session) for session in sessions), default=0)
    for place in range(longest):
        for row, session in enumerate(sessions):
            if turns and place < len(session):
                kept[row].append(session[place])
                turns -= 1
    return [session for session in kept if session]


def further_arms(config: Config) -> tuple[Arm, ...]:
    """The arms `run.arms` asks for; those with servers of their own come last."""
    if config.run.arms == "none":
        return ()
    listed = [_resolved(section, config) for section in config.arms]
    if config.run.arms == "all":
        taken = {arm.name for arm in listed}
        listed += [arm for arm in ready_arms(config) if arm.name not in taken]
    return tuple(sorted(listed, key=lambda arm: arm.small_kv))


def ready_arms(config: Config) -> Iterator[Arm]:
    """What ``all`` adds: the curve but for the point the main arm is, stresses, other prompts."""
    main = config.run.concurrency
    for concurrency in CURVE:
        if concurrency != main:
            yield Arm(f"c{concurrency}", concurrency, READY_SHARE)
    yield Arm("no-prefix-cache", main, READY_SHARE, prefix_cache=False)
    yield Arm("abort", main, READY_SHARE, abort=True)
    yield Arm("grammar", main, READY_SHARE, grammar=True)
    for change in READY_CHANGES:
        yield Arm(change.replace("_", "-"), main, READY_SHARE, perturb=(change,))
    if config.launched:
        yield Arm("small-kv", max(main, CURVE[1]), READY_SHARE, small_kv=True)


def _resolved(section: ArmSection, config: Config) -> Arm:
    values = section.model_dump()
    return Arm(**{**values, "concurrency": section.concurrency or config.run.concurrency})
