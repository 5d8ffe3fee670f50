"""ACCEPTANCE_*: an acceptance profile against a reference profile.

c_i = accepted_per_pos[i] / the drafts that reached position i and proposed a token there. A row is
paired with the reference row of the same boundary and context band.

    DEAD         accepted per draft below 10% of the reference over all rows; excludes the others
    COLLAPSE     c_0 below 50% of the reference in a row
    STICKY       a band with c_0 >= 50% at an earlier visit is below 50% at a later one
    DEPTH_DECAY  c_0 >= 90% of the reference and some deeper c_i below 60% of it

Rows with fewer than 100 drafts on either side, or whose counters contradict each other, are not
judged; without a reference only DEAD arises, by a floor of its own (`checks.acceptance.dead`).

A case file compares shares. A run compares many, some of few drafts, and one of them would cross
its limit by chance; so a lost share must also differ from the reference's by more than chance: a
one-sided test of two shares at `REFERENCE_P` over all shares compared (Bonferroni), studentized by
session sums, since drafts of a session resemble each other. Rows without counts by session, and
rows of fewer than two effective sessions, are never beyond chance.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from fractions import Fraction
from typing import Any

from checks.acceptance.counters import row_counters, step_counters
from checks.acceptance.dead import dead_profile
from checks.acceptance.drafter_config import judge_drafter_config
from checks.acceptance.profile import MIN_COUNT
from checks.acceptance.profile_row import MIN_DRAFTS, ProfileRow
from checks.acceptance.rate_change import rate_change
from checks.alpha import level as share_of
from checks.findings import (
    ACCEPTANCE_COLLAPSE,
    ACCEPTANCE_DEAD,
    ACCEPTANCE_DEPTH_DECAY,
    ACCEPTANCE_STICKY,
    Finding,
    NotJudged,
)

DEAD_SHARE = Fraction(10, 100)
HEALTHY_SHARE = Fraction(50, 100)
FIRST_KEPT_SHARE = Fraction(90, 100)
DEEP_LOST_SHARE = Fraction(60, 100)

JUDGED = (ACCEPTANCE_DEAD, ACCEPTANCE_COLLAPSE, ACCEPTANCE_STICKY, ACCEPTANCE_DEPTH_DECAY)

Pair = tuple[ProfileRow, ProfileRow]
"""A row and the reference row it is compared with."""

Certain = Callable[[Pair, int], bool]
"""Whether c_i of a pair (its second argument is i) differs by more than chance."""


def _always(pair: Pair, position: int) -> bool:
    return True


def judge_profile(acceptance: Mapping[str, Any]) -> list[Finding | NotJudged]:
    """Judge the `acceptance` part of a case file, or of a run written in the same words.

    ``{"profile": rows, "reference": rows, "steps": [...], "order": [...], "completion_tokens": n,
    "draft_config": {...}, "effective_config": {...}}``; every part may be absent. Raises KeyError
    where a profile row lacks a counter.
    """
    profile = [ProfileRow.from_mapping(row) for row in acceptance.get("profile") or ()]
    reference = [ProfileRow.from_mapping(row) for row in acceptance.get("reference") or ()]
    result = compare_profiles(profile, reference)
    if not reference:
        result += dead_profile(profile)
    for row in profile:
        result += row_counters(row)
    result += step_counters(acceptance.get("steps") or (), acceptance.get("completion_tokens"))
    if "draft_config" in acceptance or "effective_config" in acceptance:
        result += judge_drafter_config(
            acceptance.get("draft_config"), acceptance.get("effective_config")
        )
    return result


def compare_profiles(
    profile: Sequence[ProfileRow], reference: Sequence[ProfileRow], certain: Certain = _always
) -> list[Finding | NotJudged]:
    """The ACCEPTANCE_* codes of `profile` against `reference`, and the rows not judged.

    `certain` may ask more of a lost share than that it is beyond its limit; a case file asks no
    more.
    """
    if not profile:
        return []
    if not reference:
        return [NotJudged(code, "no reference profile") for code in JUDGED]
    pairs, not_judged = pair_rows(profile, reference)
    seen = _dead(pairs) or [
        *_collapse(pairs, certain),
        *_sticky(pairs, certain),
        *_depth_decay(pairs, certain),
    ]
    return [*seen, *not_judged, *_depths_unknown(pairs)]


def _depths_unknown(pairs: Iterable[Pair]) -> list[NotJudged]:
    """Rows of drafts of several lengths that do not say how many reached each position."""
    return [
        NotJudged(
            ACCEPTANCE_DEPTH_DECAY,
            f"{pair[0].name}: draft lengths vary, and a row has no reached_per_pos",
        )
        for pair in pairs
        if any(
            row.reached(position) is None
            for row in pair
            for position in range(1, min(len(row.accepted_per_pos) for row in pair))
        )
    ]


def pair_rows(
    profile: Sequence[ProfileRow], reference: Sequence[ProfileRow]
) -> tuple[list[Pair], list[NotJudged]]:
    """Each row with its reference row, and why the others have none that serves."""
    pairs: list[Pair] = []
    not_judged: list[NotJudged] = []
    for row in profile:
        partner = _partner(row, reference)
        reason = _unfit(row, partner)
        if partner is None or reason:
            not_judged += [NotJudged(code, f"{row.name}: {reason}") for code in JUDGED]
        else:
            pairs.append((row, partner))
    return pairs, not_judged


def _partner(row: ProfileRow, reference: Iterable[ProfileRow]) -> ProfileRow | None:
    for other in reference:
        same = (other.boundary, other.context_bucket) == (row.boundary, row.context_bucket)
        if same and other.visit in (None, row.visit):
            return other
    return None


def _unfit(row: ProfileRow, partner: ProfileRow | None) -> str:
    """Why a row cannot be judged; empty where it can."""
    if partner is None:
        return "the reference has no such row"
    fewest = min(row.num_drafts, partner.num_drafts)
    if fewest < MIN_DRAFTS:
        return f"{fewest} drafts are too few (at least {MIN_DRAFTS})"
    if row_counters(row) or row_counters(partner):
        return "its counters, or the reference's, contradict each other"
    return ""


def _dead(pairs: Sequence[Pair]) -> list[Finding]:
    here, there = (
        Fraction(
            sum(p[side].num_accepted_tokens for p in pairs),
            max(1, sum(p[side].num_drafts for p in pairs)),
        )
        for side in (0, 1)
    )
    if not pairs or here >= DEAD_SHARE * there:
        return []
    message = f"{float(here):.3f} draft tokens accepted per draft, reference {float(there):.3f}"
    evidence = {"accepted_per_draft": float(here), "reference": float(there)}
    return [Finding(ACCEPTANCE_DEAD, message, detail=evidence)]


def _share(pair: Pair, position: int) -> Fraction | None:
    """c_i over the reference's c_i; `None` where either is missing or the reference's is 0."""
    here, there = (row.conditional(position) for row in pair)
    return here / there if here is not None and there else None


def _healthy(pair: Pair) -> bool | None:
    share = _share(pair, 0)
    return None if share is None else share >= HEALTHY_SHARE


def _collapse(pairs: Iterable[Pair], certain: Certain) -> list[Finding]:
    return [
        _finding(ACCEPTANCE_COLLAPSE, pair, _lost(pair, 0))
        for pair in pairs
        if _healthy(pair) is False and certain(pair, 0)
    ]


def _sticky(pairs: Iterable[Pair], certain: Certain) -> list[Finding]:
    healthy_at: dict[tuple[str, str], int] = {}
    seen = []
    for pair in sorted((p for p in pairs if p[0].visit is not None), key=lambda p: p[0].visit or 0):
        row = pair[0]
        key = (row.boundary, row.context_bucket)
        if _healthy(pair):
            healthy_at.setdefault(key, row.visit or 0)
        elif _healthy(pair) is False and key in healthy_at and certain(pair, 0):
            message = f"{_lost(pair, 0)}; it was healthy at visit {healthy_at[key]}"
            seen.append(_finding(ACCEPTANCE_STICKY, pair, message))
    return seen


def _depth_decay(pairs: Iterable[Pair], certain: Certain) -> list[Finding]:
    seen = []
    for pair in pairs:
        first = _share(pair, 0)
        if first is None or first < FIRST_KEPT_SHARE:
            continue
        for position in range(1, len(pair[0].accepted_per_pos)):
            share = _share(pair, position)
            if share is not None and share < DEEP_LOST_SHARE and certain(pair, position):
                seen.append(_finding(ACCEPTANCE_DEPTH_DECAY, pair, _lost(pair, position)))
                break
    return seen


def _lost(pair: Pair, position: int) -> str:
    here, there = (float(row.conditional(position) or 0) for row in pair)
    return f"{pair[0].name}: c_{position} is {here:.3f}, reference {there:.3f}"


def _finding(code: str, pair: Pair, message: str) -> Finding:
    row, reference = pair
    boundary = None if row.boundary == "all" else row.boundary
    evidence = {"profile": row.as_mapping(), "reference": reference.as_mapping()}
    return Finding(code, message, boundary=boundary, detail=evidence)


REFERENCE_P = share_of("acceptance_reference")
"""Level over all shares that a run compares with its reference."""


def compare_with_reference(
    profile: Sequence[ProfileRow], reference: Sequence[ProfileRow]
) -> list[Finding | NotJudged]:
    """The ACCEPTANCE_* codes of a run; every one would fire in a case file too."""
    pairs, _ = pair_rows(profile, reference)
    return compare_profiles(profile, reference, beyond_chance(pairs))


def beyond_chance(pairs: Sequence[Pair]) -> Certain:
    """The test for one of all shares that `pairs` compare."""
    compared = sum(min(len(row.accepted_per_pos) for row in pair) for pair in pairs)
    level = REFERENCE_P / max(1, compared)
    return lambda pair, position: lost_p(pair, position) < level


def lost_p(pair: Pair, position: int) -> float:
    """One-sided p of c_i of the row not below that of its reference."""
    here, there = (_reached(row, position) for row in pair)
    change = rate_change(here, there)
    return change.p_below(1.0) if change.drafts >= MIN_COUNT else 1.0


def _reached(row: ProfileRow, position: int) -> dict[str, tuple[int, int]]:
    """Session -> (drafts that reached a position, of them accepted there)."""
    return {
        session: (counts.reached[position], counts.accepted[position])
        for session, counts in row.sessions
    }
