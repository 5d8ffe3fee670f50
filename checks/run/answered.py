"""What the servers answered, and what they counted meanwhile.

Were enough turns answered on both paths? What nobody answered was not judged, and is no pass.

    missing = turns without a whole answer on either path;  missing / turns <= MAX_UNANSWERED

A turn that both servers refuse alike (status 4xx) could never be replayed: it is counted apart, as
a turn too long for the servers is. Records and arms that nothing judges are noted, and answers that
the protocol has otherwise.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence, Sized
from dataclasses import dataclass, field
from itertools import groupby
from typing import Literal

from checks.bounds import Bound
from checks.excerpt import printable
from checks.findings import Finding
from checks.run.exact import of_arm
from checks.servers.server_counters import AnswerSums, judge_counters, other_traffic, sums
from checks.servers.speed import saturation
from checks.sessions.evidence import RunFacts
from traces.journal.arm import MAIN, SAMPLED, SERVED, Arm, further_arm_of
from traces.journal.exchange import (
    PATHS,
    ArmKey,
    Evidence,
    Exchange,
    Stray,
    TurnId,
    turn_order,
)
from traces.journal.path_facts import PathFacts
from traces.journal.server_sample import ServerSample
from traces.journal.vllm_flags import parse_flags
from traces.wire.response import Response

ANSWERED = "answered_turns"

MAX_UNANSWERED = 0.01
"""Largest share of turns that may lack an answer on either path; what nobody answered could hold
any fault."""

Answer = Literal["answered", "refused", "missing"]


@dataclass(frozen=True, slots=True)
class AnsweredTurn:
    """A turn of one arm, and whether both paths answered it in full, both refused it alike, or
    something is missing."""

    arm: str
    session: str
    turn: str
    answer: Answer


def answer_of(baseline: Response | None, candidate: Response | None) -> Answer:
    """What both paths made of a turn; `None`: no capture at all."""
    sides = (baseline, candidate)
    if all(side is not None and _whole(side) for side in sides):
        return "answered"
    statuses = {None if side is None else side.status for side in sides}
    (status, *others) = statuses
    return "refused" if not others and status in range(400, 500) else "missing"


def _whole(response: Response) -> bool:
    return response.status == 200 and bool(response.finish_reason)


def answered_bound(turns: Sequence[AnsweredTurn]) -> Bound:
    """Few enough turns lack an answer. `turns` are those of the judged arms and the served ones."""
    answers = [turn.answer for turn in turns]
    missing, refused = answers.count("missing"), answers.count("refused")
    asked = len(turns) - refused
    share = missing / asked if asked else None
    enough = share is not None and share <= MAX_UNANSWERED
    message = f"{missing} of {asked} turns lack an answer on a path"
    if refused:
        message += f"; {refused} more are refused by both"
    if missing:
        first = next(turn for turn in turns if turn.answer == "missing")
        message += f"; the first: session {first.session}, turn {first.turn} (arm {first.arm})"
    return Bound(
        ANSWERED,
        "pass" if enough else "inconclusive",
        message,
        value=share,
        margin=MAX_UNANSWERED,
        unit="share of turns unanswered",
        n=asked,
        needed=None if enough else f"answers of both paths to {missing} turns",
    )


def answered_turns(
    captures: Evidence, planned: Iterable[TurnId], facts: RunFacts
) -> Iterator[AnsweredTurn]:
    """Every turn that was to be sent, or that a path holds, in judged arms and served ones."""
    for arm in (MAIN, *SERVED, SAMPLED, *(a.name for a in facts.judged_arms if not a.is_main)):
        candidate, baseline = captures.of("candidate", arm), captures.of("baseline", arm)
        for turn in sorted(
            {*(planned if arm == MAIN else ()), *baseline, *candidate}, key=turn_order
        ):
            sides = (_response(baseline.get(turn)), _response(candidate.get(turn)))
            yield AnsweredTurn(arm, *turn, answer_of(*sides))


def _response(exchange: Exchange | None) -> Response | None:
    return None if exchange is None else exchange.response


@dataclass(frozen=True, slots=True)
class Load:
    """What the answers of one path in one arm hold: their sums, when each was sent and ended
    (seconds since the epoch), and whether all came to their end at the first attempt."""

    answers: AnswerSums = field(default_factory=AnswerSums)
    spans: tuple[tuple[float, float], ...] = ()
    clean: bool = True

    def __add__(self, other: "Load") -> "Load":
        return Load(
            self.answers + other.answers, self.spans + other.spans, self.clean and other.clean
        )

    def whole(self, samples: Sequence[ServerSample]) -> bool:
        """Whether all of it came whole, inside the time that was sampled in one go.

        What was in flight when an arm was interrupted was counted by the server, and is in no
        answer.
        """
        if not self.spans or not self.clean:
            return False
        first, last = min(sent for sent, _ in self.spans), max(ended for _, ended in self.spans)
        parts: dict[float | None, list[float]] = {}
        for sample in samples:
            parts.setdefault(sample.part, []).append(sample.at)
        return any(min(at) <= first and last <= max(at) for at in parts.values())


def load_of(exchanges: Collection[Exchange]) -> Load:
    """The load that some exchanges make."""
    return Load(
        sums(exchange.response for exchange in exchanges),
        tuple((exchange.sent_at, exchange.ended_at) for exchange in exchanges),
        all(exchange.ended == "done" and not exchange.key.attempt for exchange in exchanges),
    )


UNCOUNTED = ("--data-parallel-size", "--api-server-count", "--disable-log-stats")
"""With several engines or front ends the counters of one are not those of all; without stats there
are none."""


def counter_findings(loads: Mapping[ArmKey, Load], most: int, facts: RunFacts) -> list[Finding]:
    """METRIC_SUM of every arm on launched servers that was taken in one go; `most` sessions were
    replayed side by side."""
    found = []
    uncounted = {key for arm in facts.arms if arm.abort for key in arm.keys}
    for (path, arm), samples in sorted(facts.samples.items()):
        if (path, arm) in uncounted:  # what was broken off is in no answer
            continue
        load = loads.get((path, arm), Load())
        if _alone(facts.servers.get(path, ())) and load.whole(samples):
            findings = judge_counters(path, arm, samples, load.answers, most)
            found += [of_arm(arm, finding) for finding in findings]
    return found


def load_notes(
    loads: Mapping[ArmKey, Load],
    chunks: Sequence[tuple[int, int]],
    facts: RunFacts,
    arm: Arm,
) -> list[str]:
    """What a reader of an arm's times should know: other clients' traffic, a saturated client."""
    notes = []
    for path in PATHS:
        load, samples = loads.get((path, arm.name), Load()), facts.samples.get((path, arm.name), ())
        if not _launched(facts.servers.get(path, ())) and load.whole(samples):
            notes.append(other_traffic(path, arm.name, samples, load.answers, arm.concurrency))
    slow = saturation(chunks)
    notes.append(None if slow is None else f"arm {arm.name}: {slow}")
    return [note for note in notes if note is not None]


def _launched(facts: Sequence[PathFacts]) -> bool:
    return bool(facts) and all(server.command is not None for server in facts)


def _alone(facts: Sequence[PathFacts]) -> bool:
    """Launched, and with one engine that counts behind one front end."""
    return _launched(facts) and not any(
        flag in parse_flags(server.command or ()) for server in facts for flag in UNCOUNTED
    )


def stray_notes(found: Sequence[Stray]) -> list[str]:
    """One line per journal that holds records of no path."""
    strays = sorted(found, key=lambda stray: str(stray.journal))
    return [
        _note(str(journal), [(stray.record, stray.path) for stray in found])
        for journal, found in groupby(strays, key=lambda stray: stray.journal)
    ]


def _note(journal: str, found: list[tuple[int, str]]) -> str:
    record, path = min(found)
    more = f", and {len(found) - 1} more of them" if len(found) > 1 else ""
    return (
        f"{printable(journal)}, record {record}{more}: path {path[:60]!r} is neither "
        f"{' nor '.join(PATHS)}, so nothing judges it"
    )


def lone_arm_notes(arms: Mapping[ArmKey, Sized], judged: Collection[str]) -> Iterator[str]:
    """One line per arm that is none of the gate's own and was replayed on one path alone; `arms`
    holds what was captured of each."""
    for (path, arm), exchanges in arms.items():
        name = further_arm_of(arm)
        if name is not None and name not in judged:
            turns = len(exchanges)
            yield (
                f"arm {name[:60]!r}: {turns} turns of the {path}, which the other path lacks, so "
                "nothing judges them"
            )


def irregular_notes(seen: Mapping[tuple[str, str], int]) -> list[str]:
    """One line per path and irregularity: a stricter client than draftgate may stumble there."""
    return [
        f"the {path} sent {count} answers in which {text}"
        for (path, text), count in sorted(seen.items())
    ]
