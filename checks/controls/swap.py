"""Control: rank-2 tokens committed where rounding cannot explain it.

``hard``: one token whose regret is just above the hard bound; `GREEDY_DIVERGENCE` must fire at
that token. ``soft``: tokens just above the soft bound at twice the tolerated rate; `REGRET_RATE`
must fire. What follows a swapped token has another prefix now, so the baseline scores it again:

    plan = plan_hard_swap(turns, judgement)
    scores = {request.digest: score, ...}          # the caller asks the baseline: plan.to_score
    planted = [planted_result(swap, scores, floor.noise) for swap in plan.swaps]
    result = judge_swap(plan, planted, results, floor, policy, seed)
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from checks import findings as codes
from checks.bounds import ControlResult, ControlState
from checks.controls.edit import vocabulary
from checks.controls.swap_spots import Swap, spots, spread, swap_at
from checks.greedy.bounds import ABSENT
from checks.greedy.judge import (
    GreedyFloor,
    GreedyJudgement,
    TurnResult,
    conclude,
    judge_one,
)
from checks.greedy.rate import EXCEEDANCE_SESSIONS, NOISE_RATIO, mover_limits
from checks.greedy.rate_table import DEFAULT_DEFF, NoiseByShape, RateTable
from checks.greedy.turn import GreedyTurn, measure_turn
from checks.policy import Policy
from checks.tokens.regret import scored_of
from traces.counted import counted
from traces.journal.score import Score, ScoreRequest

HARD, SOFT = "rank-2 token above the hard bound", "rank-2 tokens above the soft bound"
FEWEST_SESSIONS = 8
"""Sessions below which planted rates prove nothing: intervals resample sessions, and fewer cannot
reject at 5% whatever they show."""


@dataclass(frozen=True, slots=True)
class SwapPlan:
    """What is planted. `problem` says why nothing can be (then `swaps` is empty).

    `applicable` is false where the bound itself does not apply, not where data is lacking.
    """

    kind: str
    expected: str
    swaps: tuple[Swap, ...] = ()
    problem: str = ""
    applicable: bool = True

    @property
    def to_score(self) -> tuple[ScoreRequest, ...]:
        """The continuations the baseline must score before this control can be judged."""
        return tuple(swap.request for swap in self.swaps)


def plan_hard_swap(turns: Sequence[GreedyTurn], judgement: GreedyJudgement) -> SwapPlan:
    """One swap, of the smallest regret above the hard bound that the run's lists offer."""
    empty = SwapPlan(HARD, codes.GREEDY_DIVERGENCE)
    if not turns:
        return replace(empty, problem=ABSENT, applicable=False)
    floor = next(noise for noise in judgement.noise if noise.shape == "decode")
    if floor.too_noisy is not None:
        noisy = "the baseline is too noisy for single tokens"
        return replace(empty, problem=noisy, applicable=False)
    texts = vocabulary(turn.candidate for turn in turns)
    for spot in sorted(spots(turns, judgement, floor.hard, math.inf), key=lambda s: s.regret):
        swap = swap_at(turns, spot, texts)
        if swap is not None:
            return replace(empty, swaps=(swap,))
    return replace(
        empty, problem=f"no clean turn lists a runner-up more than {floor.hard:.3g} nat away"
    )


def plan_soft_swaps(
    turns: Sequence[GreedyTurn], judgement: GreedyJudgement, policy: Policy, seed: int
) -> SwapPlan:
    """Swaps at twice the tolerated rate ``2 rate_A(soft / 2) + margin``, spread over sessions."""
    empty, rate = SwapPlan(SOFT, codes.REGRET_RATE), judgement.scaled_rate
    if not turns:
        return replace(empty, problem=ABSENT, applicable=False)
    if rate is None:
        return replace(empty, problem="no rate was measured")
    if judgement.sessions < FEWEST_SESSIONS:
        few = f"{judgement.sessions} sessions are too few to tell a rate from one odd session"
        return replace(empty, problem=few)
    floor = next(noise for noise in judgement.noise if noise.shape == "decode")
    tolerated = NOISE_RATIO * rate.noise_rate + policy.rate_margin
    total = math.ceil(2 * tolerated * rate.tokens)
    if not _would_show(total, judgement, policy):
        few = f"{rate.tokens} tokens are too few to see {total} exceedances as too many"
        return replace(empty, problem=few)
    wanted = total - rate.exceedances
    texts = vocabulary(turn.candidate for turn in turns)
    swaps: dict[int, Swap] = {}
    for spot in spread(turns, spots(turns, judgement, floor.soft, floor.hard), judgement, seed):
        if len(swaps) >= wanted:
            break
        swap = None if spot.turn in swaps else swap_at(turns, spot, texts)
        if swap is not None:
            swaps[spot.turn] = swap
    if len(swaps) < wanted:
        few = f"{len(swaps)} turns list a runner-up above the soft bound, {wanted} are wanted"
        return replace(empty, problem=few)
    return replace(empty, swaps=tuple(swaps.values()))


def _would_show(count: int, judgement: GreedyJudgement, policy: Policy) -> bool:
    """Whether so many exceedances would put the lower limit of the excess rate above zero."""
    rate = judgement.scaled_rate
    if rate is None or count < EXCEEDANCE_SESSIONS:
        return False
    table = RateTable(
        np.array([[float(count)]]),
        np.array([[float(rate.tokens)]]),
        np.array([[float(rate.noise_exceedances)]]),
        np.array([[float(rate.noise_tokens)]]),
    )
    return mover_limits(table, max(rate.deff, DEFAULT_DEFF), NOISE_RATIO)[0] > 0


def planted_result(swap: Swap, scores: Mapping[str, Score], noise: NoiseByShape) -> TurnResult:
    """The planted turn, measured and judged. `scores` is keyed by request digest."""
    score = scores.get(swap.request.digest)
    ids = swap.turn.candidate.token_ids or ()
    known = None if score is None else scored_of(score, ids, swap.index)
    turn = replace(swap.turn, scored_candidate=known)
    return judge_one(turn, measure_turn(turn), noise)


def judge_swap(
    plan: SwapPlan,
    planted: Sequence[TurnResult],
    results: Sequence[TurnResult],
    floor: GreedyFloor,
    policy: Policy,
    seed: int,
) -> ControlResult:
    """Judge the whole run again, with the planted turns in place of the run's own."""
    if not plan.swaps:
        state: ControlState = "no_data" if plan.applicable else "not_applicable"
        return ControlResult(plan.kind, plan.expected, state, (), plan.problem)
    copies = {_place(one): one for one in results} | {_place(one): one for one in planted}
    judgement = conclude(list(copies.values()), floor, policy, seed)
    errors = {f.code for f in judgement.findings if f.severity == codes.ERROR}
    caught = plan.expected in errors
    if plan.expected == codes.GREEDY_DIVERGENCE:
        seen = {(turn.session, turn.turn): turn.hard for turn in judgement.turns}
        caught = caught and all(swap.index in seen[swap.place] for swap in plan.swaps)
    return ControlResult(
        plan.kind,
        plan.expected,
        "caught" if caught else "missed",
        tuple(sorted(errors)),
        f"{counted(len(plan.swaps), 'token')} swapped in "
        f"{counted(len({s.place[0] for s in plan.swaps}), 'session')}",
    )


def _place(one: TurnResult) -> tuple[str, str]:
    return one.regrets.session, one.regrets.turn
