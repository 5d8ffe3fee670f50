"""What the further arms add to a run: findings, bounds, and the speed-up curve.

They search, the main arm certifies.

A further arm (another concurrency, a cold cache, a small KV cache) replays a share of the turns to
bring out faults that its load alone brings out. It fails the run like the main arm does. Too small
to certify a rate by itself, it leaves a rate that is merely undecided to the main arm: such a bound
does not apply, and says so. That too little of it could be judged, or none of it ran, stays open.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from checks.bounds import Bound, not_applicable
from checks.findings import PREFIX_CACHE_LOST, SAMPLED_SHIFT, Finding
from checks.greedy.bounds import ARGMAX, COVERAGE, LADDER, RATE
from checks.greedy.judge import GreedyJudgement, conclude
from checks.greedy.levels import MAIN_LEVELS, further_levels
from checks.run.answered import Load, load_notes
from checks.run.exact import PairJudgements, of_arm, with_policy
from checks.run.floor import RunFloor
from checks.run.sums import ArmSums, added_up
from checks.servers.server_counters import preempted
from checks.servers.speed import compare_speed
from checks.servers.speed_curve import CurvePoint, half_empty, mean_in_flight
from checks.sessions.evidence import RunFacts
from checks.sessions.setup import ONLY_FIRST
from traces.journal.arm import Arm
from traces.journal.exchange import ArmKey

LEFT_TO_MAIN = frozenset({RATE, ARGMAX})
"""Bounds that say nothing more where an arm leaves them undecided."""

NAMES = (LADDER, RATE, ARGMAX, COVERAGE)

EVICTING = "the arm's load evicts cached blocks"
MASKED_RAW = (
    "tokens under a grammar are judged where servers report processed log probabilities; the exact "
    "checks of the arm apply"
)
SAMPLED = (SAMPLED_SHIFT, "the distribution of sampled turns is judged in the main arm alone")


@dataclass(frozen=True, slots=True)
class ArmJudgement:
    """One further arm: its greedy turns, its exact checks, and what was concluded."""

    arm: Arm
    greedy: GreedyJudgement
    pairs: PairJudgements
    findings: tuple[Finding, ...]
    bounds: tuple[Bound, ...]


def judge_further(
    arm: Arm, sessions: Sequence[ArmSums], floor: RunFloor, facts: RunFacts
) -> ArmJudgement:
    """What all sessions of a further arm show together."""
    greedy = greedy_of(sessions, arm, floor, facts)
    pairs = added_up((one.exact for one in sessions), PairJudgements())
    if drawn := sum(one.drawn for one in sessions):
        pairs = replace(pairs, not_judged=Counter(pairs.not_judged) + Counter({SAMPLED: drawn}))
    if arm.small_kv or arm.abort or arm.concurrency > facts.concurrency:
        pairs = _without_cache_hits(pairs)
    prompts = [finding for one in sessions for finding in one.prompts][:ONLY_FIRST]
    counters = [finding for one in sessions for finding in one.counters]
    whole = [of_arm(arm.name, f) for f in (*greedy.findings, *prompts, *counters)]
    bounds = arm_bounds(arm.name, greedy)
    if not any(one.pairs for one in sessions):
        bounds = (missing_bound(arm.name),)
    elif arm.grammar and not facts.processed_logprobs:
        bounds = (not_applicable(f"{LADDER}[{arm.name}]", MASKED_RAW),)
    return ArmJudgement(
        arm,
        greedy,
        pairs,
        findings=(*pairs.findings, *(with_policy(finding, facts.policy) for finding in whole)),
        bounds=bounds,
    )


def greedy_of(
    sessions: Sequence[ArmSums], arm: Arm, floor: RunFloor, facts: RunFacts
) -> GreedyJudgement:
    """The greedy turns of an arm, judged together."""
    results = [result for one in sessions for result in one.results]
    further = sum(not other.is_main for other in facts.judged_arms)
    levels = MAIN_LEVELS if arm.is_main else further_levels(further)
    return conclude(results, floor.arms[arm.name], facts.policy, facts.seed, levels)


def _without_cache_hits(pairs: PairJudgements) -> PairJudgements:
    """A full cache drops blocks on each path at its own time, without anything being lost."""
    kept = tuple(f for f in pairs.findings if f.code != PREFIX_CACHE_LOST)
    dropped = len(pairs.findings) - len(kept)
    not_judged = Counter(pairs.not_judged)
    not_judged[PREFIX_CACHE_LOST, EVICTING] += dropped
    return replace(pairs, findings=kept, not_judged=+not_judged)


def arm_bounds(arm: str, judged: GreedyJudgement) -> tuple[Bound, ...]:
    """The bounds of a further arm: ``greedy_regret_rate[c16]``."""
    left = LEFT_TO_MAIN | ({LADDER} if judged.ladder.blind else set())
    return tuple(_of_arm(arm, bound, left) for bound in judged.bounds if bound.name in NAMES)


def missing_bound(arm: str) -> Bound:
    """The bound of an arm that was asked for and gave nothing to judge."""
    return Bound(f"{LADDER}[{arm}]", "inconclusive", "no turn was replayed on both paths")


def _of_arm(arm: str, bound: Bound, left_to_main: frozenset[str]) -> Bound:
    name = f"{bound.name}[{arm}]"
    if bound.state == "inconclusive" and bound.name in left_to_main:
        message = f"no fault found, and none ruled out at this size: {bound.message}"
        return replace(bound, name=name, state="not_applicable", message=message, needed=None)
    return replace(bound, name=name)


def arm_findings(arm: str, judged: GreedyJudgement) -> list[Finding]:
    """The findings of a further arm, which know where they were seen."""
    return [of_arm(arm, finding) for finding in judged.findings]


def speed_curve(
    arms: Mapping[Arm, Sequence[ArmSums]], loads: Mapping[ArmKey, Load], seed: int
) -> tuple[CurvePoint, ...]:
    """One point per arm whose servers ran as they will be used, by concurrency."""
    points = [_point(arm, found, loads, seed) for arm, found in arms.items() if arm.on_curve]
    return tuple(sorted(points, key=lambda point: point.concurrency))


def _point(
    arm: Arm, sessions: Sequence[ArmSums], loads: Mapping[ArmKey, Load], seed: int
) -> CurvePoint:
    return CurvePoint(
        arm.name,
        arm.concurrency,
        mean_in_flight(loads.get(("baseline", arm.name), Load()).spans),
        mean_in_flight(loads.get(("candidate", arm.name), Load()).spans),
        compare_speed([pair for one in sessions for pair in one.speed], seed),
    )


def arm_notes(
    arms: Mapping[Arm, Sequence[ArmSums]],
    loads: Mapping[ArmKey, Load],
    curve: Sequence[CurvePoint],
    facts: RunFacts,
) -> list[str]:
    """What a reader should know of the arms' loads."""
    notes = []
    for arm, sessions in arms.items():
        chunks = [counts for one in sessions for counts in one.chunks]
        notes += load_notes(loads, chunks, facts, arm) if arm.on_curve else []
        notes += _preemption(facts, arm) if arm.small_kv else []
    if len(arms) > 1:
        notes += [note for point in curve if (note := half_empty(point)) is not None]
    return notes


def _preemption(facts: RunFacts, arm: Arm) -> list[str]:
    """How often the small cache made turns preempt each other; without, the arm shows nothing."""
    counted = preempted(facts.samples.get(("candidate", arm.name), ()))
    if counted:
        return [f"arm {arm.name}: the candidate preempted turns {counted:,.0f} times"]
    known = "no turn was preempted" if counted == 0 else "preemptions are not known"
    return [f"arm {arm.name}: {known} on the candidate, so it shows nothing about preemption"]
