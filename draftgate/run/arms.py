"""The arms of a run: the main one, and further ones at another load or with other prompts.

    main             every session, at run.concurrency; the verdict's certificate rests on it
    c1, c4, c16      the speed-up curve, and faults of mixed batches
    no-prefix-cache  no prompt is found in the cache
    small-kv         turns preempt each other (servers of its own)
    date-line, …     the prompts are worded otherwise; on the candidate alone, for its acceptance

The baseline replays each of the others a second time (``NAME-aa``; ``aa`` for main): the noise
floor at the same concurrency, for rates of two concurrencies do not compare. Further arms are off
by default: `run.arms`, or ``--arms all``.
"""

from collections.abc import Iterator, Sequence

from checks.stats.sessions import hash_order
from draftgate.config.config import ArmSection, Config
from replay.sending.job import Job, SessionJobs
from traces.journal.arm import Arm

CURVE = (1, 4, 16)
"""Concurrencies of EAGLE 3.1's announcement."""

READY_SHARE = 0.25
LEAST_SESSIONS = 6
"""Fewer give no interval worth reading."""

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
    for change in READY_CHANGES:
        yield Arm(change.replace("_", "-"), main, READY_SHARE, perturb=(change,))
    if config.launched:
        yield Arm("small-kv", max(main, CURVE[1]), READY_SHARE, small_kv=True)


def _resolved(section: ArmSection, config: Config) -> Arm:
    values = section.model_dump()
    return Arm(**{**values, "concurrency": section.concurrency or config.run.concurrency})
