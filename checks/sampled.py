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

import numpy as np

from checks import findings as codes
from checks.bounds import Bound, State, not_applicable
from checks.draft_acceptance import DraftCount
from checks.e_process import EValue, e_value
from checks.findings import Finding
from checks.holm import holm
from checks.pit import SmoothTest, smooth_test
from checks.policy import Policy
from checks.sampled_turn import SampledScores, SampledTurn, reason_not_judged, score_lists
from checks.session_interval import Estimate, clustered, ratio
from checks.surprisal import martingale_z, tokens_for_equivalence
from checks.tail_count import TailCount

EVIDENCE, EXCESS = "sampled_evidence", "sampled_excess_surprisal"
TOST_LEVEL = 0.90
"""Two one-sided tests at 5% are a 90% interval inside the margin (Schuirmann 1987)."""


@dataclass(frozen=True, slots=True)
class ArmStatistics:
    """All statistics of one path. `excess` is mean excess surprisal (nat/token), 90% interval."""

    tokens: int
    open: int
    excess: Estimate
    variance: float
    z: float
    p_surprisal: float
    smooth: SmoothTest
    e: EValue
    tail: TailCount
    draft: DraftCount

    def adjusted(self, policy: Policy) -> dict[str, float]:
        """Holm-adjusted p of the tests that look once."""
        plain = {
            "surprisal": self.p_surprisal,
            "smooth": self.smooth.p,
            "tail": self.tail.p(policy.rate_margin),
        }
        if self.draft.p is not None:
            plain["drafts"] = self.draft.p
        return holm(plain)


@dataclass(frozen=True, slots=True)
class SampledJudgement:
    """`candidate` and `baseline` are `None` where nothing of that path could be judged.

    `not_judged` counts turns by reason; `seed` reproduces every draw that randomises a PIT
    (`checks.pit.pit_draws`).
    """

    bounds: tuple[Bound, ...]
    findings: tuple[Finding, ...]
    candidate: ArmStatistics | None
    baseline: ArmStatistics | None
    not_judged: Mapping[str, int]
    seed: int


def judge_sampled(turns: Sequence[SampledTurn], policy: Policy, seed: int) -> SampledJudgement:
    """Judge all turns with temperature above 0. Order does not matter."""
    if not turns:
        absent = "no turn is sampled"
        bounds = (not_applicable(EVIDENCE, absent), not_applicable(EXCESS, absent))
        return SampledJudgement(bounds, (), None, None, {}, seed)
    ordered = sorted(turns, key=lambda turn: (turn.session, turn.turn))
    reasons = Counter(reason for t in ordered if (reason := reason_not_judged(t)) is not None)
    usable = [turn for turn in ordered if reason_not_judged(turn) is None]
    ours = [
        score_lists(turn, turn.candidate, turn.drafts, policy, seed)
        for turn in usable
        if turn.candidate is not None
    ]
    theirs = [
        score_lists(turn, turn.baseline, None, policy, seed + 1)
        for turn in usable
        if turn.baseline is not None
    ]
    candidate, baseline = (statistics_of(scores, policy, seed) for scores in (ours, theirs))
    evidence = _evidence(candidate, baseline, policy)
    bounds = (evidence, _excess(candidate, baseline, ours, policy))
    shifted = [bound for bound in bounds if bound.state == "fail"]
    found = tuple(Finding(codes.SAMPLED_SHIFT, bound.message) for bound in shifted)
    return SampledJudgement(bounds, found, candidate, baseline, dict(reasons), seed)


def statistics_of(
    scores: Sequence[SampledScores], policy: Policy, seed: int
) -> ArmStatistics | None:
    """Pool the turns of one path; `None` where no position was judged."""
    if not sum(score.tokens for score in scores):
        return None
    excess = np.concatenate([score.surprisal.excess for score in scores])
    variance = np.concatenate([score.surprisal.variance for score in scores])
    row = {session: i for i, session in enumerate(sorted({s.session for s in scores}))}
    sums = np.zeros((len(row), 2))
    for score in scores:
        sums[row[score.session]] += (score.surprisal.excess.sum(), score.tokens)
    z, p = martingale_z(excess, variance)
    return ArmStatistics(
        tokens=len(excess),
        open=sum(score.open for score in scores),
        excess=clustered(ratio, sums, len(excess), seed=seed, level=TOST_LEVEL),
        variance=float(variance.mean()),
        z=z,
        p_surprisal=p,
        smooth=smooth_test(np.concatenate([score.u for score in scores])),
        e=e_value(np.concatenate([score.growth for score in scores]), policy.e_threshold),
        tail=sum((score.tail for score in scores), TailCount(0, 0.0, 0)),
        draft=sum((score.draft for score in scores), DraftCount()),
    )


def rejected(arm: ArmStatistics | None, policy: Policy) -> str | None:
    """Which evidence speaks against the law, in words; `None` where none does."""
    if arm is None:
        return None
    if arm.e.largest >= policy.e_threshold:
        return f"e-value {arm.e.largest:.3g}, first reached after {arm.e.crossed} tokens"
    name, p = min(arm.adjusted(policy).items(), key=lambda item: item[1])
    return f"{name} test, adjusted p = {p:.2g}" if p <= policy.sampled_p else None


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
    elif candidate.tokens < policy.min_sampled_tokens:
        state, note = "inconclusive", "too few tokens"
    else:
        note = "no evidence of a shift"
    more = policy.min_sampled_tokens - candidate.tokens
    short = state == "inconclusive" and more > 0
    return Bound(
        EVIDENCE,
        state,
        f"{note}; {candidate.tokens} sampled tokens, e-value {candidate.e.largest:.3g}, surprisal "
        f"z = {candidate.z:.2f}, smooth test p = {candidate.smooth.p:.2g}, "
        f"{candidate.tail.observed} tail tokens where {candidate.tail.expected:.2f} are expected; "
        f"{candidate.open} positions too open to judge",
        value=candidate.e.largest,
        margin=policy.e_threshold,
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
    wanted = tokens_for_equivalence(candidate.variance, margin, _deff(scores))
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


def _deff(scores: Sequence[SampledScores]) -> float:
    """Variance of session sums over the law's own: above 1 where tokens of a session cluster."""
    sums: dict[str, list[float]] = {}
    for score in scores:
        entry = sums.setdefault(score.session, [0.0, 0.0])
        entry[0] += float(score.surprisal.excess.sum())
        entry[1] += float(score.surprisal.variance.sum())
    expected = sum(variance for _, variance in sums.values())
    if len(sums) < 2 or expected <= 0:
        return 1.0
    return max(1.0, sum(total**2 for total, _ in sums.values()) / expected)
