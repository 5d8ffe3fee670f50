"""Streams that stood still: does the same turn stand still again?

A machine pauses now and then, whoever is served: a page fault, a neighbour, a client that waits for
its core. So a turn that stalls is sent again to the candidate, twice with the turns that were in
flight beside it and once alone. A stall that comes back in any of them is the turn's or the path's
own and stays what the policy makes of it (an error); one that does not is told as a warning. A path
that stalls often comes back by chance soon enough; without re-runs nothing is excused.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from checks.exact.stream import longest_gap, stall_bound
from checks.findings import CHUNK_STALL, ERROR, WARNING, Finding
from checks.run.evidence import RunFacts
from checks.run.pairs import gap_p99
from checks.tokens.recurrence import Recurrence
from traces.journal.arm import PLAIN
from traces.journal.exchange import Evidence, TurnId


def stalled_turns(facts: RunFacts, evidence: Evidence) -> list[TurnId]:
    """Turns that stalled as users send them; none where the policy makes no error of that."""
    bound = _bound(evidence)
    if bound is None or facts.policy.severity.get(CHUNK_STALL, ERROR) != ERROR:
        return []
    return [
        turn
        for turn, exchange in evidence.of("candidate", PLAIN).items()
        if turn in evidence.of("baseline", PLAIN) and longest_gap(exchange.response)[0] > bound
    ]


def stalls_judged(
    facts: RunFacts, evidence: Evidence, findings: Sequence[Finding]
) -> list[Finding]:
    """The findings, stalls among them with how often they came back. A severity that the policy
    names stays."""
    bound = _bound(evidence)
    again = {} if bound is None else _recurrences(facts, evidence, bound)
    named = CHUNK_STALL in facts.policy.severity
    return [_told(finding, again, named) for finding in findings]


def _bound(evidence: Evidence) -> float | None:
    p99 = gap_p99(list(evidence.of("baseline", PLAIN).values()))
    return None if p99 is None else stall_bound(p99)


def _recurrences(facts: RunFacts, evidence: Evidence, bound: float) -> dict[TurnId, Recurrence]:
    gaps: dict[TurnId, list[float]] = {}
    for name in facts.plain.rerun_names:
        for turn, exchange in evidence.of("candidate", name).items():
            gaps.setdefault(turn, []).append(longest_gap(exchange.response)[0])
    return {
        turn: Recurrence(sum(gap > bound for gap in found), len(found))
        for turn, found in gaps.items()
    }


def _told(finding: Finding, again: Mapping[TurnId, Recurrence], named: bool) -> Finding:
    seen = again.get((finding.session or "", finding.turn or ""))
    if finding.code != CHUNK_STALL or seen is None:
        return finding
    words = f"{seen.seen} of {seen.runs} re-runs show it"
    if seen.seen:
        told = f"{finding.message}; {seen.label}: {words}"
        return replace(finding, message=told, detail={**finding.detail, "recurs": seen.label})
    severity = finding.severity if named or finding.severity != ERROR else WARNING
    return replace(
        finding, message=f"{finding.message}; {words}: a pause of the machine", severity=severity
    )
