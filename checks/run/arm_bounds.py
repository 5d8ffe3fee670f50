"""What a further arm adds to the verdict: it searches, the main arm certifies.

A further arm (another concurrency, a cold cache, a small KV cache) replays a share of the turns to
bring out faults that its load alone brings out. It fails the run like the main arm does. Too small
to certify a rate by itself, it leaves a rate that is merely undecided to the main arm: such a bound
does not apply, and says so. That too little of it could be judged, or none of it ran, stays open.
"""

from dataclasses import replace

from checks.bounds import Bound
from checks.findings import Finding
from checks.greedy.bounds import ARGMAX, COVERAGE, HARD, RATE
from checks.greedy.judge import GreedyJudgement

LEFT_TO_MAIN = frozenset({RATE, ARGMAX})
"""Bounds that say nothing more where an arm leaves them undecided."""

NAMES = (HARD, RATE, ARGMAX, COVERAGE)


def arm_bounds(arm: str, judged: GreedyJudgement) -> tuple[Bound, ...]:
    """The bounds of a further arm: ``greedy_regret_rate[c16]``."""
    return tuple(_of_arm(arm, bound) for bound in judged.bounds if bound.name in NAMES)


def missing_bound(arm: str) -> Bound:
    """The bound of an arm that was asked for and gave nothing to judge."""
    return Bound(f"{HARD}[{arm}]", "inconclusive", "no turn was replayed on both paths")


def _of_arm(arm: str, bound: Bound) -> Bound:
    name = f"{bound.name}[{arm}]"
    if bound.state == "inconclusive" and bound.name in LEFT_TO_MAIN:
        message = f"no fault found, and none ruled out at this size: {bound.message}"
        return replace(bound, name=name, state="not_applicable", message=message, needed=None)
    return replace(bound, name=name)


def arm_findings(arm: str, judged: GreedyJudgement) -> list[Finding]:
    """The findings of a further arm, which know where they were seen."""
    return [of_arm(arm, finding) for finding in judged.findings]


def of_arm(arm: str, finding: Finding) -> Finding:
    """A finding, with the arm it was seen in."""
    return replace(finding, detail={**finding.detail, "arm": arm})
