"""The candidate's acceptance: profile, comparison with a reference run, and NO_DRAFTS.

And what the arms with other prompts show: its acceptance there against its main arm's.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from checks.acceptance.counters import judge_speculation
from checks.acceptance.drafting import Drafting
from checks.acceptance.positions import DraftPositions
from checks.acceptance.profile import Cell, floor_bound, profile, profile_rows
from checks.acceptance.profile_row import ProfileRow
from checks.acceptance.profile_sums import ProfileSums
from checks.acceptance.reference import compare_with_reference
from checks.acceptance.steps import Steps, Unaligned
from checks.acceptance.template_shift import Shift, compare_templates
from checks.bounds import Bound
from checks.findings import NO_DRAFTS, UNALIGNED, Finding, NotJudged, in_report_order
from checks.policy import Policy
from checks.run.evidence import RunFacts
from checks.run.reading import Reading, readings_of
from traces.journal.arm import Arm
from traces.journal.exchange import Evidence, TurnId

NO_DRAFTS_LEAST = 100
"""So many drafts without one accepted token mean that the drafter does nothing."""


@dataclass(frozen=True, slots=True)
class Acceptance:
    """The acceptance profile of the candidate, and what is wrong with it.

    `bounds` holds the mean acceptance length against the policy's floor, where one is set.
    """

    sums: ProfileSums
    cells: tuple[Cell, ...]
    rows: tuple[ProfileRow, ...]
    findings: tuple[Finding, ...]
    not_judged: tuple[NotJudged, ...]
    drafts: int
    bounds: tuple[Bound, ...]


def judge_acceptance(
    readings: Mapping[TurnId, Reading],
    drafting: Drafting,
    reference: Sequence[ProfileRow],
    policy: Policy,
    seed: int,
) -> Acceptance:
    """Profile of all aligned turns; unaligned ones are findings of severity info."""
    sums = sums_of(readings, drafting.k or longest_draft(readings))
    unaligned: list[Finding] = []
    counters: list[Finding] = []
    drafts = accepted = 0
    for turn, reading in readings.items():
        if isinstance(reading.steps, Unaligned):
            text = f"steps do not reconcile: {reading.steps.message}"
            unaligned.append(Finding(UNALIGNED, text).at(*turn))
        speculation = reading.exchange.response.speculation
        counters += [finding.at(*turn) for finding in judge_speculation(speculation)]
        if speculation is not None:
            drafts += len(speculation.drafted or ())
            accepted += sum(speculation.accepted or ())
    rows = tuple(profile_rows(sums))
    compared = compare_with_reference(rows, reference) if reference else []
    findings = [item for item in compared if isinstance(item, Finding)]
    if drafts == 0:
        findings.append(Finding(NO_DRAFTS, "the candidate drafted nothing in the whole run"))
    elif accepted == 0 and drafts >= NO_DRAFTS_LEAST:
        findings.append(Finding(NO_DRAFTS, f"none of {drafts} drafts was accepted"))
    cells = tuple(profile(sums, seed=seed))
    return Acceptance(
        sums=sums,
        cells=cells,
        rows=rows,
        findings=tuple(in_report_order([*findings, *counters, *unaligned])),
        not_judged=tuple(item for item in compared if isinstance(item, NotJudged)),
        drafts=drafts,
        bounds=()
        if policy.acceptance_floor is None
        else (floor_bound(cells, policy.acceptance_floor),),
    )


def drafter_notes(acceptance: Acceptance, drafting: Drafting) -> list[str]:
    """What a reader must know where steps were drafted and those of no turn add up.

    An attached server that runs another method than `speculative_config` says is the likely cause:
    one that drafts at every step is read otherwise than one that skips some.
    """
    if acceptance.drafts == 0 or acceptance.rows:
        return []
    said = f"method {drafting.method}" if drafting.method else "no method"
    return [
        f"{acceptance.drafts} steps drafted, and those of no turn add up to its tokens: acceptance "
        f"is not measured; `candidate.speculative_config` names {said}: is it what the server runs?"
    ]


def sums_of(readings: Mapping[TurnId, Reading], k: int) -> ProfileSums:
    """Sums of every turn whose steps reconcile; no draft is longer than `k`."""
    sums = ProfileSums(k)
    for turn, reading in readings.items():
        if isinstance(reading.steps, Steps) and isinstance(reading.positions, DraftPositions):
            sums.add(turn[0], reading.positions, reading.steps)
    return sums


def longest_draft(readings: Mapping[TurnId, Reading]) -> int:
    """Most tokens one step drafted; 1 where none did."""
    lengths = [
        max(reading.exchange.response.speculation.drafted or (0,))
        for reading in readings.values()
        if reading.exchange.response.speculation is not None
    ]
    return max(lengths, default=1) or 1


@dataclass(frozen=True, slots=True)
class PerturbedArm:
    """One of them: its captures read closely, and how acceptance shifts in every slice."""

    arm: Arm
    readings: Mapping[TurnId, Reading]
    shifts: tuple[Shift, ...]

    @property
    def notes(self) -> list[str]:
        """What a reader should know of it: how much was lost, or that nothing can be said."""
        name = f"arm {self.arm.name} ({', '.join(self.arm.perturb)})"
        whole = next((shift for shift in self.shifts if shift.dimension == "all"), None)
        if whole is None or whole.main is None or whole.changed is None:
            return [f"{name}: too few drafts to compare acceptance with the main arm's"]
        if whole.change is None or whole.change == "alike":
            return []
        return [
            f"{name}: acceptance length {whole.changed:.2f}, {whole.main:.2f} of the same turns in "
            f"the main arm (difference {whole.length})"
        ]


def judge_perturbed(
    evidence: Evidence, arm: Arm, facts: RunFacts, main: Mapping[TurnId, Reading]
) -> PerturbedArm:
    """`arm` against the same turns of the main arm, whose captures `main` holds, read."""
    readings = readings_of(evidence, arm.name, facts)
    same = {turn: main[turn] for turn in readings if turn in main}
    k = facts.drafting.k or max(longest_draft(same), longest_draft(readings))
    shared = {turn: readings[turn] for turn in same}
    shifts = compare_templates(sums_of(same, k), sums_of(shared, k), seed=facts.seed)
    return PerturbedArm(arm, readings, tuple(shifts))
