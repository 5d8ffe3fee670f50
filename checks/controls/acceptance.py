"""Control: acceptance halved in the label with most steps; `ACCEPTANCE_COLLAPSE` must fire.

The run itself, unmodified, is the reference.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from checks import findings as codes
from checks.acceptance.profile_row import ProfileRow
from checks.acceptance.reference import MIN_DRAFTS, compare_profiles
from checks.bounds import ControlResult
from checks.findings import Finding

KIND = "acceptance halved in one label"


def halved(row: ProfileRow) -> ProfileRow:
    """Just under half as many accepted at every position; the counters still agree."""
    accepted = tuple(_half(count) for count in row.accepted_per_pos)
    reached = row.reached_per_pos
    if reached is not None:
        reached = (*reached[:1], *map(_half, reached[1:]))
    return replace(
        row,
        accepted_per_pos=accepted,
        num_accepted_tokens=sum(accepted),
        reached_per_pos=reached,
    )


def _half(count: int) -> int:
    return max(count - 1, 0) // 2


def judge_acceptance_control(rows: Sequence[ProfileRow], *, drafter: bool = True) -> ControlResult:
    """Plant it in the rows of one label, and compare with the run; equal paths (A/A) without a
    `drafter` hold nothing to plant it in."""
    if not drafter:
        why = "nothing drafts in equal paths"
        return ControlResult(KIND, codes.ACCEPTANCE_COLLAPSE, "not_applicable", (), why)
    steps = Counter[str]()
    for row in rows:
        if (
            row.boundary != "all"
            and row.num_drafts >= MIN_DRAFTS
            and row.accepted_per_pos[:1] > (0,)
        ):
            steps[row.boundary] += row.num_drafts
    if not steps:
        few = f"no label has {MIN_DRAFTS} drafts in one context band with one accepted"
        return ControlResult(KIND, codes.ACCEPTANCE_COLLAPSE, "no_data", (), few)
    label = steps.most_common(1)[0][0]
    planted = [halved(row) if row.boundary == label else row for row in rows]
    seen = [item for item in compare_profiles(planted, rows) if isinstance(item, Finding)]
    fired = tuple(sorted({item.code for item in seen}))
    return ControlResult(
        KIND,
        codes.ACCEPTANCE_COLLAPSE,
        "caught" if codes.ACCEPTANCE_COLLAPSE in fired else "missed",
        fired,
        f"planted in {label}, {steps[label]} drafts",
    )
