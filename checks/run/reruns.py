"""Turns that were sent again, for a hard divergence or a stalled stream: did it come back?

Turns with a hard divergence: the answer is a label, ``deterministic`` (wrong masks, rounding) or
``intermittent`` (KV races, mixed steps), and never removes a finding.

Streams that stood still: a machine pauses now and then, whoever is served (a page fault, a
neighbor, a client that waits for its core), so a turn that stalls is sent again, twice with the
turns that were in flight beside it and once alone. A stall that comes back in any of them is the
turn's or the path's own and stays what the policy makes of it (an error); one that does not is
reported as a warning. A path that stalls often comes back by chance soon enough; without re-runs
nothing is excused.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from checks.exact.stream import longest_gap, stall_bound
from checks.findings import CHUNK_STALL, ERROR, GREEDY_DIVERGENCE, WARNING, Finding
from checks.run.evidence import Gathered, JudgedTurns, RunFacts
from checks.run.pairs import gap_p99
from checks.tokens.recurrence import Recurrence, recurrence
from traces.journal.arm import MAIN, PLAIN, Arm
from traces.journal.exchange import Evidence, Exchange, TurnId

MOST_TURNS = 20
"""So many turns of an arm are run again; the first in report order."""

ArmTurn = tuple[str, str, str]
"""(arm, session, turn)."""


def suspicious_turns(run: Gathered, facts: RunFacts) -> dict[Arm, list[TurnId]]:
    """Turns with a hard divergence, or as users send them with a stall, by arm; the first
    `MOST_TURNS` of each. Arms with small KV caches have servers of their own: `diverged_turns`.
    """
    found = diverged_turns([run.main, *(f for f in run.further if not f.arm.small_kv)])
    if stalled := stalled_turns(facts, run.evidence)[:MOST_TURNS]:
        found[facts.plain] = stalled
    return found


def diverged_turns(judged: Sequence[JudgedTurns]) -> dict[Arm, list[TurnId]]:
    """Turns with a hard divergence, by arm; the first `MOST_TURNS` of each."""
    found = {arm.arm: _suspicious(arm.greedy.findings) for arm in judged}
    return {arm: turns for arm, turns in found.items() if turns}


def _suspicious(findings: Sequence[Finding]) -> list[TurnId]:
    found = [
        (f.session, f.turn) for f in findings if f.code == GREEDY_DIVERGENCE and f.severity == ERROR
    ]
    return [(s, t) for s, t in found if s is not None and t is not None][:MOST_TURNS]


def in_flight_beside(exchanges: Mapping[TurnId, Exchange], turns: Sequence[TurnId]) -> set[TurnId]:
    """Turns whose time overlapped that of one of `turns`."""
    spans = [(exchanges[turn].sent_at, exchanges[turn].ended_at) for turn in turns]
    return {
        turn
        for turn, other in exchanges.items()
        if any(other.sent_at <= end and other.ended_at >= start for start, end in spans)
    }


def recurrences(
    evidence: Evidence, facts: RunFacts, findings: Sequence[Finding]
) -> Mapping[ArmTurn, Recurrence]:
    """How often the token of each hard divergence came back."""
    arms = {arm.name: arm for arm in (facts.main, *facts.arms)}
    found: dict[ArmTurn, Recurrence] = {}
    for finding in findings:
        place = _place(finding)
        if finding.code != GREEDY_DIVERGENCE or finding.token is None or place[0] not in arms:
            continue
        arm, turn = arms[place[0]], place[1:]
        reruns = [evidence.of("candidate", name) for name in arm.rerun_names]
        again = [rerun[turn].response for rerun in reruns if turn in rerun]
        first = evidence.of("candidate", arm.name).get(turn)
        if again and first is not None:
            found[place] = recurrence(first.response, finding.token, again)
    return found


def _place(finding: Finding) -> ArmTurn:
    return str(finding.detail.get("arm", MAIN)), finding.session or "", finding.turn or ""


def labelled(findings: Sequence[Finding], seen: Mapping[ArmTurn, Recurrence]) -> list[Finding]:
    """Findings whose message says how often they came back."""
    result = []
    for finding in findings:
        again = seen.get(_place(finding))
        if finding.code == GREEDY_DIVERGENCE and again is not None and again.label is not None:
            text = f"{finding.message}; {again.label}: {again.seen} of {again.runs} re-runs show it"
            finding = replace(
                finding, message=text, detail={**finding.detail, "recurs": again.label}
            )
        result.append(finding)
    return result


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
    return [_labelled_stall(finding, again, named) for finding in findings]


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


def _labelled_stall(finding: Finding, again: Mapping[TurnId, Recurrence], named: bool) -> Finding:
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
