"""What a run has gathered so far; filled step by step, judged at the end."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime

from checks.controls.swap import SwapPlan
from checks.greedy_judgement import GreedyJudgement
from checks.greedy_turn import GreedyTurn
from checks.profile_row import ProfileRow
from draftgate.config import Config
from draftgate.gate.evidence import Evidence, TurnId
from draftgate.gate.folder import RunFolder
from draftgate.gate.plan import Plan
from draftgate.gate.turns import Answers, greedy_turns
from replay.drafter import DrafterConfigs
from traces.path_facts import PathFacts


@dataclass(slots=True)
class Record:
    """`limits` holds the `max_tokens` of every turn that fits the server, `too_long` the reason
    for each that does not; `reference` the acceptance profile to compare with. `greedy` is the
    judgement of `greedy_turns`, absent before it was made.
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

    def turns(self) -> list[GreedyTurn]:
        """The greedy turns with whatever scores there are by now.

        Servers the gate launched report processed log probabilities; of attached ones that is not
        known.
        """
        launched = all(facts.command for servers in self.facts.values() for facts in servers)
        return greedy_turns(self.evidence, self.answers, processed_logprobs=launched)
