"""Control: rank-2 tokens committed where rounding cannot explain it.

One token far beyond the baseline's noise: `GREEDY_DIVERGENCE` must name it, and the run must not
pass. Many tokens above a rung of the ladder, half as many again as would break it: `REGRET_RATE`
must fire. What follows a swapped token has another prefix now, so the baseline scores it again:

    plan = plan_far_swap(survey, judgement)
    scores = {request.digest: score, ...}          # the caller asks the baseline: plan.to_score
    planted = [planted_result(swap, scores, floor.noise) for swap in plan.swaps]
    result = judge_swap(plan, planted, results, floor, policy, seed)
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from checks import findings as codes
from checks.bounds import ControlResult, ControlState
from checks.controls.swap_spots import Survey, Swap
from checks.greedy.bounds import ABSENT, LADDER
from checks.greedy.judge import (
    GreedyFloor,
    GreedyJudgement,
    TurnResult,
    conclude,
    judge_one,
)
from checks.greedy.noise import STEP_SLACK
from checks.greedy.rate_table import NoiseByShape
from checks.greedy.turn import measure_turn
from checks.policy import Policy
from checks.tokens.regret import scored_of
from traces.counted import counted
from traces.journal.score import Score, ScoreRequest

FAR, FREQUENT = "rank-2 token far beyond the noise", "rank-2 tokens above a rung"
FEWEST_SESSIONS = 8
"""Sessions below which planted rates prove nothing: intervals resample sessions, and fewer cannot
reject at 5% whatever they show."""

PLANTED_SHARE = 1.5
"""Planted exceedances as a multiple of those that would break the rung: what the baseline scores
anew behind them moves the counts a little."""


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


def plan_far_swap(survey: Survey, judgement: GreedyJudgement) -> SwapPlan:
    """One swap, of the smallest regret beyond the baseline's noise that the run's lists offer."""
    empty = SwapPlan(FAR, codes.GREEDY_DIVERGENCE)
    if not survey.count:
        return replace(empty, problem=ABSENT, applicable=False)
    floor = next(noise for noise in judgement.noise if noise.shape == "decode")
    for spot in survey.cheapest(floor.far):
        swap = survey.swap_at(spot)
        if swap is not None:
            return replace(empty, swaps=(swap,))
    return replace(
        empty, problem=f"no clean turn lists a runner-up more than {floor.far:.3g} nat away"
    )


def plan_frequent_swaps(survey: Survey, judgement: GreedyJudgement, seed: int) -> SwapPlan:
    """Swaps that break the lowest rung of decode shape for which the run's lists offer enough of
    them, spread over sessions."""
    empty = SwapPlan(FREQUENT, codes.REGRET_RATE)
    if not survey.count:
        return replace(empty, problem=ABSENT, applicable=False)
    if judgement.sessions < FEWEST_SESSIONS:
        few = f"{judgement.sessions} sessions are too few to tell a rate from one odd session"
        return replace(empty, problem=few)
    problem = "no rung of the ladder has power in decode shape"
    for rung in judgement.ladder.rungs:
        if rung.shape != "decode" or rung.needed is None:
            continue
        wanted = math.ceil(PLANTED_SHARE * rung.needed) - rung.exceedances
        swaps = _swaps(survey, judgement, rung.threshold, wanted, seed)
        if len(swaps) >= wanted:
            return replace(empty, kind=f"{FREQUENT} ({rung.threshold:g} nat)", swaps=swaps)
        problem = (
            f"{len(swaps)} turns list a runner-up more than {rung.threshold:g} nat away, {wanted} "
            "are wanted, and no other rung with power has more"
        )
    return replace(empty, problem=problem)


def _swaps(
    survey: Survey, judgement: GreedyJudgement, threshold: float, wanted: int, seed: int
) -> tuple[Swap, ...]:
    """At most `wanted` swaps, one a turn, between a threshold (nat) and what is far beyond noise;
    of the rungs above that, of any regret."""
    far = next(noise.far for noise in judgement.noise if noise.shape == "decode")
    high = far if threshold < far else math.inf
    swaps: dict[int, Swap] = {}
    for spot in survey.spread(threshold + STEP_SLACK, high, seed):
        if len(swaps) >= wanted:
            break
        swap = None if spot.turn in swaps else survey.swap_at(spot)
        if swap is not None:
            swaps[spot.turn] = swap
    return tuple(swaps.values())


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
        ladder = next(bound for bound in judgement.bounds if bound.name == LADDER)
        named = all(swap.index in seen[swap.place] for swap in plan.swaps)
        caught = named and ladder.state in ("fail", "inconclusive")
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
