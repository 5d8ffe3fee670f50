"""The first position at which two token lists part, and what the baseline thinks of it.

regret = log p_B(the baseline's token) − log p_B(the candidate's token), in nat. A token missing
from the baseline's list has at most log(1 − Σ listed p), which bounds its regret from below.
"""

import math
from dataclasses import dataclass
from typing import Literal

from checks.pair import Pair
from traces.wire.response import Token

ROUNDING = 1e-9
"""nat: scores are written in decimals, and −1.39 − −2.39 is a little above 1 in binary."""

Kind = Literal["hard", "near_tie", "unscored", "sampled", "prefix"]


@dataclass(frozen=True, slots=True)
class Fork:
    """The first fork.

    `kind`: ``hard`` regret above the bound; ``near_tie`` within it; ``unscored`` the baseline's
    scores do not tell; ``sampled`` the request is not greedy, so tokens may differ; ``prefix`` one
    list ends where the other goes on. `regret` is a lower bound where `at_least` is set.
    """

    index: int
    kind: Kind
    regret: float | None = None
    at_least: bool = False

    @property
    def explains(self) -> bool:
        """Whether noise or sampling may explain everything after it."""
        return self.kind in ("near_tie", "unscored", "sampled")


def first_fork(pair: Pair) -> Fork | None:
    """`None` where the tokens are equal or a side carries none.

    Texts that rounding may have parted though no tokens show it are a fork before all else.
    """
    if not pair.compare_text:
        return Fork(0, "unscored")
    ours, theirs = pair.candidate.ids, pair.baseline.ids
    if ours is None or theirs is None or ours == theirs:
        return None
    shorter = min(len(ours), len(theirs))
    index = next((i for i in range(shorter) if ours[i] != theirs[i]), shorter)
    if index == shorter:
        return Fork(index, "prefix")
    if not pair.greedy:
        return Fork(index, "sampled")
    assert pair.baseline.tokens is not None
    regret, at_least = regret_of(pair.baseline.tokens[index], ours[index])
    if regret is None:
        return Fork(index, "unscored")
    if regret > pair.hard_bound + ROUNDING:
        return Fork(index, "hard", regret, at_least)
    return Fork(index, "unscored" if at_least else "near_tie", regret, at_least)


def regret_of(baseline: Token, token_id: int) -> tuple[float | None, bool]:
    """(regret of `token_id` at the baseline's position, whether it is only a lower bound).

    The baseline's own score alone is enough; without it the regret is `None`.
    """
    own = baseline.logprob
    if own is None or not math.isfinite(own):
        return None, False
    listed = {top.id: top.logprob for top in baseline.top if top.id is not None}
    listed[baseline.id if baseline.id is not None else -1] = own
    if token_id in listed:
        regret = own - listed[token_id]
        return (regret, False) if not math.isnan(regret) else (None, False)
    rest = 1 - math.fsum(math.exp(p) for p in listed.values() if not math.isnan(p))
    return own - (math.log(rest) if rest > 0 else -math.inf), True
