"""What the further arms add to a run: findings, bounds, and the speed-up curve.

They search, the main arm certifies.

A further arm (another concurrency, a cold cache, a small KV cache) replays a share of the turns to
bring out faults that its load alone brings out. It fails the run like the main arm does. Too small
to certify a rate by itself, it leaves a rate that is merely undecided to the main arm: such a bound
does not apply, and says so. That too little of it could be judged, or none of it ran, stays open.
"""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace

from checks.acceptance.counters import judge_speculation
from checks.bounds import Bound
from checks.findings import PREFIX_CACHE_LOST, SAMPLED_SHIFT, Finding
from checks.greedy.bounds import ARGMAX, COVERAGE, HARD, RATE
from checks.greedy.judge import GreedyJudgement
from checks.greedy.noise import explained_regret
from checks.request import is_greedy
from checks.run.evidence import Gathered, JudgedTurns, RunFacts, ServerFacts
from checks.run.exact import PairJudgements, judge_pairs, of_arm, with_policy
from checks.run.notes import irregular_notes, stray_notes
from checks.run.pairs import LivePair, main_pairs
from checks.run.reading import Reading, readings_of
from checks.run.reruns import labelled, recurrences
from checks.run.server_load import load_notes
from checks.run.setup import ONLY_FIRST, prompt_differences
from checks.servers.server_counters import preempted
from checks.servers.speed import SpeedPair, compare_speed
from checks.servers.speed_curve import CurvePoint, half_empty, mean_in_flight
from traces.journal.arm import Arm
from traces.journal.exchange import Evidence, TurnId

LEFT_TO_MAIN = frozenset({RATE, ARGMAX})
"""Bounds that say nothing more where an arm leaves them undecided."""

NAMES = (HARD, RATE, ARGMAX, COVERAGE)

EVICTING = "the arm's load evicts cached blocks"
SAMPLED = (SAMPLED_SHIFT, "the law of sampled turns is judged in the main arm alone")


@dataclass(frozen=True, slots=True)
class ArmJudgement:
    """One further arm: the candidate's captures read closely, pairs, and what was concluded."""

    arm: Arm
    readings: Mapping[TurnId, Reading]
    live_pairs: tuple[LivePair, ...]
    pairs: PairJudgements
    findings: tuple[Finding, ...]
    bounds: tuple[Bound, ...]


def judge_further(
    run: Gathered, facts: RunFacts, found: JudgedTurns, server: ServerFacts
) -> ArmJudgement:
    """The exact checks on every pair of a further arm, and its greedy judgement."""
    arm, policy, evidence = found.arm, facts.policy, run.evidence
    readings = readings_of(evidence, arm.name, facts)
    hard = explained_regret(found.greedy.noise)
    live = tuple(main_pairs(evidence, readings, server, hard, arm.name))
    pairs = judge_pairs(live, policy)
    requests = [e.request for e in evidence.of("candidate", arm.name).values()]
    if drawn := sum(not is_greedy(request) for request in requests):
        pairs = replace(pairs, not_judged=Counter(pairs.not_judged) + Counter({SAMPLED: drawn}))
    if arm.small_kv or arm.concurrency > facts.concurrency:
        pairs = _without_cache_hits(pairs)
    tokens = arm_findings(arm.name, found.greedy)
    whole = [
        *labelled(tokens, recurrences(evidence, facts, tokens)),
        *(of_arm(arm.name, finding) for finding in _exact(evidence, arm)),
    ]
    return ArmJudgement(
        arm,
        readings,
        live,
        pairs,
        findings=(*pairs.findings, *(with_policy(finding, policy) for finding in whole)),
        bounds=arm_bounds(arm.name, found.greedy) if live else (missing_bound(arm.name),),
    )


def _exact(evidence: Evidence, arm: Arm) -> list[Finding]:
    """Other prompts on the two paths, and counters that contradict their steps."""
    counters = [
        finding.at(*turn)
        for turn, exchange in evidence.of("candidate", arm.name).items()
        for finding in judge_speculation(exchange.response.speculation)
    ]
    return [*prompt_differences(evidence, arm)[:ONLY_FIRST], *counters]


def _without_cache_hits(pairs: PairJudgements) -> PairJudgements:
    """A full cache drops blocks on each path at its own time, without anything being lost."""
    kept = tuple(f for f in pairs.findings if f.code != PREFIX_CACHE_LOST)
    dropped = len(pairs.findings) - len(kept)
    not_judged = Counter(pairs.not_judged)
    not_judged[PREFIX_CACHE_LOST, EVICTING] += dropped
    return replace(pairs, findings=kept, not_judged=+not_judged)


def arm_bounds(arm: str, judged: GreedyJudgement) -> tuple[Bound, ...]:
    """The bounds of a further arm: ``greedy_regret_rate[c16]``."""
    return tuple(_of_arm(arm, bound) for bound in judged.bounds if bound.name in NAMES)


def missing_bound(arm: str) -> Bound:
    """The bound of an arm that was asked for and gave nothing to judge."""
    return Bound(f"{HARD}[{arm}]", "inconclusive", "no turn was replayed on both paths")


def _of_arm(arm: str, bound: Bound) -> Bound:
    name = f"{bound.name}[{arm}]"
    if bound.state == "inconclusive" and bound.name in LEFT_TO_MAIN:
        message = f"no fault found, and none ruled out at this size: {bound.message}"
        return replace(bound, name=name, state="not_applicable", message=message, needed=None)
    return replace(bound, name=name)


def arm_findings(arm: str, judged: GreedyJudgement) -> list[Finding]:
    """The findings of a further arm, which know where they were seen."""
    return [of_arm(arm, finding) for finding in judged.findings]


def speed_curve(run: Gathered, seed: int) -> tuple[CurvePoint, ...]:
    """One point per arm whose servers ran as they will be used, by concurrency."""
    arms = [arm for arm in run.judged_arms if arm.on_curve]
    points = [_point(run.evidence, arm, seed) for arm in arms]
    return tuple(sorted(points, key=lambda point: point.concurrency))


def speed_pairs(evidence: Evidence, arm: Arm) -> list[SpeedPair]:
    """Both answers to every turn that both paths answered in `arm`."""
    baseline = evidence.of("baseline", arm.name)
    return [
        SpeedPair(*turn, baseline[turn].response, exchange.response)
        for turn, exchange in evidence.of("candidate", arm.name).items()
        if turn in baseline
    ]


def _point(evidence: Evidence, arm: Arm, seed: int) -> CurvePoint:
    baseline = evidence.of("baseline", arm.name)
    candidate = evidence.of("candidate", arm.name)
    return CurvePoint(
        arm.name,
        arm.concurrency,
        mean_in_flight([(e.sent_at, e.ended_at) for e in baseline.values()]),
        mean_in_flight([(e.sent_at, e.ended_at) for e in candidate.values()]),
        compare_speed(speed_pairs(evidence, arm), seed),
    )


def arm_notes(run: Gathered, facts: RunFacts, curve: tuple[CurvePoint, ...]) -> list[str]:
    """What a reader should know of the arms' answers and loads."""
    evidence = run.evidence
    notes = [*facts.notes, *stray_notes(evidence), *irregular_notes(evidence)]
    for arm in run.judged_arms:
        notes += load_notes(run, facts, arm) if arm.on_curve else []
        notes += _preemption(evidence, arm) if arm.small_kv else []
    if run.further:
        notes += [note for point in curve if (note := half_empty(point)) is not None]
    return notes


def _preemption(evidence: Evidence, arm: Arm) -> list[str]:
    """How often the small cache made turns preempt each other; without, the arm shows nothing."""
    counted = preempted(evidence.samples.get(("candidate", arm.name), []))
    if counted:
        return [f"arm {arm.name}: the candidate preempted turns {counted:,.0f} times"]
    known = "no turn was preempted" if counted == 0 else "preemptions are not known"
    return [f"arm {arm.name}: {known} on the candidate, so it shows nothing about preemption"]
