"""Each matter of a run judged by itself, from the sums of its sessions; the planted controls."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from checks.acceptance.no_drafts import DraftCounts, Drafts, counted, judge_drafts
from checks.acceptance.profile_sums import ProfileSums
from checks.bounds import ControlResult
from checks.calls.answer_rates import RatesJudgement, judge_rates
from checks.calls.behavior import BehaviorJudgement, judge_behavior
from checks.calls.call_agreement import AgreementJudgement, judge_agreement
from checks.controls.acceptance import judge_acceptance_control
from checks.controls.argument import judge_argument_control
from checks.controls.pair_control import Planted
from checks.controls.pairs import plant_pair_controls
from checks.controls.rechunk import judge_rechunk_control
from checks.controls.scores import judge_scores_control
from checks.controls.swap import judge_swap
from checks.controls.temperature import judge_temperature_control
from checks.controls.unchanged import Copies, judge_unchanged
from checks.greedy.judge import GreedyJudgement
from checks.greedy.shift import ShiftJudgement, judge_shift
from checks.run.acceptance import (
    Acceptance,
    Accepted,
    PerturbedArm,
    judge_acceptance,
    judge_perturbed,
)
from checks.run.arms import ArmJudgement, greedy_of, judge_further
from checks.run.bounds import sampled_of
from checks.run.exact import PairJudgements, exact_checks
from checks.run.floor import (
    RunFloor,
)
from checks.run.sums import ArmSums, SessionSums, added_up
from checks.sampled.judge import SampledJudgement
from checks.sessions.evidence import RunFacts
from checks.sessions.setup import SetUp, judge_setup
from checks.vllm.split_run import SplitRun
from checks.vllm.splits import conclude_splits
from traces.journal.arm import MAIN, Arm

LONGEST_DRAFT = 3
"""k of the re-chunking control: what its parser gets wrong shows from one drafted token on."""


@dataclass(frozen=True, slots=True)
class Parts:
    """The judgements of single matters, before they are put together."""

    setup: SetUp
    greedy: GreedyJudgement
    scores: ShiftJudgement
    pairs: PairJudgements
    sampled: SampledJudgement
    acceptance: Acceptance
    drafts: Drafts
    behavior: BehaviorJudgement
    agreement: AgreementJudgement
    rates: RatesJudgement
    splits: SplitRun
    further: tuple[ArmJudgement, ...]
    perturbed: tuple[PerturbedArm, ...]


def judge_parts(
    sessions: Sequence[SessionSums],
    arms: Mapping[Arm, Sequence[ArmSums]],
    floor: RunFloor,
    facts: RunFacts,
) -> Parts:
    """Each matter by itself."""
    policy, seed, main = facts.policy, facts.seed, arms[facts.main]
    accepted = added_up((one.accepted for one in sessions), Accepted(ProfileSums(floor.k)))
    beside = added_up((one.served + one.added.exact for one in sessions), PairJudgements())
    return Parts(
        setup=_setup(sessions, main, facts),
        greedy=greedy_of(main, facts.main, floor, facts),
        scores=judge_shift([turn for one in sessions for turn in one.score_shifts], policy),
        pairs=added_up((one.exact for one in main), PairJudgements()) + beside,
        sampled=sampled_of(sessions, policy, seed),
        acceptance=judge_acceptance(
            accepted, facts.reference, facts.reference_rows, policy, seed, facts.tags
        ),
        drafts=_drafts(accepted, facts),
        behavior=judge_behavior([o for one in sessions for o in one.outcomes], policy, seed),
        agreement=judge_agreement([turn for one in main for turn in one.changes], policy, seed),
        rates=judge_rates([turn for one in sessions for turn in one.rates], seed),
        splits=_splits(sessions, floor, facts),
        further=tuple(
            judge_further(arm, found, floor, facts)
            for arm, found in arms.items()
            if not arm.is_main
        ),
        perturbed=tuple(_perturbed(sessions, floor, facts)),
    )


def _drafts(accepted: Accepted, facts: RunFacts) -> Drafts:
    """Equal paths (A/A) need no drafter."""
    if facts.kind == "aa":
        return Drafts()
    answers = DraftCounts(accepted.drafts, accepted.tokens)
    return judge_drafts(
        answers, accepted.silent, counted(facts.samples.get(("candidate", MAIN), ()))
    )


def _setup(sessions: Sequence[SessionSums], main: Sequence[ArmSums], facts: RunFacts) -> SetUp:
    prints: dict[str, set[str]] = {}
    for one in sessions:
        for path, found in one.prints.items():
            prints.setdefault(path, set()).update(found)
    return judge_setup(
        facts,
        prints,
        [finding for one in main for finding in one.prompts],
        {run for one in sessions for run in one.runs},
    )


def _splits(sessions: Sequence[SessionSums], floor: RunFloor, facts: RunFacts) -> SplitRun:
    fates: Counter[str] = sum((Counter(one.uncut) for one in sessions), Counter())
    return conclude_splits(
        [output for one in sessions for output in one.cuts],
        fates,
        floor.drawn,
        sum(one.arms[MAIN].turns for one in sessions),
        facts.served["candidate"],
        floor.cutter,
        [output for one in sessions for output in one.delivered],
    )


def _perturbed(
    sessions: Sequence[SessionSums], floor: RunFloor, facts: RunFacts
) -> Iterable[PerturbedArm]:
    """The arms with other prompts that the candidate answered."""
    for arm in facts.arms:
        if any(one.changed.get(arm.name) for one in sessions):
            shifts = [one.shifts[arm.name] for one in sessions]
            yield judge_perturbed(arm, shifts, floor.k, facts.seed)


def judge_controls(
    sessions: Sequence[SessionSums], parts: Parts, floor: RunFloor, facts: RunFacts
) -> tuple[ControlResult, ...]:
    """Planted faults that must be caught, and the unchanged copy in which nothing may fire."""
    policy, seed, of_main = facts.policy, facts.seed, floor.arms[MAIN]
    results = [result for one in sessions for result in one.arms[MAIN].results]
    copies = added_up((one.copies for one in sessions), Copies())
    return (
        *(
            judge_swap(
                plan,
                [result for one in sessions for result in one.swapped.get(plan.kind, ())],
                results,
                of_main,
                policy,
                seed,
            )
            for plan in facts.swaps
        ),
        *(planted.result for planted in _planted(sessions, facts)),
        judge_rechunk_control(floor.pieces, LONGEST_DRAFT, seed),
        judge_acceptance_control(parts.acceptance.rows, facts.reference_rows, policy),
        judge_argument_control(
            [call for one in sessions for call in one.planted_calls],
            [turn for one in sessions for turn in one.arms[MAIN].changes],
            policy,
            seed,
        ),
        judge_scores_control(
            [turn for one in sessions for turn in one.planted_shifts], parts.scores, policy
        ),
        judge_unchanged(copies, parts.greedy, results, of_main, policy, seed),
        judge_temperature_control(
            [r for one in sessions for r in (*one.redrawn, *one.added.redrawn)],
            policy,
            seed,
            required=any(one.redrawn for one in sessions),
        ),
        *parts.splits.controls,
    )


def _planted(sessions: Sequence[SessionSums], facts: RunFacts) -> Iterable[Planted]:
    """Every fault that is planted in a single turn, where the run's hash order has it first."""
    whole = plant_pair_controls((), (), exact_checks, facts.seed)
    for one in sessions:
        whole = tuple(known + more for known, more in zip(whole, one.planted, strict=True))
    return whole
