"""Turns that were sent again, for a hard divergence or a stalled stream: did it come back?

Turns with a hard divergence: the answer is a label, ``deterministic`` (wrong masks, rounding) or
``intermittent`` (KV races, mixed steps), and never removes a finding.

Streams that stood still: a machine pauses now and then, whoever is served (a page fault, a
neighbor, a client that waits for its core), so a turn that stalls is sent again, twice with the
turns that were in flight beside it and once alone. A stall that comes back at its place in the
answer, or in two of the three, is the turn's or the path's own and stays what the policy makes of
it (an error); any other is reported as a warning. Without re-runs nothing is excused.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from checks.exact.stream import longest_gap, stall_bound
from checks.findings import CHUNK_STALL, ERROR, GREEDY_DIVERGENCE, INFO, WARNING, Finding
from checks.greedy.judge import TurnResult
from checks.run.exact import PairJudgements
from checks.sessions.evidence import RunFacts
from checks.sessions.in_flight import Span
from checks.tokens.recurrence import Recurrence, recurrence
from traces.journal.arm import PLAIN, Arm
from traces.journal.exchange import Evidence, TurnId
from traces.wire.response import Response

MOST_TURNS = 20
"""So many turns of an arm are run again; the first in report order."""

OFTEN = 2
"""In so many re-runs of a turn a stall is no chance, wherever it lies."""

SAME_PLACE = 2
"""Chunks by which the place of a stall may differ: steps commit more or fewer tokens next time."""


def suspicious_turns(findings: Iterable[Finding]) -> list[TurnId]:
    """Turns with a hard divergence, one that leaves the run open too; the first `MOST_TURNS`."""
    found = [
        (f.session, f.turn) for f in findings if f.code == GREEDY_DIVERGENCE and f.severity != INFO
    ]
    return [(s, t) for s, t in found if s is not None and t is not None][:MOST_TURNS]


def in_flight_beside(sent: Mapping[TurnId, Span], turns: Sequence[TurnId]) -> set[TurnId]:
    """Turns of an arm whose time overlapped that of one of `turns`."""
    spans = [(sent[turn].sent_at, sent[turn].ended_at) for turn in turns]
    return {
        turn
        for turn, other in sent.items()
        if any(other.sent_at <= end and other.ended_at >= start for start, end in spans)
    }


def labelled(result: TurnResult, captures: Evidence, arm: Arm) -> TurnResult:
    """The result of a turn, its hard divergence with how often the token came back."""
    turn = (result.regrets.session, result.regrets.turn)
    reruns = [captures.of("candidate", name) for name in arm.rerun_names]
    again = [rerun[turn].response for rerun in reruns if turn in rerun]
    first = captures.of("candidate", arm.name).get(turn)
    if not again or first is None:
        return result
    findings = (_seen_again(finding, first.response, again) for finding in result.findings)
    return replace(result, findings=tuple(findings))


def _seen_again(finding: Finding, first: Response, again: Sequence[Response]) -> Finding:
    if finding.code != GREEDY_DIVERGENCE or finding.token is None:
        return finding
    seen = recurrence(first, finding.token, again)
    if seen.label is None:
        return finding
    text = f"{finding.message}; {seen.label}: {seen.seen} of {seen.runs} re-runs show it"
    return replace(finding, message=text, detail={**finding.detail, "recurs": seen.label})


def stall_bound_of(gap_p99: float | None) -> float | None:
    """The longest wait (ms) between events that is no stall; `None` where no baseline shows it."""
    return None if gap_p99 is None else stall_bound(gap_p99)


def stalled_turns(captures: Evidence, bound: float | None) -> list[TurnId]:
    """Turns that stalled as users send them."""
    return [
        turn
        for turn, exchange in captures.of("candidate", PLAIN).items()
        if bound is not None
        and turn in captures.of("baseline", PLAIN)
        and longest_gap(exchange.response)[0] > bound
    ]


def stalls_labelled(
    judged: PairJudgements, captures: Evidence, facts: RunFacts, bound: float | None
) -> PairJudgements:
    """The judgements, stalls among them with how often they came back. A severity that the policy
    names stays."""
    again = {} if bound is None else _recurrences(facts, captures, bound)
    named = CHUNK_STALL in facts.policy.severity
    findings = (labelled_stall(finding, again, named) for finding in judged.findings)
    return replace(judged, findings=tuple(findings))


def _recurrences(
    facts: RunFacts, evidence: Evidence, bound: float
) -> dict[TurnId, list[int | None]]:
    """Of each re-run of a turn the chunk before which it stalled; `None` where it did not."""
    found: dict[TurnId, list[int | None]] = {}
    for name in facts.plain.rerun_names:
        for turn, exchange in evidence.of("candidate", name).items():
            gap, place = longest_gap(exchange.response)
            found.setdefault(turn, []).append(place if gap > bound else None)
    return found


def labelled_stall(
    finding: Finding, again: Mapping[TurnId, Sequence[int | None]], named: bool
) -> Finding:
    """A stall with how often it came back; `again` is by turn what each re-run showed, `named`
    whether the policy names the severity."""
    reruns = again.get((finding.session or "", finding.turn or ""))
    if finding.code != CHUNK_STALL or not reruns:
        return finding
    stalls = [place for place in reruns if place is not None]
    seen = Recurrence(len(stalls), len(reruns))
    words = f"{seen.seen} of {seen.runs} re-runs show it"
    there = any(abs(place - finding.detail["chunk"]) <= SAME_PLACE for place in stalls)
    if there or seen.seen >= OFTEN:
        message = f"{finding.message}; {seen.label}: {words}"
        return replace(finding, message=message, detail={**finding.detail, "recurs": seen.label})
    if stalls:
        words = f"{seen.seen} of {seen.runs} re-runs shows one elsewhere in the answer"
    severity = finding.severity if named or finding.severity != ERROR else WARNING
    return replace(
        finding, message=f"{finding.message}; {words}: a pause of the machine", severity=severity
    )
