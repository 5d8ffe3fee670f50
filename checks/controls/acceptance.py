"""Control: acceptance halved in the label with most steps; `ACCEPTANCE_LOSS` must fire.

It goes the way of the run: against the run's own reference, by sessions, with the policy's margin.
Without a reference no loss can be seen, planted or not.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from functools import reduce
from operator import add

from checks import findings as codes
from checks.acceptance.loss import judge_loss, losses
from checks.acceptance.profile_row import MIN_DRAFTS, ProfileRow, SessionCounts
from checks.bounds import ControlResult
from checks.policy import Policy

KIND = "acceptance halved in one label"
LOST = 0.5


def halved(row: ProfileRow) -> ProfileRow:
    """Half as many accepted at every position of every session; the counters still agree."""
    sessions = tuple((name, _halved(counts)) for name, counts in row.sessions)
    total = reduce(add, (counts for _, counts in sessions))
    return replace(
        row,
        accepted_per_pos=total.accepted,
        num_accepted_tokens=sum(total.accepted),
        reached_per_pos=total.reached,
        sessions=sessions,
    )


def _halved(counts: SessionCounts) -> SessionCounts:
    accepted = tuple(n // 2 for n in counts.accepted)
    reached = (*counts.reached[:1], *(n // 2 for n in counts.reached[1:]))
    return SessionCounts(counts.drafts, accepted, reached)


def judge_acceptance_control(
    rows: Sequence[ProfileRow], reference: Sequence[ProfileRow], policy: Policy
) -> ControlResult:
    """Plant it in the rows of the label with most steps, and compare with the reference."""
    expected = codes.ACCEPTANCE_LOSS
    if not reference:
        none = "no reference run: no loss of acceptance could be seen"
        return ControlResult(KIND, expected, "not_applicable", (), none)
    found = {row.boundary: row for row in losses(rows, reference, policy.acceptance_loss_margin)}
    steps = Counter[str]()
    for row in rows:
        if row.boundary in found and row.boundary != "all":
            steps[row.boundary] += row.num_drafts
    if not steps:
        few = f"no label has {MIN_DRAFTS} drafts in this run and in the reference"
        return ControlResult(KIND, expected, "not_applicable", (), few)
    label = steps.most_common(1)[0][0]
    known = found[label]
    if known.loss is None or known.detectable is None:
        few = f"{label} has too few sessions for an interval"
        return ControlResult(KIND, expected, "not_applicable", (), few)
    # What halving leaves of the row's acceptance, beside what it has lost already.
    if 1 - (1 - known.loss) * (1 - LOST) < known.detectable:
        blind = f"in {label} only a loss of {known.detectable:.0%} or more would show"
        return ControlResult(KIND, expected, "not_applicable", (), blind)
    planted = [halved(row) if row.boundary == label else row for row in rows]
    _, seen = judge_loss(losses(planted, reference, policy.acceptance_loss_margin), True, policy)
    fired = tuple(sorted({finding.code for finding in seen}))
    detail = f"planted in {label}, {steps[label]} drafts"
    return ControlResult(KIND, expected, "caught" if expected in fired else "missed", fired, detail)
