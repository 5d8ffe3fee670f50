"""What a run has gathered so far; filled step by step, judged at the end."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime

from checks.acceptance.profile_row import ProfileRow
from checks.controls.swap import SwapPlan
from checks.greedy.judge import GreedyJudgement
from checks.greedy.turn import GreedyTurn
from draftgate.config.config import Config
from draftgate.run.arms import MAIN, Arm, main_arm
from traces.journal.exchange import Evidence, TurnId, read_evidence
from draftgate.run.folder import RunFolder
from draftgate.run.plan import Plan
from checks.run.turns import Answers, greedy_turns
from replay.drafter import DrafterConfigs
from traces.journal.path_facts import PathFacts


@dataclass(frozen=True, slots=True)
class ArmTurns:
    """The greedy turns of a further arm, and their judgement."""

    arm: Arm
    turns: Sequence[GreedyTurn]
    greedy: GreedyJudgement


@dataclass(slots=True)
class Record:
    """`limits` holds the `max_tokens` of every turn that fits the server, `too_long` the reason
    for each that does not; `reference` the acceptance profile to compare with. `greedy` is the
    judgement of `greedy_turns`, absent before it was made; `further` holds the same of every
    further arm, by its name. `notes` are for the reader of the report; `unverified` says what could
    not be seen beside what the paths were compared by.
    """

    config: Config
    plan: Plan
    folder: RunFolder
    started: datetime
    reference: Sequence[ProfileRow] = ()
    ended: datetime | None = None
    facts: dict[str, Sequence[PathFacts]] = field(default_factory=dict)
    drafter: DrafterConfigs = field(default_factory=DrafterConfigs)
    limits: dict[TurnId, int] = field(default_factory=dict)
    too_long: dict[TurnId, str] = field(default_factory=dict)
    evidence: Evidence = field(default_factory=Evidence)
    answers: Answers = field(default_factory=Answers)
    swaps: tuple[SwapPlan, ...] = ()
    greedy_turns: Sequence[GreedyTurn] = ()
    greedy: GreedyJudgement | None = None
    arms: tuple[Arm, ...] = ()
    further: dict[str, ArmTurns] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    unverified: list[str] = field(default_factory=list)

    @property
    def judged_arms(self) -> tuple[Arm, ...]:
        """The main arm, and every further one that both paths replayed."""
        return (main_arm(self.config), *(found.arm for found in self.further.values()))

    @property
    def perturbed_arms(self) -> tuple[Arm, ...]:
        """The arms with other prompts that the candidate answered."""
        return tuple(
            arm for arm in self.arms if not arm.paired and self.evidence.of("candidate", arm.name)
        )

    def read(self) -> None:
        """Read the journals there are by now."""
        further = [key for arm in self.arms for key in arm.keys]
        self.evidence = read_evidence(self.folder, further)

    def turns(self) -> list[GreedyTurn]:
        """The greedy turns of the main arm with whatever scores there are by now."""
        return self.turns_of(MAIN, "aa", self.answers)

    def turns_of(self, arm: str, repeat: str, answers: Answers) -> list[GreedyTurn]:
        """The greedy turns of an arm, with the scores in `answers`.

        Servers the gate launched report processed log probabilities; of attached ones that is not
        known.
        """
        launched = all(facts.command for servers in self.facts.values() for facts in servers)
        return greedy_turns(
            self.evidence, answers, processed_logprobs=launched, arm=arm, repeat=repeat
        )
