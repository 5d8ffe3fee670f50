"""Does the agent still get its tool calls? Paired per turn, against a non-inferiority margin."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from checks import findings as codes
from checks.bounds import Bound, State, not_applicable
from checks.findings import Finding
from checks.policy import Policy
from checks.stats.paired_proportions import (
    PairedTable,
    exact_mcnemar,
    newcombe,
    pairs_for_margin,
    zero_discordant_bound,
)
from checks.stats.session_interval import Estimate, clustered, clustered_rate, ratio
from checks.stats.sign_flip import integer_sign_flip

NAME = "tool_success"
LEVEL = 0.05

SUCCESS_P = 0.001
"""Level of the test for a loss, of turns and of sessions: greedy text that forks at near ties
breaks some calls on either path, and at 0.05 one run in fifty would fail for it."""


@dataclass(frozen=True, slots=True)
class PairedOutcome:
    """Tool-call success of one turn on both paths (`checks.calls.outcomes.tool_pair`)."""

    session: str
    turn: str
    baseline: bool
    candidate: bool


@dataclass(frozen=True, slots=True)
class BehaviourJudgement:
    """`table`, `p` (exact McNemar, two-sided) and `rates` (success of the baseline, and of the
    candidate) are `None` where no turn is about tools."""

    bound: Bound
    findings: tuple[Finding, ...]
    table: PairedTable | None
    p: float | None
    rates: tuple[Estimate, Estimate] | None


def judge_behaviour(
    outcomes: Sequence[PairedOutcome], policy: Policy, seed: int
) -> BehaviourJudgement:
    """Pass where the lower limit of the difference stays above minus the margin.

    The limit is the lower of Newcombe's and that of a session bootstrap; with no discordant pair
    it is the exact ``-(1 - 0.05^(1/n))``. Fail where the estimate lies at or beyond the margin
    and the loss is significant (`loss_p` at most `SUCCESS_P`).
    """
    if not outcomes:
        return BehaviourJudgement(
            not_applicable(NAME, "no turn calls a tool"), (), None, None, None
        )
    table = table_of(outcomes)
    p, lost = exact_mcnemar(table), loss_p(outcomes, table)
    low, high = limits_of(outcomes, table, seed)
    state: State = "inconclusive"
    if low >= -policy.success_margin:
        state = "pass"
    elif table.difference <= -policy.success_margin and lost <= SUCCESS_P:
        state = "fail"
    message = (
        f"{table.both} turns succeed on both paths, {table.only_baseline} on the baseline alone, "
        f"{table.only_candidate} on the candidate alone, {table.neither} on neither; "
        f"exact McNemar p = {p:.2g}"
    )
    bound = Bound(
        NAME,
        state,
        message,
        value=table.difference,
        low=low,
        high=high,
        margin=-policy.success_margin,
        unit="share of turns",
        n=table.pairs,
        sessions=len({outcome.session for outcome in outcomes}),
        needed=_needed(table, policy) if state == "inconclusive" else None,
    )
    found = (Finding(codes.TOOL_SUCCESS_INFERIOR, message),) if state == "fail" else ()
    rates = _rate(outcomes, "baseline"), _rate(outcomes, "candidate")
    return BehaviourJudgement(bound, found, table, p, rates)


def _rate(outcomes: Sequence[PairedOutcome], path: Literal["baseline", "candidate"]) -> Estimate:
    """Success of one path."""
    row = {session: i for i, session in enumerate(sorted({o.session for o in outcomes}))}
    sums = np.zeros((len(row), 2))
    for outcome in outcomes:
        sums[row[outcome.session]] += (getattr(outcome, path), 1)
    return clustered_rate(sums)


def loss_p(outcomes: Sequence[PairedOutcome], table: PairedTable) -> float:
    """p-value of a loss: the larger of McNemar's, which takes turns for independent, and of the
    sign-flip test over sessions, which does not; 1 where no session differs.
    """
    losses = dict.fromkeys((outcome.session for outcome in outcomes), 0)
    for outcome in outcomes:
        losses[outcome.session] += outcome.baseline - outcome.candidate
    flip = integer_sign_flip(list(losses.values()))
    return 1.0 if flip.p is None else max(exact_mcnemar(table), flip.p)


def table_of(outcomes: Sequence[PairedOutcome]) -> PairedTable:
    """The paired 2 x 2 table."""
    pairs = [(outcome.baseline, outcome.candidate) for outcome in outcomes]
    return PairedTable(
        both=pairs.count((True, True)),
        only_baseline=pairs.count((True, False)),
        only_candidate=pairs.count((False, True)),
        neither=pairs.count((False, False)),
    )


def limits_of(
    outcomes: Sequence[PairedOutcome], table: PairedTable, seed: int, level: float = 1 - LEVEL
) -> tuple[float, float]:
    """Limits of the difference, candidate minus baseline, as `judge_behaviour` says."""
    if table.only_baseline + table.only_candidate == 0:
        bound = zero_discordant_bound(table.pairs, level)
        return -bound, bound
    low, high = newcombe(table, level)
    row = {session: i for i, session in enumerate(sorted({o.session for o in outcomes}))}
    sums = np.zeros((len(row), 2))
    for outcome in outcomes:
        sums[row[outcome.session]] += (outcome.candidate - outcome.baseline, 1)
    interval = clustered(ratio, sums, table.pairs, seed=seed, level=level)
    if interval.low is None or interval.high is None:
        return low, high
    # Of few sessions the t interval is wider than any difference of two shares can be.
    return max(min(low, interval.low), -1.0), min(max(high, interval.high), 1.0)


def _needed(table: PairedTable, policy: Policy) -> str:
    """How many tool turns would decide, at the discordance seen."""
    discordant = (table.only_baseline + table.only_candidate) / table.pairs
    wanted = pairs_for_margin(discordant, policy.success_margin) if discordant else 149
    if not discordant:
        while zero_discordant_bound(wanted) > policy.success_margin:
            wanted += 1
        while zero_discordant_bound(wanted - 1) <= policy.success_margin:
            wanted -= 1
    return f"about {max(wanted - table.pairs, 1):,} more turns with tool calls"
