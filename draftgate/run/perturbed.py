"""What the arms with other prompts show: the candidate's acceptance against its main arm's."""

from collections.abc import Mapping
from dataclasses import dataclass

from checks.acceptance.template_shift import Shift, compare_templates
from checks.run.acceptance import longest_draft, sums_of
from checks.run.arms import Reader, readings_of
from draftgate.run.arms import Arm
from traces.journal.exchange import TurnId
from checks.run.reading import Reading
from draftgate.run.record import Record


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
    record: Record, arm: Arm, reader: Reader, main: Mapping[TurnId, Reading]
) -> PerturbedArm:
    """`arm` against the same turns of the main arm, whose captures `main` holds, read."""
    readings = readings_of(record, arm.name, reader)
    same = {turn: main[turn] for turn in readings if turn in main}
    k = reader.drafting.k or max(longest_draft(same), longest_draft(readings))
    shared = {turn: readings[turn] for turn in same}
    shifts = compare_templates(sums_of(same, k), sums_of(shared, k), seed=record.config.run.seed)
    return PerturbedArm(arm, readings, tuple(shifts))
