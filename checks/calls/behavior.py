"""Does the agent still get its tool calls? Paired per turn, against a non-inferiority margin.

What turns show holds for losses that any session may meet. A loss that is confined to some sessions
is missed where none of them was replayed, so the limit of the share of sessions with a loss stands
beside it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt
from scipy import stats

from checks import findings as codes
from checks.alpha import level as share_of
from checks.bounds import Bound, State, not_applicable
from checks.findings import Finding
from checks.policy import Policy
from checks.stats.paired_proportions import (
    PairedTable,
    exact_mcnemar,
    loss_beyond,
    newcombe,
    pairs_for_margin,
    share_limit,
    zero_discordant_bound,
)
from checks.stats.session_interval import Estimate, clustered, clustered_rate, ratio
from checks.stats.witnesses import rows_of

NAME = "tool_success"
LEVEL = 0.05

SUCCESS_P = share_of("tool_success")
"""Level of the test for a loss beyond the margin, of turns and of sessions."""


@dataclass(frozen=True, slots=True)
class PairedOutcome:
    """Tool-call success of one turn on both paths (`checks.calls.outcomes.tool_pair`).

    `seed` is the one that a sampled turn was sent with: sessions that share one count as one.
    """

    session: str
    turn: str
    baseline: bool
    candidate: bool
    seed: int | None = None


@dataclass(frozen=True, slots=True)
class BehaviorJudgement:
    """`table`, `p` (exact McNemar, two-sided) and `rates` (success of the baseline, and of the
    candidate) are `None` where no turn is about tools."""

    bound: Bound
    findings: tuple[Finding, ...]
    table: PairedTable | None
    p: float | None
    rates: tuple[Estimate, Estimate] | None


def judge_behavior(
    outcomes: Sequence[PairedOutcome], policy: Policy, seed: int
) -> BehaviorJudgement:
    """Pass where the lower limit of the difference stays above minus the margin.

    The limit is the lower of Newcombe's and that of a session bootstrap; with no discordant pair
    it is the exact ``-(1 - 0.05^(1/n))``. Fail where the loss exceeds the margin (`loss_p` at most
    `SUCCESS_P`).
    """
    if not outcomes:
        return BehaviorJudgement(not_applicable(NAME, "no turn calls a tool"), (), None, None, None)
    table = table_of(outcomes)
    p, lost = exact_mcnemar(table), loss_p(outcomes, table, policy.success_margin)
    low, high = limits_of(outcomes, table, seed)
    state: State = "inconclusive"
    if low >= -policy.success_margin:
        state = "pass"
    elif lost <= SUCCESS_P:
        state = "fail"
    message = (
        f"{table.both} turns succeed on both paths, {table.only_baseline} on the baseline alone, "
        f"{table.only_candidate} on the candidate alone, {table.neither} on neither; "
        f"exact McNemar p = {p:.2g}; {confined(outcomes)}"
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
        sessions=len(_by_session(outcomes)),
        needed=_needed(table, policy) if state == "inconclusive" else None,
    )
    found = (Finding(codes.TOOL_SUCCESS_INFERIOR, message),) if state == "fail" else ()
    rates = _rate(outcomes, "baseline"), _rate(outcomes, "candidate")
    return BehaviorJudgement(bound, found, table, p, rates)


def _rate(outcomes: Sequence[PairedOutcome], path: Literal["baseline", "candidate"]) -> Estimate:
    """Success of one path."""
    return clustered_rate(_sums(outcomes, [getattr(outcome, path) for outcome in outcomes]))


def loss_p(outcomes: Sequence[PairedOutcome], table: PairedTable, margin: float) -> float:
    """p-value of a loss of at most `margin`: the larger of Tango's, which takes turns for
    independent, and of Student's t over sessions, which does not; 1 of fewer than two sessions.

    With L sessions that lose it is no less than 2^-L, the least that a sign-flip test of them could
    give: a few sessions that all lose alike have no spread, and prove no more for that.
    """
    sums = _by_session(outcomes)
    sessions, losing = len(sums), int((sums[:, 0] < 0).sum())
    if sessions < 2:
        return 1.0
    residual = sums[:, 0] - table.difference * sums[:, 1]
    error = float((residual**2).sum() * sessions / (sessions - 1)) ** 0.5 / table.pairs
    beyond = table.difference + margin
    by_session = float(beyond >= 0) if error == 0 else stats.t.cdf(beyond / error, sessions - 1)
    return max(loss_beyond(table, margin), float(by_session), 0.5**losing)


def confined(outcomes: Sequence[PairedOutcome]) -> str:
    """What the sessions say of losses that keep to some of them, in words."""
    sums = _by_session(outcomes)
    losing, sessions = int((sums[:, 0] < 0).sum()), len(sums)
    return (
        f"sessions that lose calls: {losing} of {sessions}, "
        f"at most {share_limit(losing, sessions):.1%} of all (95%)"
    )


def _by_session(outcomes: Sequence[PairedOutcome]) -> npt.NDArray[np.float64]:
    """Candidate less baseline successes, and turns, by session: [sessions, 2]."""
    return _sums(outcomes, [outcome.candidate - outcome.baseline for outcome in outcomes])


def _sums(outcomes: Sequence[PairedOutcome], values: Sequence[float]) -> npt.NDArray[np.float64]:
    """Values of turns, and turns, by session: [sessions, 2]."""
    rows, count = rows_of([(outcome.session, outcome.seed) for outcome in outcomes])
    sums = np.zeros((count, 2))
    np.add.at(sums, rows, np.column_stack([values, np.ones(len(rows))]))
    return sums


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
    """Limits of the difference, candidate minus baseline, as `judge_behavior` says."""
    if table.only_baseline + table.only_candidate == 0:
        bound = zero_discordant_bound(table.pairs, level)
        return -bound, bound
    low, high = newcombe(table, level)
    interval = clustered(ratio, _by_session(outcomes), table.pairs, seed=seed, level=level)
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
