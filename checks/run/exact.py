"""The exact checks of every pair of a run, and the controls planted in copies of them."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from checks.acceptance.profile_row import ProfileRow
from checks.bounds import ControlResult
from checks.controls.acceptance import judge_acceptance_control
from checks.controls.pairs import judge_pair_controls
from checks.controls.rechunk import judge_rechunk_control
from checks.controls.swap import judge_swap
from checks.controls.unchanged import judge_unchanged
from checks.exact.judge import judge_pair
from checks.findings import Finding, NotJudged
from checks.pair import Pair
from checks.policy import Policy
from checks.run.evidence import Gathered
from checks.run.pairs import LivePair
from traces.journal.arm import MAIN

LONGEST_DRAFT = 3
"""k of the re-chunking control: what its parser gets wrong shows from one drafted token on."""


@dataclass(frozen=True, slots=True)
class PairJudgements:
    """Findings of the exact checks, placed; and what could not be judged, by code and reason."""

    findings: tuple[Finding, ...]
    not_judged: Mapping[tuple[str, str], int]


def judge_pairs(pairs: Sequence[LivePair], policy: Policy) -> PairJudgements:
    """Every check without tolerance, on every pair; forks are judged by the whole run."""
    findings: list[Finding] = []
    not_judged: Counter[tuple[str, str]] = Counter()
    for live in pairs:
        judged = judge_pair(live.pair, forks=False)
        findings += [
            with_policy(of_arm(live.arm, f).at(*live.turn), policy) for f in judged.findings
        ]
        not_judged.update((item.code, item.reason) for item in judged.not_judged)
    return PairJudgements(tuple(findings), not_judged)


def with_policy(finding: Finding, policy: Policy) -> Finding:
    """The finding at the severity the policy gives its code; a flaw of both paths stays one."""
    severity = policy.severity.get(finding.code)
    return finding if severity is None else replace(finding, severity=severity)


def of_arm(arm: str, finding: Finding) -> Finding:
    """A finding, with the arm it was seen in."""
    return replace(finding, detail={**finding.detail, "arm": arm})


def exact_checks(pair: Pair) -> list[Finding | NotJudged]:
    """The exact checks as controls want them: one flat list."""
    judged = judge_pair(pair, forks=False)
    return [*judged.findings, *judged.not_judged]


def judge_controls(
    run: Gathered,
    pairs: Sequence[LivePair],
    rows: Sequence[ProfileRow],
    policy: Policy,
    seed: int,
) -> tuple[ControlResult, ...]:
    """Planted faults that must be caught, and the unchanged copy in which nothing may fire."""
    named = [("/".join(live.turn), live.pair) for live in pairs if live.arm == MAIN]
    turns, scores = run.main.turns, run.answers.scores
    swaps = [judge_swap(plan, turns, scores, policy, seed) for plan in run.swaps]
    planted = judge_pair_controls(named, exact_checks, seed)
    acceptance = judge_acceptance_control(rows)
    outputs = [pair.candidate.stream for _, pair in named if pair.candidate.stream is not None]
    rechunked = judge_rechunk_control(outputs, LONGEST_DRAFT, seed)
    same = judge_unchanged(turns, run.main.greedy, named, exact_checks, policy, seed)
    return (*swaps, *planted, rechunked, acceptance, same)
