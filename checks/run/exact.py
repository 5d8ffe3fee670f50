"""The exact checks of every pair of a session, and the controls planted in copies of them."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from checks.bounds import fired
from checks.controls.pair_control import Planted
from checks.controls.pairs import plant_pair_controls
from checks.controls.unchanged import Copies, copy_turns
from checks.exact.judge import Judgement, judge_pair
from checks.findings import Finding, NotJudged
from checks.greedy.judge import TurnResult
from checks.greedy.turn import GreedyTurn
from checks.pair import Pair
from checks.policy import Policy
from checks.run.floor import RunFloor
from checks.sessions.evidence import RunFacts
from checks.sessions.pairs import LivePair
from traces.journal.arm import MAIN


@dataclass(frozen=True, slots=True)
class PairJudgements:
    """Findings of the exact checks, placed; and what could not be judged, by code and reason."""

    findings: tuple[Finding, ...] = ()
    not_judged: Mapping[tuple[str, str], int] = field(default_factory=dict)

    def __add__(self, other: "PairJudgements") -> "PairJudgements":
        counts = Counter(self.not_judged) + Counter(other.not_judged)
        return PairJudgements(self.findings + other.findings, counts)


def checked(pairs: Sequence[LivePair]) -> list[Judgement]:
    """Every check without tolerance, on every pair; forks are judged by the whole run."""
    return [judge_pair(live.pair, forks=False) for live in pairs]


def judge_pairs(
    pairs: Sequence[LivePair], judgements: Sequence[Judgement], policy: Policy
) -> PairJudgements:
    """What was found in some pairs (`checked`), placed and at the severity of the policy."""
    findings: list[Finding] = []
    not_judged: Counter[tuple[str, str]] = Counter()
    for live, judged in zip(pairs, judgements, strict=True):
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


def plant_session(
    pairs: Sequence[LivePair],
    judgements: Sequence[Judgement],
    turns: Sequence[tuple[GreedyTurn, TurnResult]],
    floor: RunFloor,
    facts: RunFacts,
) -> tuple[tuple[Planted, ...], Copies]:
    """The controls that are planted in a session's own turns: faults, and unchanged copies.
    `judgements` are those of `pairs` as they came."""
    named = [
        ("/".join(live.turn), live.pair, fired(judged.findings))
        for live, judged in zip(pairs, judgements, strict=True)
    ]
    planted = plant_pair_controls(named, floor.donors, exact_checks, facts.seed)
    judged = [(pair, own) for _, pair, own in named]
    return planted, copy_turns(turns, judged, exact_checks, floor.arms[MAIN].noise)
