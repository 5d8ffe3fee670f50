"""A run's acceptance profile against a reference run: the limits of a case file, and certainty.

A case file compares shares. A run compares many, some of few drafts, and one of them would cross
its limit by chance; so a lost share must also differ from the reference's by more than chance: a
one-sided test of two shares at 1% over all shares compared (Bonferroni), its variance doubled
because the drafts of a session resemble each other.

    z = (q - p) / sqrt(2 · (p(1-p)/n + q(1-q)/m))      p = a/n of this run, q = b/m of the reference
"""

from collections.abc import Sequence
from math import sqrt

from scipy import stats

from checks.acceptance.profile_row import ProfileRow
from checks.acceptance.reference import Certain, Pair, compare_profiles, pair_rows
from checks.findings import Finding, NotJudged

LEVEL = 0.01
DESIGN_EFFECT = 2.0


def compare_with_reference(
    profile: Sequence[ProfileRow], reference: Sequence[ProfileRow]
) -> list[Finding | NotJudged]:
    """The ACCEPTANCE_* codes of a run; every one would fire in a case file too."""
    pairs, _ = pair_rows(profile, reference)
    return compare_profiles(profile, reference, beyond_chance(pairs))


def beyond_chance(pairs: Sequence[Pair]) -> Certain:
    """The test for one of all shares that `pairs` compare."""
    compared = sum(min(len(row.accepted_per_pos) for row in pair) for pair in pairs)
    least = float(stats.norm.isf(LEVEL / max(1, compared)))
    return lambda pair, position: separation(pair, position) > least


def separation(pair: Pair, position: int) -> float:
    """z of c_i of the row below that of its reference; half a count keeps shares off 0 and 1."""
    shares, spread = [], 0.0
    for row in pair:
        reached = row.num_drafts if position == 0 else row.accepted_per_pos[position - 1]
        share = (row.accepted_per_pos[position] + 0.5) / (reached + 1)
        shares.append(share)
        spread += share * (1 - share) / (reached + 1)
    return (shares[1] - shares[0]) / sqrt(DESIGN_EFFECT * spread)
