"""Turns with a hard divergence that were sent again: did it come back?

The answer is a label, ``deterministic`` (wrong masks, rounding) or ``intermittent`` (KV races,
mixed steps), and never removes a finding; for a stalled stream: `checks.run.stalls`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from checks.findings import ERROR, GREEDY_DIVERGENCE, Finding
from checks.run.evidence import Gathered, JudgedTurns, RunFacts
from checks.run.stalls import stalled_turns
from checks.tokens.recurrence import Recurrence, recurrence
from traces.journal.arm import MAIN, Arm
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
