"""A run judged from the sums of its sessions: findings, bounds, controls, and the verdict.

The live gate, `check` of journals, a resumed run and the pytest plugin all end here:

    judgement = judge_run(sums, floor, facts)       # `judge_all` makes all three of the evidence
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from checks.acceptance.profile import Cell, profile
from checks.acceptance.profile_sums import ProfileSums
from checks.bounds import Bound
from checks.causes import ArmTurn, with_causes
from checks.controls.swap_spots import Survey
from checks.findings import Finding, in_report_order
from checks.greedy.bounds import LADDER, RATE
from checks.greedy.judge import GreedyJudgement
from checks.policy import Policy
from checks.power import token_statement
from checks.run.acceptance import (
    Acceptance,
    drafter_notes,
)
from checks.run.answered import Load, counter_findings, irregular_notes, stray_notes
from checks.run.arms import arm_notes, speed_curve
from checks.run.bounds import faithful_bounds, turn_bounds, unfaithful_notes
from checks.run.exact import with_policy
from checks.run.floor import RunFloor, RunMeasures, measure_session, run_floor
from checks.run.parts import Parts, judge_controls, judge_parts
from checks.run.read import Sessions
from checks.run.routes import RouteSums, route_notes
from checks.run.session import judge_session
from checks.run.slices import Slices, judge_run_slices
from checks.run.sums import ArmSums, RunSums, SessionSums, added_up
from checks.run.swaps import plan_swaps, with_swaps
from checks.sampled.path import added_statement, sampler_statement
from checks.scope import Scope
from checks.servers.draft_ids import draft_id_notes
from checks.servers.restarts import judge_losses
from checks.servers.speed import SpeedEstimate, compare_speed, compare_speed_by_context
from checks.servers.speed_curve import CurvePoint
from checks.sessions.evidence import Answers, RunFacts
from checks.slices.judge import slice_findings
from checks.slices.regret import RegretSlice, judge_regret_slices
from checks.verdict import Verdict, decide
from traces.collection import heap_set_aside
from traces.journal.arm import MAIN, SAMPLED, SERVED, Arm
from traces.journal.exchange import PATHS, ArmKey


@dataclass(frozen=True, slots=True)
class RunJudgement:
    """Everything that was judged about one run; `turns` counts the candidate's in the main arm.
    `profiles` are those of every arm that drafted, `faithful` the bounds of the turns alone whose
    prompt is exact or rebuilt; the verdict rests on those of all turns."""

    verdict: Verdict
    findings: tuple[Finding, ...]
    parts: Parts
    profiles: Mapping[str, tuple[Cell, ...]]
    slices: Slices
    speed: tuple[SpeedEstimate, ...]
    speed_by_context: Mapping[str, tuple[SpeedEstimate, ...]]
    curve: tuple[CurvePoint, ...]
    notes: tuple[str, ...]
    turns: int
    scope: Scope
    regrets: tuple[RegretSlice, ...]
    routes: Mapping[str, RouteSums]
    faithful: tuple[Bound, ...] = ()


@dataclass(frozen=True, slots=True)
class JudgedRun:
    """A run judged, and what that rests on: its sessions as they were read, for rows and cases."""

    sessions: Sessions
    floor: RunFloor
    sums: RunSums
    judgement: RunJudgement


def judge_all(sessions: Sessions, facts: RunFacts, answers: Answers | None = None) -> JudgedRun:
    """Both passes over the sessions of a run, and its judgement.

    With `answers` the tokens to be caught are planted here, and judged by the scores among them;
    without, they are those of `facts`, which the baseline was asked about.
    """
    floor = run_floor(
        RunMeasures.of((one.session, measure_session(one, facts)) for one in sessions), facts
    )
    survey = Survey(sessions.turn)
    found: dict[str, SessionSums] = {}
    with heap_set_aside():
        for one in sessions:
            found[one.session] = judge_session(one, floor, facts)
            if answers is not None:
                turns = [turn for turn, _ in one.greedy[MAIN]]
                for turn, result in zip(turns, found[one.session].arms[MAIN].results, strict=True):
                    survey.add(turn, result.judgement)
    sums = RunSums(found)
    if answers is not None:
        facts = replace(facts, swaps=plan_swaps(survey, sums, floor, facts))
        sums = with_swaps(sums, floor, facts, answers)
    return JudgedRun(sessions, floor, sums, judge_run(sums, floor, facts))


def judge_run(sums: RunSums, floor: RunFloor, facts: RunFacts) -> RunJudgement:
    """Judge a run; the order in which its sums were added makes no difference."""
    sessions, policy = sums.ordered, facts.policy
    arms = {arm: [one.arms[arm.name] for one in sessions] for arm in facts.judged_arms}
    loads = _loads(sessions)
    parts = judge_parts(sessions, arms, floor, facts)
    counters = counter_findings(loads, _most(arms, sessions, facts), facts)
    counters += [finding for one in sessions for finding in one.added.whole]
    lost, lost_notes = judge_losses(facts.losses, facts.restarts)
    known = _findings(parts, [*counters, *lost], policy)
    slices = judge_run_slices(
        {turn: names for one in sessions for turn, names in one.slices.items()},
        [result.regrets for one in arms[facts.main] for result in one.results],
        parts.greedy,
        parts.acceptance.sums,
        [outcome for one in sessions for outcome in one.outcomes],
        known,
        facts,
    )
    caused = with_causes([*known, *_of_slices(slices, parts, policy)], MAIN, _equal(arms))
    findings = in_report_order(list(caused))
    timed = [pair for one in arms[facts.main] for pair in one.speed]
    curve = speed_curve(arms, loads, facts.seed)
    scope = sum((one.scope for one in sessions), Scope())
    verdict = decide(
        bounds=_bounds(parts, sessions, policy),
        findings=findings,
        controls=judge_controls(sessions, parts, floor, facts),
        power=[
            _power(parts.greedy, parts.acceptance),
            *parts.splits.statements,
            *_samplers(sessions, facts),
        ],
        setup=_nothing_to_judge(sessions),
        aa=facts.kind == "aa",
        scope=scope.statement,
    )
    return RunJudgement(
        verdict=verdict,
        findings=tuple(findings),
        parts=parts,
        profiles={MAIN: parts.acceptance.cells, **_profiles(sessions, floor, facts)},
        slices=slices,
        speed=compare_speed(timed, facts.seed),
        speed_by_context=compare_speed_by_context(timed, facts.seed),
        curve=curve,
        notes=(
            *_notes(parts, sessions, facts),
            *arm_notes(arms, loads, curve, facts),
            *(note for arm in parts.perturbed for note in arm.notes),
            *lost_notes,
        ),
        turns=sum(one.turns for one in arms[facts.main]),
        scope=scope,
        routes=_routes(sessions),
        faithful=faithful_bounds(sessions, floor, facts),
        regrets=judge_regret_slices(
            {name: sums.sessions[name].regrets for name in sorted(sums.sessions)}, facts.seed
        ),
    )


def _notes(parts: Parts, sessions: Sequence[SessionSums], facts: RunFacts) -> Iterable[str]:
    """What a reader should know but for the arms."""
    yield from drafter_notes(parts.acceptance, facts.drafting)
    yield from parts.drafts.notes
    yield from draft_id_notes(facts.servers)
    yield from facts.notes
    yield from stray_notes(facts.strays)
    yield from irregular_notes(sum((Counter(one.irregular) for one in sessions), Counter()))
    yield from unfaithful_notes(sessions, facts)
    yield from route_notes(_routes(sessions))


def _routes(sessions: Sequence[SessionSums]) -> dict[str, RouteSums]:
    """The counts of every served arm, in the order of `SERVED`."""
    ran = [arm for arm in SERVED if any(arm in one.routes for one in sessions)]
    nothing = RouteSums()
    return {arm: sum((s.routes.get(arm, nothing) for s in sessions), nothing) for arm in ran}


def _equal(arms: Mapping[Arm, Sequence[ArmSums]]) -> set[ArmTurn]:
    """The greedy turns whose tokens are the baseline's."""
    return {
        (arm.name, result.judgement.session, result.judgement.turn)
        for arm, sessions in arms.items()
        for one in sessions
        for result in one.results
        if result.judgement.equal
    }


def _profiles(
    sessions: Sequence[SessionSums], floor: RunFloor, facts: RunFacts
) -> dict[str, tuple[Cell, ...]]:
    """The acceptance of every further arm."""
    found = {}
    sampled = [SAMPLED] if any(one.added.turns for one in sessions) else []
    for arm in (*sampled, *(arm.name for arm in facts.arms)):
        sums = added_up((one.profiles[arm] for one in sessions), ProfileSums(floor.k))
        found[arm] = tuple(profile(sums, facts.tags, seed=facts.seed))
    return found


def _loads(sessions: Sequence[SessionSums]) -> dict[ArmKey, Load]:
    found: dict[ArmKey, list[Load]] = {}
    for one in sessions:
        for key, load in one.loads.items():
            found.setdefault(key, []).append(load)
    return {key: added_up(loads, Load()) for key, loads in found.items()}


def _most(
    arms: Mapping[Arm, Sequence[ArmSums]], sessions: Sequence[SessionSums], facts: RunFacts
) -> int:
    """Most sessions that were replayed side by side in any arm."""
    ran = [a for a in facts.arms if any(one.changed.get(a.name) for one in sessions)]
    return max(arm.concurrency for arm in (*arms, *ran))


def _findings(parts: Parts, counters: Sequence[Finding], policy: Policy) -> list[Finding]:
    """All findings but those of slices, at the severity of the policy."""
    whole = [
        *parts.setup.findings,
        *parts.greedy.findings,
        *parts.scores.findings,
        *parts.sampled.findings,
        *parts.acceptance.findings,
        *parts.drafts.findings,
        *parts.behavior.findings,
        *parts.rates.findings,
        *parts.agreement.findings,
        *counters,
        *parts.splits.findings,
    ]
    return [
        *parts.pairs.findings,
        *(with_policy(finding, policy) for finding in whole),
        *(finding for arm in parts.further for finding in arm.findings),
    ]


def _of_slices(slices: Slices, parts: Parts, policy: Policy) -> list[Finding]:
    """What slices show that the whole run has not failed by already."""
    bounds = (*parts.greedy.bounds, parts.behavior.bound)
    failed = {bound.name for bound in bounds if bound.state == "fail"}
    found = slice_findings(
        slices.judged,
        rate_failed=bool({LADDER, RATE} & failed),
        success_failed=parts.behavior.bound.name in failed,
    )
    return [with_policy(finding, policy) for finding in found]


def _bounds(parts: Parts, sessions: Sequence[SessionSums], policy: Policy) -> tuple[Bound, ...]:
    return (
        *turn_bounds(
            parts.greedy,
            parts.sampled,
            (parts.behavior.bound, parts.agreement.bound),
            sessions,
            policy,
        ),
        *parts.acceptance.bounds,
        *parts.drafts.bounds,
        *(bound for arm in parts.further for bound in arm.bounds),
    )


def _power(greedy: GreedyJudgement, acceptance: Acceptance) -> str:
    unsure = next((noise.open for noise in greedy.noise if noise.open is not None), None)
    shown = [(r.threshold, r.needed / r.tokens) for r in greedy.ladder.rungs if r.needed]
    tokens = token_statement(greedy.tokens, greedy.sessions, unsure, shown)
    return f"{tokens}; {acceptance.power}"


def _samplers(sessions: Sequence[SessionSums], facts: RunFacts) -> list[str]:
    drawn = [turn for one in sessions for turn in (*one.scored, *one.added.scored)]
    settings = {found for one in sessions for found in one.added.settings}
    said = (
        added_statement([turn for one in sessions for turn in one.added.scored], settings),
        sampler_statement(drawn, facts.logprobs_modes),
    )
    return [text for text in said if text is not None]


def _nothing_to_judge(sessions: Sequence[SessionSums]) -> list[str]:
    """Reasons that make the run meaningless before anything is judged."""
    return [
        f"the {path} answered no turn"
        for path in PATHS
        if not any(path in one.answered_on for one in sessions)
    ]
