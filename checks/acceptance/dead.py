"""ACCEPTANCE_DEAD without a reference: a drafter that guesses no better than chance.

A drafter whose head was never set had 8 of 162,496 draft tokens accepted. No reference is needed to
call that dead: the 99% upper limit of the share of draft tokens that are accepted is below 1%, of
1,000 drafts or more. A run treats its sessions, not its drafts, as independent, and needs ten.
"""

from collections.abc import Sequence

import numpy as np
from scipy import stats

from checks.acceptance.counters import row_counters
from checks.acceptance.profile_row import ProfileRow
from checks.acceptance.profile_sums import ProfileSums
from checks.findings import ACCEPTANCE_DEAD, Finding
from checks.stats.session_interval import clustered_rate

LEAST_DRAFTS = 1000
LEAST_SESSIONS = 10
LEAST_SHARE = 0.01
"""Of the draft tokens. A random token of a vocabulary is right once in thousands."""

ONE_SIDED = 0.99


def dead_profile(rows: Sequence[ProfileRow]) -> list[Finding]:
    """Of a case's profile, which does not tell sessions apart: an exact (Clopper-Pearson) limit.

    Rows over all boundaries hold the drafts of the others already; rows whose counters contradict
    each other do not count.
    """
    sound = [row for row in rows if not row_counters(row)]
    whole = [row for row in sound if row.boundary == "all"] or sound
    drafts = sum(row.num_drafts for row in whole)
    tokens = sum(row.num_draft_tokens for row in whole)
    accepted = sum(row.num_accepted_tokens for row in whole)
    if drafts < LEAST_DRAFTS or tokens <= accepted:
        return []
    upper = float(stats.beta.ppf(ONE_SIDED, accepted + 1, tokens - accepted))
    return _found(accepted, tokens, upper)


def dead_run(sums: ProfileSums) -> list[Finding]:
    """Of a run, by session."""
    sessions = [s for s in sums.by_session().get(("all", "all"), {}).values() if s.drafts]
    if len(sessions) < LEAST_SESSIONS or sum(s.drafts for s in sessions) < LEAST_DRAFTS:
        return []
    by_session = np.array([(s.accepted_tokens, s.draft_tokens) for s in sessions], float)
    rate = clustered_rate(by_session, level=2 * ONE_SIDED - 1)
    if rate.high is None:
        return []
    return _found(int(by_session[:, 0].sum()), int(by_session[:, 1].sum()), rate.high)


def _found(accepted: int, tokens: int, upper: float) -> list[Finding]:
    if upper >= LEAST_SHARE:
        return []
    message = (
        f"{accepted:,} of {tokens:,} draft tokens are accepted (at most {upper:.2%} with 99% "
        "confidence): no better than a random drafter"
    )
    evidence = {"accepted": accepted, "draft_tokens": tokens, "upper": upper}
    return [Finding(ACCEPTANCE_DEAD, message, detail=evidence)]
