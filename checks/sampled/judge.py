"""Sampled equivalence: do the candidate's tokens follow the baseline's processed distribution?

    judgement = judge_sampled(turns, policy, seed=0)

Seeds do not couple the two paths, so tokens are not compared; the law is. Fail: the e-process
reaches its threshold, or a test that looks once rejects (Holm over all of them), while the
baseline's own tokens pass the same tests. Pass: none of that, and the mean excess surprisal is
inside its margin by two one-sided tests over sessions.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from checks import findings as codes
from checks.bounds import Bound, State, not_applicable
from checks.findings import Finding
from checks.policy import Policy
from checks.sampled.statistics import (
    E_THRESHOLD,
    ArmStatistics,
    design_effect_of,
    rejected,
    statistics_of,
)
from checks.sampled.surprisal import tokens_for_equivalence
from checks.sampled.turn import SampledScores, SampledTurn, ScoredTurn, score_turn
from checks.stats.session_interval import Estimate

EVIDENCE, EXCESS = "sampled_evidence", "sampled_excess_surprisal"

MIN_TOKENS = 1000
"""Fewest sampled tokens whose silence counts as a pass of the tests."""


@dataclass(frozen=True, slots=True)
class SampledJudgement:
    """`candidate` and `baseline` are `None` where nothing of that path could be judged.

    `not_judged` counts turns by reason; `seed` reproduces every draw that randomises a PIT
    (`checks.sampled.pit.pit_draws`).
    """

    bounds: tuple[Bound, ...]
    findings: tuple[Finding, ...]
    candidate: ArmStatistics | None
    baseline: ArmStatistics | None
    not_judged: Mapping[str, int]
    seed: int


def judge_sampled(turns: Sequence[SampledTurn], policy: Policy, seed: int) -> SampledJudgement:
    """Judge all turns with temperature above 0. Order does not matter."""
    return judge_scored([score_turn(turn, seed) for turn in turns], policy, seed)


def judge_scored(turns: Sequence[ScoredTurn], policy: Policy, seed: int) -> SampledJudgement:
    """As `judge_sampled`, of turns whose statistics are known already."""
    if not turns:
        absent = "no turn is sampled"
        bounds = (not_applicable(EVIDENCE, absent), not_applicable(EXCESS, absent))
        return SampledJudgement(bounds, (), None, None, {}, seed)
    ordered = sorted(turns, key=lambda turn: (turn.session, turn.turn))
    scores = [turn.candidate for turn in ordered if turn.candidate is not None]
    own = [turn.baseline for turn in ordered if turn.baseline is not None]
    candidate, baseline = (statistics_of(side, seed) for side in (scores, own))
    evidence = _evidence(candidate, baseline, policy)
    bounds = (evidence, _excess(candidate, baseline, scores, policy))
    shifted = [bound for bound in bounds if bound.state == "fail"]
    found = tuple(Finding(codes.SAMPLED_SHIFT, bound.message) for bound in shifted)
    reasons = Counter(turn.not_judged for turn in ordered if turn.not_judged is not None)
    return SampledJudgement(bounds, found, candidate, baseline, dict(reasons), seed)


def _evidence(
    candidate: ArmStatistics | None, baseline: ArmStatistics | None, policy: Policy
) -> Bound:
    if candidate is None:
        return Bound(EVIDENCE, "inconclusive", "no sampled token could be judged")
    against, own = rejected(candidate, policy), rejected(baseline, policy)
    state: State = "pass"
    if own is not None:
        state, note = "inconclusive", f"the baseline does not follow the rebuilt law itself ({own})"
    elif against is not None and baseline is None:
        state, note = "inconclusive", f"{against}, and no baseline tokens to hold against it"
    elif against is not None:
        state, note = "fail", against
    elif candidate.tokens < MIN_TOKENS:
        state, note = "inconclusive", "too few tokens"
    else:
        note = "no evidence of a shift"
    more = MIN_TOKENS - candidate.tokens
    short = state == "inconclusive" and more > 0
    return Bound(
        EVIDENCE,
        state,
        f"{note}; {candidate.tokens} sampled tokens, e-value {candidate.e.largest:.3g}, surprisal "
        f"z = {candidate.z:.2f}, smooth test p = {candidate.smooth.p:.2g}, "
        f"{candidate.tail.observed} tail tokens where {candidate.tail.expected:.2f} are expected; "
        f"{candidate.open} positions too open to judge",
        value=candidate.e.largest,
        margin=E_THRESHOLD,
        noise_floor=None if baseline is None else baseline.e.largest,
        unit="e-value",
        n=candidate.tokens,
        sessions=candidate.excess.sessions,
        needed=f"about {more:,} more sampled tokens" if short else None,
    )


def _excess(
    candidate: ArmStatistics | None,
    baseline: ArmStatistics | None,
    scores: Sequence[SampledScores],
    policy: Policy,
) -> Bound:
    margin = policy.excess_surprisal_margin
    if candidate is None:
        return Bound(EXCESS, "inconclusive", "no sampled token could be judged", margin=margin)
    found = candidate.excess
    state: State = "inconclusive"
    if found.low is not None and found.high is not None:
        if -margin < found.low and found.high < margin:
            state = "pass"
        elif found.low >= margin or found.high <= -margin:
            state = "fail"
    floor = None if baseline is None else baseline.excess
    if state == "fail" and (floor is None or not _overlaps(floor, margin)):
        state = "inconclusive"
    wanted = tokens_for_equivalence(candidate.variance, margin, design_effect_of(scores))
    more = max(wanted - candidate.tokens, 1)
    return Bound(
        EXCESS,
        state,
        f"mean excess surprisal of {candidate.tokens} sampled tokens, 90% interval over sessions "
        "(two one-sided tests at 5%)",
        value=found.value,
        low=found.low,
        high=found.high,
        margin=margin,
        noise_floor=None if floor is None else floor.value,
        unit="nat per token",
        n=candidate.tokens,
        sessions=found.sessions,
        needed=f"about {more:,} more sampled tokens" if state == "inconclusive" else None,
    )


def _overlaps(estimate: Estimate, margin: float) -> bool:
    """Whether the interval reaches into the margin."""
    return (
        estimate.low is not None
        and estimate.high is not None
        and -margin < estimate.high
        and estimate.low < margin
    )
