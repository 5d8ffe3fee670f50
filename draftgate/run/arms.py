"""The arms of a run: the main one, and further ones at another load or with other prompts.

    main             every session, at run.concurrency; the verdict's certificate rests on it
    c1, c4, c16      the speed-up curve, and faults of mixed batches
    no-prefix-cache  no prompt is found in the cache
    small-kv         turns preempt each other (servers of its own)
    date-line, …     the prompts are told otherwise; on the candidate alone, for its acceptance

The baseline replays each of the others a second time (``NAME-aa``; ``aa`` for main): the noise
floor at the same concurrency, for rates of two concurrencies do not compare. Further arms are off
by default: `run.arms`, or ``--arms all``.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from checks.stats.sessions import hash_order
from draftgate.config.config import ArmSection, Config
from replay.sending.job import Job, SessionJobs

MAIN = "main"
PLAIN = "plain"
CURVE = (1, 4, 16)
"""Concurrencies of EAGLE 3.1's announcement."""

READY_SHARE = 0.25
LEAST_SESSIONS = 6
"""Fewer give no interval worth reading."""

READY_CHANGES = ("date_line", "system_as_user")
"""Changes of a prompt that deployments make all the time: of its text, and of its template."""


@dataclass(frozen=True, slots=True)
class Arm:
    """One of them, every value resolved; the fields are those of `[[arms]]`."""

    name: str
    concurrency: int
    share: float = 1.0
    max_sessions: int | None = None
    max_turns: int | None = None
    repeat: bool = True
    prefix_cache: bool = True
    small_kv: bool = False
    perturb: tuple[str, ...] = ()

    @property
    def paired(self) -> bool:
        """Whether both paths replay it, so that their answers can be held against each other."""
        return not self.perturb

    @property
    def repeat_name(self) -> str:
        """The arm of the baseline against itself."""
        return "aa" if self.name == MAIN else f"{self.name}-aa"

    @property
    def rerun_names(self) -> tuple[str, str, str]:
        """Re-runs of turns with a hard divergence: two at the arm's concurrency, one alone."""
        before = "" if self.name == MAIN else f"{self.name}-"
        return f"{before}rerun-1", f"{before}rerun-2", f"{before}rerun-alone"

    @property
    def on_curve(self) -> bool:
        """Whether its speed is that of the servers as they will be used."""
        return self.paired and self.prefix_cache and not self.small_kv

    def names_on(self, path: str) -> tuple[str, ...]:
        """Journals of the arm on a path, in the order they are taken."""
        if path == "baseline" and not self.paired:
            return ()
        again = path == "baseline" and self.repeat
        return (self.name, self.repeat_name) if again else (self.name,)

    @property
    def keys(self) -> tuple[tuple[str, str], ...]:
        """(path, arm) of everything that is captured for it."""
        again = [("candidate", name) for name in self.rerun_names]
        return (
            ("candidate", self.name),
            ("baseline", self.name),
            ("baseline", self.repeat_name),
            *again,
        )

    def choose(self, sessions: Sequence[SessionJobs], seed: int) -> list[SessionJobs]:
        """Its sessions, the longest first so that few are left to drain at the end, and of those
        its turns. A smaller share is part of a larger one.
        """
        known = {session[0].session: session for session in sessions if session}
        wanted = max(round(self.share * len(known)), self.concurrency, LEAST_SESSIONS)
        if self.max_sessions is not None:
            wanted = min(wanted, self.max_sessions)
        drawn = set(hash_order(known, seed)[:wanted])
        chosen = [session for name, session in known.items() if name in drawn]
        if self.max_turns is not None:
            chosen = _first_turns(chosen, self.max_turns)
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


def main_arm(config: Config) -> Arm:
    """The arm that every run has."""
    return Arm(MAIN, config.run.concurrency)


def plain_arm(config: Config) -> Arm:
    """A share of the turns as users send them."""
    return Arm(PLAIN, config.run.concurrency)


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
