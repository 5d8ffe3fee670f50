"""Everything that is judged about one run: pure, from what was gathered."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from checks.bounds import ControlResult
from checks.calls.behaviour import BehaviourJudgement, PairedOutcome, judge_behaviour
from checks.calls.outcomes import tool_pair
from checks.controls.temperature import judge_temperature_control
from checks.findings import Finding, in_report_order
from checks.greedy.bounds import RATE, enough_bounds
from checks.greedy.judge import GreedyJudgement
from checks.greedy.noise import explained_regret
from checks.greedy.rate_table import DEFAULT_DEFF
from checks.power import power_statement
from checks.run.acceptance import (
    Acceptance,
    PerturbedArm,
    drafter_notes,
    judge_acceptance,
    judge_perturbed,
)
from checks.run.answered import answered_bound, answered_turns
from checks.run.arms import ArmJudgement, arm_notes, judge_further, speed_curve, speed_pairs
from checks.run.evidence import Gathered, RunFacts
from checks.run.exact import PairJudgements, judge_controls, judge_pairs, with_policy
from checks.run.pairs import LivePair, main_pairs, plain_pairs
from checks.run.reading import Reading, readings_of
from checks.run.reruns import labelled, recurrences, stalls_judged
from checks.run.sampled import sampled_turns
from checks.run.server_load import counter_findings
from checks.run.setup import SetUp, judge_setup, with_block_size
from checks.run.slices import Slices, judge_run_slices
from checks.sampled.judge import judge_sampled
from checks.sampled.turn import SampledTurn, reason_not_judged
from checks.servers.speed import SpeedEstimate, compare_speed
from checks.servers.speed_curve import CurvePoint
from checks.slices.judge import slice_findings
from checks.stats.sessions import hash_order
from checks.verdict import Verdict, decide
from checks.vllm.split_run import SplitRun
from checks.vllm.splits import judge_split_invariance
from traces.journal.arm import MAIN
from traces.journal.exchange import PATHS, Evidence, Exchange, TurnId


@dataclass(frozen=True, slots=True)
class Conclusion:
    """Everything that was judged about one run."""

    verdict: Verdict
    findings: tuple[Finding, ...]
    setup: SetUp
    pairs: PairJudgements
    live_pairs: tuple[LivePair, ...]
    acceptance: Acceptance
    behaviour: BehaviourJudgement
    speed: tuple[SpeedEstimate, ...]
    controls: tuple[ControlResult, ...]
    readings: dict[TurnId, Reading]
    further: tuple[ArmJudgement, ...]
    perturbed: tuple[PerturbedArm, ...]
    slices: Slices
    curve: tuple[CurvePoint, ...]
    notes: tuple[str, ...]
    splits: SplitRun


def judge(run: Gathered, facts: RunFacts) -> Conclusion:
    """Every judgement of a run."""
    policy, seed, evidence, greedy = facts.policy, facts.seed, run.evidence, run.main.greedy
    server = with_block_size(facts.server, evidence)
    readings = readings_of(evidence, MAIN, facts)
    hard = explained_regret(greedy.noise)
    pairs = [
        *main_pairs(evidence, readings, server, hard),
        *plain_pairs(evidence, server, hard),
    ]
    judged = judge_pairs(pairs, policy)
    setup = judge_setup(facts, evidence)
    acceptance = judge_acceptance(readings, facts.drafting, facts.reference, policy, seed)
    outcomes = _outcomes(evidence)
    behaviour = judge_behaviour(outcomes, policy, seed)
    drawn = sampled_turns(evidence, run.answers, readings)
    sampled = judge_sampled(drawn, policy, seed)
    planted = judge_controls(run, pairs, acceptance.rows, policy, seed)
    splits = judge_split_invariance(
        _drawn(evidence.of("candidate"), seed),
        evidence.of("baseline"),
        facts.served["candidate"],
        facts.drafting.k or 1,
        seed,
    )
    controls = (*planted, judge_temperature_control(drawn, policy, seed), *splits.controls)
    further = tuple(judge_further(run, facts, found, server) for found in run.further)
    perturbed = tuple(
        judge_perturbed(evidence, arm, facts, readings) for arm in run.perturbed_arms(facts.arms)
    )
    curve = speed_curve(run, seed)
    whole = [
        *setup.findings,
        *labelled(greedy.findings, recurrences(evidence, facts, greedy.findings)),
        *sampled.findings,
        *acceptance.findings,
        *behaviour.findings,
        *counter_findings(run, facts),
        *splits.findings,
    ]
    known = [
        *stalls_judged(facts, evidence, judged.findings),
        *(with_policy(finding, policy) for finding in whole),
        *(finding for arm in further for finding in arm.findings),
    ]
    slices = judge_run_slices(run, facts, acceptance.sums, outcomes, known)
    failed = {bound.name for bound in (*greedy.bounds, behaviour.bound) if bound.state == "fail"}
    of_slices = slice_findings(
        slices.judged, rate_failed=RATE in failed, success_failed=behaviour.bound.name in failed
    )
    findings = in_report_order([*known, *(with_policy(f, policy) for f in of_slices)])
    verdict = decide(
        bounds=(
            *greedy.bounds,
            *sampled.bounds,
            *([] if run.main.turns else enough_bounds(_judged(drawn), policy)),
            behaviour.bound,
            answered_bound(answered_turns(evidence, facts)),
            *acceptance.bounds,
            *(bound for arm in further for bound in arm.bounds),
        ),
        findings=findings,
        controls=controls,
        power=[_power(greedy, acceptance), *splits.statements],
        setup=_nothing_to_judge(evidence),
    )
    return Conclusion(
        verdict,
        tuple(findings),
        setup,
        judged,
        (*pairs, *(pair for arm in further for pair in arm.live_pairs)),
        acceptance,
        behaviour,
        compare_speed(speed_pairs(evidence, facts.main), seed),
        controls,
        readings,
        further,
        perturbed,
        slices,
        curve,
        (
            *drafter_notes(acceptance, facts.drafting),
            *arm_notes(run, facts, curve),
            *(note for arm in perturbed for note in arm.notes),
        ),
        splits,
    )


def _drawn(exchanges: Mapping[TurnId, Exchange], seed: int) -> dict[TurnId, Exchange]:
    """In an order that only the seed and the turns' names decide: the budget may run out."""
    order = {name: place for place, name in enumerate(hash_order(map("/".join, exchanges), seed))}
    return dict(sorted(exchanges.items(), key=lambda item: order["/".join(item[0])]))


def _judged(drawn: Sequence[SampledTurn]) -> list[tuple[str, str]]:
    """Sampled turns whose law could be held against something."""
    return [(turn.session, turn.turn) for turn in drawn if reason_not_judged(turn) is None]


def _outcomes(evidence: Evidence) -> list[PairedOutcome]:
    """Tool-call success of every turn that both paths answered and at least one called a tool."""
    baseline = evidence.of("baseline")
    found = []
    for turn, exchange in evidence.of("candidate").items():
        if turn not in baseline:
            continue
        pair = tool_pair(exchange.request, baseline[turn].response, exchange.response)
        if pair is not None:
            found.append(PairedOutcome(*turn, *pair))
    return found


def _power(greedy: GreedyJudgement, acceptance: Acceptance) -> str:
    deff = greedy.rate.deff if greedy.rate else DEFAULT_DEFF
    whole = next((cell for cell in acceptance.cells if cell.dimension == "all"), None)
    first = whole.conditional[0].value if whole and whole.conditional else None
    return power_statement(greedy.tokens, deff, acceptance.drafts or None, first)


def _nothing_to_judge(evidence: Evidence) -> list[str]:
    """Reasons that make the run meaningless before anything is judged."""
    reasons = []
    for path in PATHS:
        exchanges = evidence.of(path)
        if not any(e.response.status == 200 for e in exchanges.values()):
            reasons.append(f"the {path} answered no turn")
    return reasons
