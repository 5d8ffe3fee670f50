"""Running turns with a hard divergence again: does it come back?

The answer labels a finding ``deterministic`` (wrong masks, rounding) or ``intermittent`` (KV races,
mixed steps); it never removes it. Two re-runs are made at the run's concurrency, one alone.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from checks.findings import ERROR, GREEDY_DIVERGENCE, Finding
from checks.recurrence import Recurrence, recurrence
from draftgate.gate.collection import Collector
from draftgate.gate.evidence import TurnId
from draftgate.gate.paths import OpenPath
from draftgate.gate.record import Record
from replay.job import SessionJobs

ALONE = "rerun-alone"
RERUNS = ("rerun-1", "rerun-2", ALONE)
"""Arms of the candidate, in the order they run."""

MOST_TURNS = 20
"""So many turns are run again; the first in report order."""


def suspicious_turns(record: Record) -> list[TurnId]:
    """Turns with a hard divergence, the first `MOST_TURNS` of them."""
    greedy = record.greedy
    if greedy is None:
        return []
    found = [
        (f.session, f.turn)
        for f in greedy.findings
        if f.code == GREEDY_DIVERGENCE and f.severity == ERROR
    ]
    return [(s, t) for s, t in found if s is not None and t is not None][:MOST_TURNS]


def run_again(
    collector: Collector, path: OpenPath, record: Record, turns: Sequence[TurnId]
) -> None:
    """Send those turns again, three times, into journals of their own."""
    wanted = set(turns)
    chats: list[SessionJobs] = [
        [job for job in session if (job.session, job.turn) in wanted]
        for session in record.plan.jobs
    ]
    chosen = [session for session in chats if session]
    for arm in RERUNS:
        concurrency = 1 if arm == ALONE else record.config.run.concurrency
        collector.run_arm(path, arm, chosen, record.limits, concurrency)


def recurrences(record: Record, findings: Sequence[Finding]) -> Mapping[TurnId, Recurrence]:
    """How often the token of each hard divergence came back."""
    main = record.evidence.of("candidate")
    arms = [record.evidence.of("candidate", arm) for arm in RERUNS]
    found: dict[TurnId, Recurrence] = {}
    for finding in findings:
        if finding.code != GREEDY_DIVERGENCE or finding.token is None:
            continue
        turn = (finding.session or "", finding.turn or "")
        again = [arm[turn].response for arm in arms if turn in arm]
        if again and turn in main:
            found[turn] = recurrence(main[turn].response, finding.token, again)
    return found


def labelled(findings: Sequence[Finding], seen: Mapping[TurnId, Recurrence]) -> list[Finding]:
    """Findings whose message says how often they came back."""
    result = []
    for finding in findings:
        again = seen.get((finding.session or "", finding.turn or ""))
        if finding.code == GREEDY_DIVERGENCE and again is not None and again.label is not None:
            text = f"{finding.message}; {again.label}: {again.seen} of {again.runs} re-runs show it"
            finding = replace(
                finding, message=text, detail={**finding.detail, "recurs": again.label}
            )
        result.append(finding)
    return result
