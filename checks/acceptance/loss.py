"""ACCEPTANCE_LOSS: is more acceptance lost against a reference run than the margin allows?

r = accepted draft tokens / drafts,  loss = 1 - r_C / r_R  (`checks.acceptance.rate_change`)
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from scipy import stats

from checks.acceptance.profile_row import MIN_DRAFTS, ProfileRow
from checks.acceptance.rate_change import Counted, rate_change
from checks.alpha import level
from checks.bounds import Bound, State, not_applicable
from checks.findings import ACCEPTANCE_LOSS, Finding
from checks.policy import Policy

LOSS_BOUND = "acceptance_loss"
ALL = "all"

LEVEL = 0.95
"""Of the two-sided interval of a row; a loss wholly below the margin by it is none."""

LOSS_P = level("acceptance_loss")
"""Level at which a loss beyond the margin fails the run: half of it for the row over all
boundaries, half for all others together (Bonferroni)."""

POWER = 0.9

Decision = Literal["lost", "kept", "not decided"]


@dataclass(frozen=True, slots=True)
class Loss:
    """One row: the share of acceptance lost, its interval, and what follows.

    `detectable` is the loss that would have been seen with 90% power; `sessions` the fewer of both
    runs'. All are `None` where the row has too few sessions for an interval.
    """

    boundary: str
    loss: float | None
    low: float | None
    high: float | None
    detectable: float | None
    drafts: int
    sessions: int
    decision: Decision


def losses(
    profile: Sequence[ProfileRow], reference: Sequence[ProfileRow], margin: float
) -> list[Loss]:
    """The row over everything, then every boundary with enough drafts in both runs.

    Rows without counts by session (of a case file) hold nothing that could be judged.
    """
    sides = [_by_boundary(rows) for rows in (profile, reference)]
    shared = sorted(
        name
        for name in sides[0].keys() & sides[1].keys()
        if name != ALL and min(_drafts(side[name]) for side in sides) >= MIN_DRAFTS
    )
    if any(not _drafts(side.get(ALL, {})) for side in sides):
        return []
    each = LOSS_P / 2 / max(1, len(shared))
    whole = loss_of(ALL, sides[0][ALL], sides[1][ALL], margin, LOSS_P / 2)
    return [whole, *(loss_of(n, sides[0][n], sides[1][n], margin, each) for n in shared)]


def _by_boundary(rows: Sequence[ProfileRow]) -> dict[str, dict[str, tuple[int, int]]]:
    found: dict[str, dict[str, tuple[int, int]]] = {}
    for row in rows:
        if row.boundary == ALL:
            continue  # a sum of the others
        for session, counts in row.sessions:
            for name in (row.boundary, ALL):
                entry = found.setdefault(name, {})
                drafts, accepted = entry.get(session, (0, 0))
                entry[session] = (drafts + counts.drafts, accepted + sum(counts.accepted))
    return found


def _drafts(counted: Counted) -> int:
    return sum(drafts for drafts, _ in counted.values())


def loss_of(boundary: str, candidate: Counted, reference: Counted, margin: float, p: float) -> Loss:
    """`candidate` and `reference` hold at least one draft each; `p` is the level of the test."""
    change = rate_change(candidate, reference)
    if change.ratio is None or change.error is None:
        none = (None, None, None, None)
        return Loss(boundary, *none, change.drafts, change.sessions, "not decided")
    loss, reach = 1 - change.ratio, float(stats.t.ppf(0.5 + LEVEL / 2, change.freedom))
    low, high = loss - reach * change.error, loss + reach * change.error
    needed = float(stats.t.isf(p, change.freedom) + stats.norm.ppf(POWER))
    seen = margin + needed * change.error
    decision: Decision = "not decided"
    if change.p_below(1 - margin) <= p:
        decision = "lost"
    elif high < margin:
        decision = "kept"
    return Loss(boundary, loss, low, high, seen, change.drafts, change.sessions, decision)


def judge_loss(
    found: Sequence[Loss], compared: bool, policy: Policy
) -> tuple[Bound, list[Finding]]:
    """The bound of the row over everything, and a finding for every row that is lost.

    `compared` is whether there is a reference run. A row that is not decided leaves the run open
    only with `acceptance_required`.
    """
    margin = policy.acceptance_loss_margin
    findings = [
        Finding(ACCEPTANCE_LOSS, _words(row, margin)) for row in found if row.decision == "lost"
    ]
    if not found or found[0].low is None:
        why = "too few drafts or sessions" if compared else "no reference run to compare with"
        if policy.acceptance_required:
            return Bound(LOSS_BOUND, "inconclusive", why, margin=margin), findings
        return not_applicable(LOSS_BOUND, f"not decided: {why}"), findings
    whole = found[0]
    states: dict[Decision, State] = {"lost": "fail", "kept": "pass", "not decided": "inconclusive"}
    state, message = states[whole.decision], _words(whole, margin)
    if state == "inconclusive" and not policy.acceptance_required:
        state, message = "not_applicable", f"not decided: {message}"
    bound = Bound(
        LOSS_BOUND,
        state,
        message,
        value=whole.loss,
        low=whole.low,
        high=whole.high,
        margin=margin,
        unit="share of accepted tokens per draft",
        n=whole.drafts,
        sessions=whole.sessions,
        needed="more sessions, or the same sessions as the reference run"
        if state == "inconclusive"
        else None,
    )
    return bound, findings


def _words(row: Loss, margin: float) -> str:
    where = "over all boundaries" if row.boundary == ALL else f"in {row.boundary}"
    return (
        f"{row.loss:.1%} of acceptance lost against the reference {where}, interval over "
        f"{row.sessions} sessions {row.low:.1%} … {row.high:.1%}, margin {margin:.0%}"
    )


def loss_statement(found: Sequence[Loss], compared: bool) -> str:
    """What loss would have been seen, for the verdict."""
    if not compared:
        return "without a reference run no loss of acceptance could have been seen"
    if not found or found[0].detectable is None:
        return "too few drafts or sessions to see any loss of acceptance"
    return f"a loss of {found[0].detectable:.0%} of acceptance would have failed (90%)"
