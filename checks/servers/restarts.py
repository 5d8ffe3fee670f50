"""SERVER_RESTARTED: a server that ended, or lost its connections, while it was answering.

The next attempt at a turn mostly succeeds, and then nothing else shows that a server crashed. What
shows it: attempts in the journals whose connection was lost before the first byte, and readings of
``/metrics`` in which the process began later, or counters went back.

    candidate   loses turn s3/t1;  process_start_time_seconds 100 -> 900      error
    baseline    loses none

An idle connection that a server closes is no loss: each turn goes over a connection of its own
(`replay.sending.client`). Nor is one that a server does not take: nothing was in flight.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise

from checks.findings import SERVER_RESTARTED, Finding
from traces.journal.exchange import PATHS, ArmKey, Exchange, TurnId, turn_order
from traces.journal.loss import Loss
from traces.journal.server_sample import ServerSample

CLOCKS_S = 60.0
"""By so much may a server's clock run behind this machine's."""

COUNTERS = ("generation_tokens", "prompt_tokens", "prefix_queries")
"""Counters that every server has, and that only grow."""

SHOWN = 5
"""So many turns are named in a sentence; all are in the finding's details."""


@dataclass(frozen=True, slots=True)
class Restart:
    """Between two readings of an arm (seconds since the epoch) its server restarted."""

    path: str
    arm: str
    after: float
    before: float

    def holds(self, loss: Loss) -> bool:
        """Whether a connection was lost between the two readings."""
        return self.after <= loss.lost_at and loss.sent_at <= self.before


@dataclass(frozen=True, slots=True)
class Broken:
    """Turns of an arm that were in flight when their connection was lost; `restarted` where the
    server restarted then."""

    path: str
    arm: str
    turns: tuple[TurnId, ...]
    restarted: bool


def restarts_of(
    samples: Mapping[ArmKey, Sequence[ServerSample]], launched: Collection[str]
) -> list[Restart]:
    """Every restart that the readings of an arm show. `launched` are the paths whose one server the
    gate started, which has another URL when a run is resumed."""
    found = []
    for (path, arm), readings in sorted(samples.items()):
        chains: dict[str, list[ServerSample]] = {}
        for reading in readings:  # as written: a machine's clock may be set between two processes
            chains.setdefault("" if path in launched else reading.url, []).append(reading)
        for chain in chains.values():
            if not _several(chain):
                found += [
                    Restart(path, arm, first.at, second.at)
                    for first, second in pairwise(chain)
                    if _restarted(first, second)
                ]
    return found


def _restarted(first: ServerSample, second: ServerSample) -> bool:
    fell = any(_fell(getattr(first, name), getattr(second, name)) for name in COUNTERS)
    if first.started is None or second.started is None or first.started == second.started:
        return fell
    later = second.started > first.started
    return later and (fell or second.started > first.at - CLOCKS_S)


def _fell(before: float | None, after: float | None) -> bool:
    return before is not None and after is not None and after < before


def _several(chain: Sequence[ServerSample]) -> bool:
    """Whether several servers answer behind one URL: what one said is said again after another."""
    times = [time for time, _ in groupby(reading.started for reading in chain)]
    known = [time for time in times if time is not None]
    if known:
        return len(set(known)) < len(known)
    return sum(_restarted(first, second) for first, second in pairwise(chain)) > 1


def broken_turns(losses: Iterable[Loss], restarts: Sequence[Restart]) -> list[Broken]:
    """The turns that were in flight when a server was lost, by arm; each turn is named once."""
    found = []
    arms: dict[ArmKey, list[Loss]] = {}
    for loss in losses:
        arms.setdefault(loss.arm, []).append(loss)
    for (path, arm), held in sorted(arms.items()):
        named: set[TurnId] = set()
        for restart in restarts:
            if (restart.path, restart.arm) == (path, arm):
                turns = {one.turn for one in held if _in(restart, one)} - named
                found += _broken(path, arm, turns, restarted=True)
                named |= turns
        alone = {one.turn for one in held if _alone(one)} - named
        found += _broken(path, arm, alone, restarted=False)
    return found


def _in(restart: Restart, loss: Loss) -> bool:
    """Whether a turn was in flight when the server restarted."""
    return loss.ended != "refused" and restart.holds(loss)


def _alone(loss: Loss) -> bool:
    """Whether a turn was in flight by its loss alone. A stream that broke off in its middle has
    codes of its own.
    """
    return loss.ended == "error" and not loss.received


def _broken(path: str, arm: str, turns: set[TurnId], *, restarted: bool) -> list[Broken]:
    ordered = tuple(sorted(turns, key=turn_order))
    return [Broken(path, arm, ordered, restarted)] if ordered else []


def judge_losses(
    losses: Iterable[Loss], restarts: Sequence[Restart]
) -> tuple[list[Finding], list[str]]:
    """The findings and the notes of a run's lost attempts and restarts."""
    broken = broken_turns(losses, restarts)
    return list(_findings(broken)), list(_notes(broken, restarts))


def _findings(broken: Sequence[Broken]) -> Iterator[Finding]:
    """An error where the candidate alone lost turns in flight, a warning where both paths did."""
    baseline = {one.restarted for one in broken if one.path == "baseline"}
    for one in broken:
        if one.path == "candidate":
            yield Finding(
                SERVER_RESTARTED,
                _sentence(one),
                session=one.turns[0][0] if len(one.turns) == 1 else None,
                turn=one.turns[0][1] if len(one.turns) == 1 else None,
                baseline_too=one.restarted in baseline,
                detail={
                    "arm": one.arm,
                    "restarted": one.restarted,
                    "turns": ["/".join(turn) for turn in one.turns],
                },
            )


def _notes(broken: Sequence[Broken], restarts: Sequence[Restart]) -> Iterator[str]:
    """What the baseline lost, and every restart with no turn in flight."""
    for one in broken:
        if one.path == "baseline":
            yield _sentence(one)
    met = {(one.path, one.arm) for one in broken if one.restarted}
    for path in PATHS:
        idle = sorted({r.arm for r in restarts if r.path == path and (path, r.arm) not in met})
        if idle:
            yield (
                f"the {path}'s server restarted in arm {', '.join(idle)}, with no turn in "
                "flight: its prefix cache and its counters are empty from there on"
            )


def _sentence(one: Broken) -> str:
    turns = [f"session {session}, turn {turn}" for session, turn in one.turns[:SHOWN]]
    more = len(one.turns) - len(turns)
    what = "restarted" if one.restarted else "lost the connection"
    return (
        f"the {one.path}'s server {what} in arm {one.arm} while it was answering: "
        f"{'; '.join(turns)}{f'; and {more} more' if more else ''}"
    )


def cold_turns(
    exchanges: Mapping[TurnId, Exchange], restarts: Iterable[Restart]
) -> frozenset[TurnId]:
    """Turns of an arm that may have found an empty prefix cache: those sent while the server
    restarted, and the first one of each session after that."""
    cold: set[TurnId] = set()
    for restart in restarts:
        later: dict[str, Exchange] = {}
        for turn, one in sorted(exchanges.items(), key=lambda item: item[1].sent_at):
            if one.sent_at > restart.before:
                later.setdefault(turn[0], one)
            elif one.sent_at >= restart.after:
                cold.add(turn)
        cold |= {one.turn for one in later.values()}
    return frozenset(cold)
