"""Everything that is judged about one run: pure, from the evidence the record holds."""

from collections.abc import Sequence
from dataclasses import dataclass

from checks.acceptance.drafting import Drafting
from checks.bounds import ControlResult
from checks.calls.behaviour import BehaviourJudgement, PairedOutcome, judge_behaviour
from checks.calls.outcomes import tool_pair
from checks.controls.temperature import judge_temperature_control
from checks.findings import Finding, in_report_order
from checks.greedy.bounds import RATE, enough_bounds
from checks.greedy.noise import explained_regret
from checks.power import power_statement
from checks.run.answered import answered_bound
from checks.sampled.judge import judge_sampled
from checks.sampled.turn import SampledTurn, reason_not_judged
from checks.servers.speed import SpeedEstimate, SpeedPair, compare_speed
from checks.servers.speed_curve import CurvePoint
from checks.slices.judge import slice_findings
from checks.verdict import Verdict, decide
from checks.vllm.ngram import ngram_proposer
from checks.run.acceptance import Acceptance, drafter_notes, judge_acceptance
from draftgate.run.answers import answered_turns
from checks.run.arms import (
    ArmJudgement,
    Reader,
    arm_notes,
    judge_further,
    readings_of,
    speed_curve,
)
from draftgate.run.arms import MAIN
from traces.journal.exchange import TurnId
from checks.run.exact import PairJudgements, judge_controls, judge_pairs, with_policy
from checks.run.pairs import LivePair, main_pairs, plain_pairs
from draftgate.run.perturbed import PerturbedArm, judge_perturbed
from checks.run.reading import Reading
from draftgate.run.record import Record
from draftgate.run.reruns import labelled, recurrences
from checks.run.sampled import sampled_turns
from draftgate.run.served_parsers import served_parsers
from checks.run.server_load import counter_findings
from checks.run.setup import (
    SetUp,
    judge_setup,
    server_facts,
    tool_parser,
)
from checks.run.slices import Slices, judge_run_slices
from checks.vllm.split_run import SplitRun
from checks.vllm.splits import judge_split_invariance
from checks.run.stalls import stalls_judged


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


def judge(record: Record) -> Conclusion:
    """Every judgement of the run; pure, but for the evidence it reads from `record`."""
    config, policy, seed = record.config, record.config.policy, record.config.run.seed
    greedy = record.greedy
    assert greedy is not None, "the greedy turns are judged while the baseline is up"
    server = server_facts(config, record.facts, record.evidence)
    drafting = Drafting.from_config(config.candidate.speculative_config, server.max_model_len)
    setup = judge_setup(config, record.facts, record.drafter, record.evidence)
    served = setup.served["candidate"]
    reader = Reader(served.family, drafting, server, ngram_proposer(drafting))
    readings = readings_of(record, MAIN, reader)
    hard = explained_regret(greedy.noise, policy)
    pairs = [
        *main_pairs(record.evidence, readings, server, hard),
        *plain_pairs(record.evidence, server, hard),
    ]
    judged = judge_pairs(pairs, policy)
    acceptance = judge_acceptance(readings, drafting, record.reference, policy, seed)
    outcomes = _outcomes(record)
    behaviour = judge_behaviour(outcomes, policy, seed)
    drawn = sampled_turns(record.evidence, record.answers, readings)
    sampled = judge_sampled(drawn, policy, seed)
    planted = judge_controls(
        record.swaps,
        record.greedy_turns,
        greedy,
        pairs,
        record.answers.scores,
        acceptance.rows,
        policy,
        seed,
    )
    splits = judge_split_invariance(
        record.evidence.of("candidate"),
        record.evidence.of("baseline"),
        served,
        drafting.k or 1,
        seed,
    )
    controls = (*planted, judge_temperature_control(drawn, policy, seed), *splits.controls)
    further = tuple(judge_further(record, found, reader) for found in record.further.values())
    perturbed = tuple(
        judge_perturbed(record, arm, reader, readings) for arm in record.perturbed_arms
    )
    curve = speed_curve(record, seed)
    whole = [
        *setup.findings,
        *labelled(greedy.findings, recurrences(record, greedy.findings)),
        *sampled.findings,
        *acceptance.findings,
        *behaviour.findings,
        *counter_findings(record),
        *splits.findings,
    ]
    known = [
        *stalls_judged(config, record.evidence, judged.findings),
        *(with_policy(finding, policy) for finding in whole),
        *(finding for arm in further for finding in arm.findings),
    ]
    slices = judge_run_slices(record, acceptance.sums, outcomes, known)
    failed = {bound.name for bound in (*greedy.bounds, behaviour.bound) if bound.state == "fail"}
    of_slices = slice_findings(
        slices.judged, rate_failed=RATE in failed, success_failed=behaviour.bound.name in failed
    )
    findings = in_report_order([*known, *(with_policy(f, policy) for f in of_slices)])
    verdict = decide(
        bounds=(
            *greedy.bounds,
            *sampled.bounds,
            *([] if record.greedy_turns else enough_bounds(_judged(drawn), policy)),
            behaviour.bound,
            answered_bound(answered_turns(record), policy),
            *acceptance.bounds,
            *(bound for arm in further for bound in arm.bounds),
        ),
        findings=findings,
        controls=controls,
        power=[_power(record, acceptance), *splits.statements],
        setup=_nothing_to_judge(record),
    )
    return Conclusion(
        verdict,
        tuple(findings),
        setup,
        judged,
        (*pairs, *(pair for arm in further for pair in arm.live_pairs)),
        acceptance,
        behaviour,
        compare_speed(_speed_pairs(record), seed),
        controls,
        readings,
        further,
        perturbed,
        slices,
        curve,
        (
            *drafter_notes(acceptance, drafting),
            *arm_notes(record, curve),
            *(note for arm in perturbed for note in arm.notes),
        ),
        splits,
    )


def _judged(drawn: Sequence[SampledTurn]) -> list[tuple[str, str]]:
    """Sampled turns whose law could be held against something."""
    return [(turn.session, turn.turn) for turn in drawn if reason_not_judged(turn) is None]


def _outcomes(record: Record) -> list[PairedOutcome]:
    """Tool-call success of every turn that both paths answered and at least one called a tool."""
    baseline = record.evidence.of("baseline")
    found = []
    for turn, exchange in record.evidence.of("candidate").items():
        if turn not in baseline:
            continue
        pair = tool_pair(exchange.request, baseline[turn].response, exchange.response)
        if pair is not None:
            found.append(PairedOutcome(*turn, *pair))
    return found


def _speed_pairs(record: Record) -> list[SpeedPair]:
    baseline = record.evidence.of("baseline")
    return [
        SpeedPair(*turn, baseline[turn].response, exchange.response)
        for turn, exchange in record.evidence.of("candidate").items()
        if turn in baseline
    ]


def _power(record: Record, acceptance: Acceptance) -> str:
    assert record.greedy is not None
    rate = record.greedy.rate
    deff = rate.deff if rate else record.config.policy.default_deff
    whole = next((cell for cell in acceptance.cells if cell.dimension == "all"), None)
    first = whole.conditional[0].value if whole and whole.conditional else None
    return power_statement(record.greedy.tokens, deff, acceptance.drafts or None, first)


def _nothing_to_judge(record: Record) -> list[str]:
    """Reasons that make the run meaningless before anything is judged."""
    reasons = []
    for path in ("baseline", "candidate"):
        exchanges = record.evidence.of(path)
        if not any(e.response.status == 200 for e in exchanges.values()):
            reasons.append(f"the {path} answered no turn")
    return reasons
