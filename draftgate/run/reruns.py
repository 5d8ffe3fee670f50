"""Running turns with a hard divergence, or a stalled stream, again: does it come back?

For a divergence the answer is a label, ``deterministic`` (wrong masks, rounding) or
``intermittent`` (KV races, mixed steps), and never removes it; for a stall: `checks.run.stalls`.
Two re-runs are made at the arm's concurrency, one alone.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from checks.findings import ERROR, GREEDY_DIVERGENCE, Finding
from checks.tokens.recurrence import Recurrence, recurrence
from draftgate.run.arms import MAIN, Arm, main_arm, plain_arm
from draftgate.run.collection import Collector
from traces.journal.exchange import Exchange, TurnId
from draftgate.run.paths import OpenPath
from draftgate.run.record import Record
from checks.run.stalls import stalled_turns
from replay.job import SessionJobs

MOST_TURNS = 20
"""So many turns of an arm are run again; the first in report order."""

ArmTurn = tuple[str, str, str]
"""(arm, session, turn)."""


def suspicious_turns(record: Record, small_kv: bool = False) -> dict[Arm, list[TurnId]]:
    """Turns with a hard divergence, or as users send them with a stall, by arm; the first
    `MOST_TURNS` of each.

    Arms with small KV caches have servers of their own, and are asked for apart.
    """
    judged = [] if small_kv else [(main_arm(record.config), record.greedy)]
    judged += [(f.arm, f.greedy) for f in record.further.values() if f.arm.small_kv == small_kv]
    found = {arm: _suspicious(greedy.findings) for arm, greedy in judged if greedy is not None}
    if not small_kv:
        stalled = stalled_turns(record.config, record.evidence)
        found[plain_arm(record.config)] = stalled[:MOST_TURNS]
    return {arm: turns for arm, turns in found.items() if turns}


def _suspicious(findings: Sequence[Finding]) -> list[TurnId]:
    found = [
        (f.session, f.turn) for f in findings if f.code == GREEDY_DIVERGENCE and f.severity == ERROR
    ]
    return [(s, t) for s, t in found if s is not None and t is not None][:MOST_TURNS]


def run_again(
    collector: Collector,
    path: OpenPath,
    record: Record,
    suspicious: Mapping[Arm, Sequence[TurnId]],
) -> None:
    """Send those turns again, three times, into journals of their own.

    At the arm's concurrency they have the company they had: without the turns that were in flight
    beside them, a few suspects would run as good as alone.
    """
    for arm, turns in suspicious.items():
        company = in_flight_beside(record.evidence.of("candidate", arm.name), turns)
        *together, alone = arm.rerun_names
        for name in (*together, alone):
            wanted = set(turns) if name == alone else set(turns) | company
            chats: list[SessionJobs] = [
                [job for job in session if (job.session, job.turn) in wanted]
                for session in record.plan.jobs
            ]
            collector.run_arm(
                path,
                name,
                [session for session in chats if session],
                record.limits,
                1 if name == alone else arm.concurrency,
                prefix_cache=arm.prefix_cache,
            )


def in_flight_beside(exchanges: Mapping[TurnId, Exchange], turns: Sequence[TurnId]) -> set[TurnId]:
    """Turns whose time overlapped that of one of `turns`."""
    spans = [(exchanges[turn].sent_at, exchanges[turn].ended_at) for turn in turns]
    return {
        turn
        for turn, other in exchanges.items()
        if any(other.sent_at <= end and other.ended_at >= start for start, end in spans)
    }


def recurrences(record: Record, findings: Sequence[Finding]) -> Mapping[ArmTurn, Recurrence]:
    """How often the token of each hard divergence came back."""
    arms = {arm.name: arm for arm in (main_arm(record.config), *record.arms)}
    found: dict[ArmTurn, Recurrence] = {}
    for finding in findings:
        place = _place(finding)
        if finding.code != GREEDY_DIVERGENCE or finding.token is None or place[0] not in arms:
            continue
        arm, turn = arms[place[0]], place[1:]
        reruns = [record.evidence.of("candidate", name) for name in arm.rerun_names]
        again = [rerun[turn].response for rerun in reruns if turn in rerun]
        first = record.evidence.of("candidate", arm.name).get(turn)
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
