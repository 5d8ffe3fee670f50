"""The tokens planted in the main arm to be caught: which, and how they are judged."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from checks.controls.swap import SwapPlan, plan_far_swap, plan_frequent_swaps, planted_result
from checks.controls.swap_spots import Survey
from checks.greedy.judge import TurnResult, conclude
from checks.run.floor import RunFloor
from checks.run.sums import RunSums
from checks.sessions.evidence import Answers, RunFacts
from traces.journal.arm import MAIN
from traces.journal.score import Score


def plan_swaps(
    survey: Survey, sums: RunSums, floor: RunFloor, facts: RunFacts
) -> tuple[SwapPlan, ...]:
    """The tokens to plant in the main arm, from its turns as they were judged."""
    judged = conclude(
        [result for one in sums.ordered for result in one.arms[MAIN].results],
        floor.arms[MAIN],
        facts.policy,
        facts.seed,
    )
    return plan_far_swap(survey, judged), plan_frequent_swaps(survey, judged, facts.seed)


def with_swaps(sums: RunSums, floor: RunFloor, facts: RunFacts, answers: Answers) -> RunSums:
    """The sums with the planted tokens judged, each in its session."""
    return RunSums(
        {
            name: replace(one, swapped=swapped(facts.swaps, name, answers.scores, floor))
            for name, one in sums.sessions.items()
        }
    )


def swapped(
    plans: Sequence[SwapPlan], session: str, scores: Mapping[str, Score], floor: RunFloor
) -> dict[str, tuple[TurnResult, ...]]:
    """The tokens that are planted in a session's turns, judged, by the kind of the plan; `scores`
    is by request digest."""
    noise = floor.arms[MAIN].noise
    return {
        plan.kind: tuple(
            planted_result(swap, scores, noise) for swap in plan.swaps if swap.place[0] == session
        )
        for plan in plans
    }
