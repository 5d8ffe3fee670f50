"""The two tests of one slice: its regret rate, and its tool-call success.

Both are those of the whole run (`checks.greedy.rate`, `checks.calls.behavior`), with a p-value in
place of a limit, so that the p-values of many slices can be adjusted together.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Self

from checks.bounds import State
from checks.calls.behavior import PairedOutcome, limits_of, loss_p, table_of
from checks.greedy.rate import EXCEEDANCE_SESSIONS, NOISE_RATIO, excess, excess_p, mover_limits
from checks.greedy.rate_table import DEFAULT_DEFF, NoiseByShape, clustering_of, rate_table
from checks.greedy.turn import TurnRegrets
from checks.policy import Policy


@dataclass(frozen=True, slots=True)
class SliceTest:
    """An estimate, the limit a pass needs, and the evidence against the slice.

    `limit` (the upper one of a rate, the lower one of a success) holds for all slices of the run at
    once; `inside` tells that it lies inside the margin. `p` is `None` where the test cannot condemn
    (no noise floor); `adjusted_p` is it after Holm.
    """

    value: float
    limit: float
    inside: bool
    n: int
    message: str
    p: float | None
    adjusted_p: float | None = None
    state: State = "inconclusive"

    def settled(self, adjusted: float | None, policy: Policy) -> Self:
        """With its adjusted p and the state that follows."""
        state: State = "pass" if self.inside else "inconclusive"
        if adjusted is not None and adjusted <= policy.slice_p:
            state = "fail"
        return replace(self, adjusted_p=adjusted, state=state)


def rate_test(
    measured: Sequence[TurnRegrets],
    noise: NoiseByShape,
    level: float,
    policy: Policy,
) -> SliceTest | None:
    """``rate_C(soft) - 2 rate_A`` of a slice; `None` where no token of it is tested.

    The p-value is that of the baseline's noise at twice its scale, and 1 where the exceedances lie
    in fewer sessions than `EXCEEDANCE_SESSIONS`. Tokens are taken to cluster as they do in the
    slice, and no less than `DEFAULT_DEFF`; those of the whole run would count the fault as
    clustering.
    """
    sessions = sorted({turn.session for turn in measured if turn.not_judged is None})
    table = rate_table(measured, sessions, noise)
    tokens = int(table.candidate_tokens.sum())
    if not tokens:
        return None
    deff = max(DEFAULT_DEFF, clustering_of(measured, sessions)[0])
    exceedances, baseline = int(table.candidate_exceed.sum()), int(table.noise_exceed.sum())
    spread = int((table.candidate_exceed.sum(axis=1) > 0).sum())
    scaled = rate_table(measured, sessions, noise, policy.noise_scale)
    blind = (table.candidate_exceed.sum(axis=0) > 0) & (table.noise_tokens.sum(axis=0) == 0)
    p: float | None = 1.0
    if blind.any():
        p = None
    elif spread >= EXCEEDANCE_SESSIONS:
        p = excess_p(scaled, deff, NOISE_RATIO)
    high = mover_limits(table, deff, NOISE_RATIO, level)[1]
    return SliceTest(
        value=float(excess(table, NOISE_RATIO)[0]),
        limit=high,
        inside=high <= policy.rate_margin and not blind.any(),
        n=tokens,
        message=f"{exceedances} of {tokens} candidate tokens in {spread} sessions and "
        f"{baseline} of {int(table.noise_tokens.sum())} baseline tokens above the soft bound",
        p=p,
    )


def success_test(
    outcomes: Sequence[PairedOutcome], level: float, policy: Policy, seed: int
) -> SliceTest | None:
    """Tool-call success of a slice; `None` where none of its turns is about tools.

    The p-value is `loss_p`, of a loss of at most the margin.
    """
    if not outcomes:
        return None
    table = table_of(outcomes)
    p = loss_p(outcomes, table, policy.success_margin)
    low = limits_of(outcomes, table, seed, level)[0]
    return SliceTest(
        value=table.difference,
        limit=low,
        inside=low >= -policy.success_margin,
        n=table.pairs,
        message=f"of {table.pairs} turns with tool calls the candidate alone fails in "
        f"{table.only_baseline}, the baseline alone in {table.only_candidate}",
        p=p,
    )
