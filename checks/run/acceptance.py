"""The candidate's acceptance: its profile, and the comparison with a reference run.

And what the arms with other prompts show: its acceptance there against its main arm's.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from checks.acceptance.counters import judge_speculation
from checks.acceptance.dead import dead_run
from checks.acceptance.drafting import Drafting
from checks.acceptance.loss import judge_loss, loss_statement, losses
from checks.acceptance.positions import DraftPositions
from checks.acceptance.profile import NO_TAGS, Cell, floor_bound, profile, profile_rows
from checks.acceptance.profile_row import ProfileRow
from checks.acceptance.profile_sums import ProfileSums
from checks.acceptance.reference import compare_with_reference
from checks.acceptance.steps import Steps, Unaligned
from checks.acceptance.template_shift import Shift, compare_templates
from checks.bounds import Bound
from checks.findings import UNALIGNED, Finding, NotJudged, in_report_order
from checks.policy import Policy
from checks.sessions.reading import Reading
from traces.journal.arm import Arm
from traces.journal.exchange import TurnId


@dataclass(frozen=True, slots=True)
class Acceptance:
    """The acceptance profile of the candidate, and what is wrong with it.

    `bounds` holds the loss against the reference run, and the mean acceptance length against the
    policy's floor where one is set; `power` says what loss would have been seen.
    """

    sums: ProfileSums
    cells: tuple[Cell, ...]
    rows: tuple[ProfileRow, ...]
    findings: tuple[Finding, ...]
    not_judged: tuple[NotJudged, ...]
    drafts: int
    bounds: tuple[Bound, ...]
    power: str


@dataclass(frozen=True, slots=True)
class Accepted:
    """What the candidate's captures of the main arm add up to: sums of the aligned turns, findings
    about the others and about counters, drafts, and accepted tokens; `silent` answers do not show
    their drafts step by step."""

    sums: ProfileSums
    findings: tuple[Finding, ...] = ()
    drafts: int = 0
    tokens: int = 0
    silent: int = 0

    def __add__(self, other: "Accepted") -> "Accepted":
        return Accepted(
            self.sums + other.sums,
            self.findings + other.findings,
            self.drafts + other.drafts,
            self.tokens + other.tokens,
            self.silent + other.silent,
        )


def accepted_of(readings: Mapping[TurnId, Reading], k: int) -> Accepted:
    """The sums of some turns; no draft is longer than `k`."""
    found: list[Finding] = []
    drafts = tokens = silent = 0
    for turn, reading in readings.items():
        speculation = reading.exchange.response.speculation
        found += [finding.at(*turn) for finding in judge_speculation(speculation)]
        if isinstance(reading.steps, Unaligned):
            text = f"steps do not reconcile: {reading.steps.message}"
            found.append(Finding(UNALIGNED, text).at(*turn))
        if speculation is not None:
            drafts += speculation.steps
            tokens += speculation.accepted_tokens
        silent += speculation is None or not speculation.step_by_step
    return Accepted(sums_of(readings, k), tuple(found), drafts, tokens, silent)


def judge_acceptance(
    accepted: Accepted,
    reference: Sequence[ProfileRow],
    pinned: Sequence[ProfileRow],
    policy: Policy,
    seed: int,
    tags: Mapping[str, Mapping[str, str]] = NO_TAGS,
) -> Acceptance:
    """Profile of all aligned turns; unaligned ones are findings of severity info.

    Losses are compared with `pinned`, all else with `reference`.
    """
    rows = tuple(profile_rows(accepted.sums))
    compared = compare_with_reference(rows, reference) if reference else [*dead_run(accepted.sums)]
    lost = losses(rows, pinned, policy.acceptance_loss_margin)
    bound, lost_rows = judge_loss(lost, bool(pinned), policy)
    findings = [*(item for item in compared if isinstance(item, Finding)), *lost_rows]
    cells = tuple(profile(accepted.sums, tags, seed=seed))
    return Acceptance(
        sums=accepted.sums,
        cells=cells,
        rows=rows,
        findings=tuple(in_report_order([*findings, *accepted.findings])),
        not_judged=tuple(item for item in compared if isinstance(item, NotJudged)),
        drafts=accepted.drafts,
        bounds=(bound,)
        if policy.acceptance_floor is None
        else (bound, floor_bound(cells, policy.acceptance_floor)),
        power=loss_statement(lost, bool(pinned)),
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


@dataclass(frozen=True, slots=True)
class PerturbedArm:
    """One of them, and how acceptance shifts in every slice."""

    arm: Arm
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


def shared_sums(
    main: Mapping[TurnId, Reading], changed: Mapping[TurnId, Reading], k: int
) -> tuple[ProfileSums, ProfileSums]:
    """Sums of the main arm and of one with other prompts, over the turns that both have."""
    same = {turn: main[turn] for turn in changed if turn in main}
    return sums_of(same, k), sums_of({turn: changed[turn] for turn in same}, k)


def judge_perturbed(
    arm: Arm, sums: Sequence[tuple[ProfileSums, ProfileSums]], k: int, seed: int
) -> PerturbedArm:
    """`arm` against the same turns of the main arm; `sums` are those of each session."""
    before, after = ProfileSums(k), ProfileSums(k)
    for main, changed in sums:
        before, after = before + main, after + changed
    return PerturbedArm(arm, tuple(compare_templates(before, after, seed=seed)))
