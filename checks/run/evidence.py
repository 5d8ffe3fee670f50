"""What a judgement of a run rests on, as values: facts of the whole run, and what was gathered."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from checks.acceptance.drafting import Drafting
from checks.acceptance.profile_row import ProfileRow
from checks.controls.swap import SwapPlan
from checks.greedy.judge import GreedyJudgement
from checks.greedy.turn import GreedyTurn
from checks.policy import Policy
from traces.journal.arm import MAIN, PLAIN, Arm
from traces.journal.drafter_configs import DrafterConfigs
from traces.journal.exchange import Evidence, TurnId
from traces.journal.path_facts import PathFacts
from traces.journal.score import Score
from traces.journal.served_parsers import ServedParsers
from traces.session.facts import SessionFacts
from traces.wire.response import Token


@dataclass(frozen=True, slots=True)
class ServerFacts:
    """What pairs need to know of the servers: EOS strings, KV block size, context length."""

    eos: tuple[str, ...] = ()
    block_size: int | None = None
    max_model_len: int | None = None


@dataclass(frozen=True, slots=True)
class Answers:
    """What the baseline was asked beside the arms: teacher-forced scores by request digest, and
    its own next token by (turn, output index)."""

    scores: Mapping[str, Score] = field(default_factory=dict)
    own_tokens: Mapping[TurnId, Mapping[int, Token]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class RunFacts:
    """What is known of a whole run beside its captures.

    `servers` holds what every server of a path says of itself; `served` the parsers and the
    tokenizer it runs. `reference` is the
    acceptance profile to compare with. `too_long` says of a turn why the servers have no room for
    it, `limits` the `max_tokens` of those that fit. `unread` counts rows of the sources that could
    not be used. `notes` are for the reader of the report; `unverified` says what could not be seen
    beside what the paths were compared by. `drafter_known` is whether a drafter's configs should
    be at hand.
    """

    run: str
    policy: Policy
    seed: int
    concurrency: int
    servers: Mapping[str, Sequence[PathFacts]]
    server: ServerFacts
    drafting: Drafting
    served: Mapping[str, ServedParsers]
    speculative_config: Mapping[str, Any] = field(default_factory=dict)
    drafter: DrafterConfigs = field(default_factory=DrafterConfigs)
    drafter_known: bool = False
    reference: Sequence[ProfileRow] = ()
    arms: tuple[Arm, ...] = ()
    sessions: tuple[SessionFacts, ...] = ()
    limits: Mapping[TurnId, int] = field(default_factory=dict)
    too_long: Mapping[TurnId, str] = field(default_factory=dict)
    unread: int = 0
    notes: tuple[str, ...] = ()
    unverified: tuple[str, ...] = ()

    @property
    def family(self) -> str:
        """The tool parser that the candidate's markup is written for."""
        return self.served["candidate"].family

    @property
    def main(self) -> Arm:
        """The arm that every run has."""
        return Arm(MAIN, self.concurrency)

    @property
    def plain(self) -> Arm:
        """A share of the turns as users send them."""
        return Arm(PLAIN, self.concurrency)

    @property
    def processed_logprobs(self) -> bool:
        """Servers the gate launched report processed log probabilities; of attached ones that is
        not known."""
        return all(facts.command for servers in self.servers.values() for facts in servers)

    @property
    def templates(self) -> Mapping[str, str]:
        """Name of the prompt template by session."""
        return {session.session: session.template for session in self.sessions}


@dataclass(frozen=True, slots=True)
class JudgedTurns:
    """The greedy turns of an arm, and their judgement."""

    arm: Arm
    turns: Sequence[GreedyTurn]
    greedy: GreedyJudgement


@dataclass(frozen=True, slots=True)
class Gathered:
    """All captures of a run, what the baseline answered beside them, and the greedy turns of every
    arm that both paths replayed, judged. `swaps` are the planted tokens that it scored."""

    evidence: Evidence
    answers: Answers
    main: JudgedTurns
    further: tuple[JudgedTurns, ...] = ()
    swaps: tuple[SwapPlan, ...] = ()

    @property
    def judged_arms(self) -> tuple[Arm, ...]:
        """The main arm, and every further one that both paths replayed."""
        return (self.main.arm, *(found.arm for found in self.further))

    def perturbed_arms(self, arms: Sequence[Arm]) -> tuple[Arm, ...]:
        """Those of `arms` with other prompts that the candidate answered."""
        return tuple(a for a in arms if not a.paired and self.evidence.of("candidate", a.name))
