"""Sampled equivalence: do the candidate's tokens follow the distribution as the baseline's do?

    judgement = judge_sampled(turns, policy, seed=0)

Seeds do not couple the two paths, so tokens are not compared; what each path's tokens show under
the baseline's distribution is. Fail: the e-process reaches its threshold, or a test that looks once
finds a shift beyond the margin and beyond what rounding makes of the baseline's own (Holm over all
of them). Pass: none of that, and the difference of mean excess surprisal lies inside its margin by
two one-sided tests over sessions.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from checks import findings as codes
from checks.bounds import Bound, State, not_applicable
from checks.findings import Finding
from checks.policy import Policy
from checks.sampled.shift import noise_factor
from checks.sampled.statistics import (
    E_THRESHOLD,
    SURPRISAL,
    ArmStatistics,
    Comparison,
    compare_paths,
    statistics_of,
)
from checks.sampled.surprisal import tokens_for_equivalence
from checks.sampled.turn import SampledTurn, ScoredTurn, score_turn
from checks.stats.witnesses import witnesses

EVIDENCE, EXCESS = "sampled_evidence", "sampled_excess_surprisal"

MIN_TOKENS = 1000
"""Fewest sampled tokens whose silence counts as a pass of the tests."""

TOST_LEVEL = 0.90
"""Two one-sided tests at 5% are a 90% interval inside the margin (Schuirmann 1987)."""


@dataclass(frozen=True, slots=True)
class SampledJudgement:
    """`candidate` and `baseline` are `None` where nothing of that path could be judged, `compared`
    where one of them is.

    `not_judged` counts turns by reason; `seed` reproduces every draw that randomizes a PIT
    (`checks.sampled.pit.pit_draws`).
    """

    bounds: tuple[Bound, ...]
    findings: tuple[Finding, ...]
    candidate: ArmStatistics | None
    baseline: ArmStatistics | None
    compared: Comparison | None
    not_judged: Mapping[str, int]
    seed: int

    def search(self) -> "SampledJudgement":
        """As turns are judged that the gate itself chose to sample: a shift that is found fails the
        run; one that so few tokens do not rule out holds up nothing."""
        return replace(self, bounds=tuple(map(_searching, self.bounds)))


def _searching(bound: Bound) -> Bound:
    if bound.state != "inconclusive":
        return bound
    message = f"no shift found, and none ruled out by the share that was added: {bound.message}"
    return replace(bound, state="not_applicable", message=message, needed=None)


def judge_sampled(turns: Sequence[SampledTurn], policy: Policy, seed: int) -> SampledJudgement:
    """Judge all turns with temperature above 0. Order does not matter."""
    return judge_scored([score_turn(turn, seed) for turn in turns], policy, seed)


def judge_scored(turns: Sequence[ScoredTurn], policy: Policy, seed: int) -> SampledJudgement:
    """As `judge_sampled`, of turns whose statistics are known already."""
    if not turns:
        absent = "no turn is sampled"
        bounds = (not_applicable(EVIDENCE, absent), not_applicable(EXCESS, absent))
        return SampledJudgement(bounds, (), None, None, None, {}, seed)
    ordered = sorted(turns, key=lambda turn: (turn.session, turn.turn))
    reasons = Counter(turn.not_judged for turn in ordered if turn.not_judged is not None)
    scores = [turn.candidate for turn in ordered if turn.candidate is not None]
    own = [turn.baseline for turn in ordered if turn.baseline is not None]
    candidate, baseline = statistics_of(scores), statistics_of(own)
    compared = None
    if candidate is not None and baseline is not None:
        grouped = witnesses((turn.session, turn.seed) for turn in ordered)
        compared = compare_paths(scores, own, policy, grouped)
    bounds = (
        _evidence(candidate, baseline, compared, policy),
        _excess(candidate, compared, policy),
    )
    shifted = [bound for bound in bounds if bound.state == "fail"]
    found = tuple(Finding(codes.SAMPLED_SHIFT, bound.message) for bound in shifted)
    return SampledJudgement(bounds, found, candidate, baseline, compared, dict(reasons), seed)


def _evidence(
    candidate: ArmStatistics | None,
    baseline: ArmStatistics | None,
    compared: Comparison | None,
    policy: Policy,
) -> Bound:
    if candidate is None:
        return Bound(EVIDENCE, "inconclusive", "no sampled token could be judged")
    if baseline is None or compared is None:
        none = "no baseline tokens to hold the candidate's against"
        return Bound(EVIDENCE, "inconclusive", none, n=candidate.tokens)
    against = compared.rejected
    state: State = "pass"
    note = against or "no evidence of a shift"
    short = against is None and candidate.tokens < MIN_TOKENS
    strays = (
        abs(baseline.excess) > noise_factor(policy.noise_scale) * policy.excess_surprisal_margin
    )
    if against is not None:
        state = "fail"
    elif short:
        state, note = "inconclusive", "too few tokens"
    elif strays:
        state = "inconclusive"
        note = f"the baseline does not follow the rebuilt distribution ({baseline.excess:+.2g} nat)"
    surprisal = compared.shifts[SURPRISAL]
    return Bound(
        EVIDENCE,
        state,
        f"{note}; {candidate.tokens} sampled tokens beside {baseline.tokens} of the baseline, "
        f"e-value {compared.e.largest:.3g}, excess surprisal {surprisal.difference:+.3g} nat per "
        f"token beside the baseline's, adjusted p = {min(compared.p.values()):.2g}; "
        f"{candidate.tail.observed} tail tokens where {candidate.tail.expected:.2f} are expected, "
        f"the baseline's {baseline.tail.observed} where {baseline.tail.expected:.2f} are; "
        f"{candidate.open} positions too open to judge",
        value=compared.e.largest,
        margin=E_THRESHOLD,
        unit="e-value",
        n=candidate.tokens,
        sessions=compared.witnesses,
        needed=f"about {MIN_TOKENS - candidate.tokens:,} more sampled tokens" if short else None,
    )


def _excess(candidate: ArmStatistics | None, compared: Comparison | None, policy: Policy) -> Bound:
    margin = policy.excess_surprisal_margin
    if candidate is None or compared is None:
        why = "no sampled token could be judged" if candidate is None else "no baseline tokens"
        return Bound(EXCESS, "inconclusive", why, margin=margin)
    shift = compared.shifts[SURPRISAL]
    limits = shift.interval(TOST_LEVEL)
    inside = limits is not None and -margin < limits[0] and limits[1] < margin
    # Of as many independent tokens the error would be sqrt(2 Var / n); what it is more clusters.
    plain = 2 * candidate.variance / candidate.tokens
    deff = max(1.0, shift.error**2 / plain) if plain > 0 else 1.0
    more = max(tokens_for_equivalence(candidate.variance, margin, deff) - candidate.tokens, 1)
    return Bound(
        EXCESS,
        "pass" if inside else "inconclusive",
        f"mean excess surprisal of {candidate.tokens} sampled tokens less the baseline's, 90% "
        "interval over sessions (two one-sided tests at 5%)",
        value=shift.difference,
        low=None if limits is None else limits[0],
        high=None if limits is None else limits[1],
        margin=margin,
        noise_floor=candidate.excess - shift.difference,
        unit="nat per token",
        n=candidate.tokens,
        sessions=compared.witnesses,
        needed=None if inside else f"about {more:,} more sampled tokens",
    )
