"""How much of the traffic no test of tokens has looked at, and why.

A bound passes on what was judged. Where much was not (grammars, forced calls, penalties on attached
servers, places too open to rebuild a distribution), its pass is about the rest alone.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from checks.bounds import Bound, State, not_applicable

NAME = "judged_share"

MOST_UNJUDGED = 0.10
"""Largest share of candidate tokens that no test looked at, for a pass."""

SHOWN = 3


@dataclass(frozen=True, slots=True)
class Unjudged:
    """Candidate tokens of one turn that were not judged, and why."""

    reason: str
    tokens: int


def judged_share_bound(judged: int, left_out: Iterable[Unjudged]) -> Bound:
    """`judged` tokens were; the commonest reasons for the others are named."""
    by_reason: dict[str, tuple[int, int]] = {}
    for one in left_out:
        count, tokens = by_reason.get(one.reason, (0, 0))
        by_reason[one.reason] = (count + 1, tokens + one.tokens)
    missing = sum(tokens for _, tokens in by_reason.values())
    if not judged + missing:
        return not_applicable(NAME, "no token was sent")
    share = missing / (judged + missing)
    ranked = sorted(by_reason.items(), key=lambda item: (-item[1][1], item[0]))
    reasons = [f"{n:,} tokens in {count:,} turns: {why}" for why, (count, n) in ranked[:SHOWN]]
    if rest := sum(tokens for _, (_, tokens) in ranked[SHOWN:]):
        reasons.append(f"{rest:,} tokens for other reasons")
    state: State = "pass" if share <= MOST_UNJUDGED else "inconclusive"
    return Bound(
        NAME,
        state,
        f"{missing:,} of {judged + missing:,} candidate tokens were not judged"
        + (f" ({'; '.join(reasons)})" if reasons else ""),
        value=share,
        margin=MOST_UNJUDGED,
        unit="share of tokens",
        n=judged + missing,
        needed=f"turns that can be judged: {ranked[0][0]}" if state == "inconclusive" else None,
    )
