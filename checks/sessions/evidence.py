"""What a judgement of a run rests on, as values: facts of the whole run, and of each session."""

from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

from checks.acceptance.drafting import Drafting
from checks.acceptance.profile_row import ProfileRow
from checks.controls.swap import SwapPlan
from checks.pair import Neighbour
from checks.policy import Policy
from checks.servers.drafting_state import Kind
from checks.servers.restarts import Restart, restarts_of
from checks.sessions.in_flight import InFlight, span_of, text_of
from traces.journal.arm import MAIN, PLAIN, SAMPLED, Arm
from traces.journal.drafter_configs import DrafterConfigs
from traces.journal.exchange import (
    ArmKey,
    Evidence,
    Stray,
    TurnId,
    session_order,
    turn_order,
)
from traces.journal.loss import Loss
from traces.journal.path_facts import PathFacts
from traces.journal.score import Score
from traces.journal.served_parsers import ServedParsers
from traces.journal.server_sample import ServerSample
from traces.journal.vllm_flags import logprobs_mode
from traces.session.facts import SessionFacts
from traces.wire.response import Token

ArmTurn = tuple[str, str, str]
"""(arm, session, turn)."""

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class ServerFacts:
    """What pairs need to know of the servers: EOS strings, KV block size, context length."""

    eos: tuple[str, ...] = ()
    block_size: int | None = None
    max_model_len: int | None = None


@dataclass(frozen=True, slots=True)
class Answers:
    """What the baseline was asked beside the arms: teacher-forced scores by request digest, and
    its own next token by arm, turn and output index."""

    scores: Mapping[str, Score] = field(default_factory=dict)
    own_tokens: Mapping[str, Mapping[TurnId, Mapping[int, Token]]] = field(default_factory=dict)


def _mode(facts: PathFacts) -> str | None:
    """What log probabilities a server reports: by what its probe showed, else by its command line;
    `None` where neither says."""
    seen = facts.observables.processed_logprobs if facts.observables else None
    if seen is None:
        return logprobs_mode(facts.command)
    return "processed_logprobs" if seen else "raw_logprobs"


@dataclass(frozen=True, slots=True)
class RunFacts:
    """What is known of a whole run beside its captures.

    `servers` holds what every server of a path says of itself; `served` the parsers and the
    tokenizer it runs. `reference` is the acceptance profile to compare with, `pinned` the one that
    losses are compared with where it is another. `limits` holds the `max_tokens` of the turns that
    fit the servers, `too_long` why the others do not. `unread`
    counts rows of the sources that could not be used. `notes` are for the reader of the report;
    `unverified` says what could not be seen beside what the paths were compared by. `samples` are
    readings of the servers' metrics by arm, `losses` attempts whose connection was lost, `strays`
    records of journals that no judgement reads, `swaps` the tokens planted to be caught, which the
    baseline scored. `kind` is ``aa`` where equal paths are compared. `drafter_known` is whether a
    drafter's configs should be at hand.
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
    kind: Kind = "gate"
    reference: Sequence[ProfileRow] = ()
    pinned: Sequence[ProfileRow] = ()
    arms: tuple[Arm, ...] = ()
    sessions: tuple[SessionFacts, ...] = ()
    limits: Mapping[TurnId, int] = field(default_factory=dict)
    too_long: Mapping[TurnId, str] = field(default_factory=dict)
    unread: int = 0
    notes: tuple[str, ...] = ()
    unverified: tuple[str, ...] = ()
    samples: Mapping[ArmKey, Sequence[ServerSample]] = field(default_factory=dict)
    losses: Sequence[Loss] = ()
    strays: Sequence[Stray] = ()
    swaps: tuple[SwapPlan, ...] = ()

    @property
    def restarts(self) -> list[Restart]:
        """Where a server restarted while an arm ran."""
        launched = {
            path
            for path, servers in self.servers.items()
            if servers and all(server.command is not None for server in servers)
        }
        return restarts_of(self.samples, launched)

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
    def sampled(self) -> Arm:
        """A share of the turns recorded without a temperature, sampled besides."""
        return Arm(SAMPLED, self.concurrency)

    @property
    def processed_logprobs(self) -> bool:
        """Whether every server reports log probabilities as the sampler saw them."""
        return self.logprobs_modes == {"processed_logprobs"}

    @property
    def logprobs_modes(self) -> frozenset[str | None]:
        """What log probabilities the servers report; `None` among them: one does not show it."""
        return frozenset(_mode(facts) for servers in self.servers.values() for facts in servers)

    @property
    def reference_rows(self) -> Sequence[ProfileRow]:
        """The profile that losses of acceptance are compared with."""
        return self.pinned or self.reference

    @property
    def templates(self) -> Mapping[str, str]:
        """Name of the prompt template by session."""
        return {session.session: session.template for session in self.sessions}

    @property
    def tags(self) -> Mapping[str, Mapping[str, str]]:
        """Tags by session."""
        return {session.session: session.tags for session in self.sessions}

    @property
    def judged_arms(self) -> tuple[Arm, ...]:
        """The main arm, and every further one that both paths replay."""
        return (self.main, *(arm for arm in self.arms if arm.paired))

    def arms_on(self, captured: Container[ArmKey]) -> tuple[Arm, ...]:
        """The main arm, and the other ones that the candidate's captures are of."""
        others = (self.sampled, *self.arms)
        return (self.main, *(a for a in others if ("candidate", a.name) in captured))


@dataclass(frozen=True, slots=True)
class SessionEvidence:
    """What is known of one session on all arms.

    `captures` holds its exchanges alone, turns in the order of their ids. `neighbours` are the
    outputs of other requests that were in flight beside one of the candidate's, by arm and turn.
    `limits` and `too_long` are those of its turns.
    """

    session: str
    captures: Evidence
    answers: Answers
    neighbours: Mapping[ArmTurn, tuple[Neighbour, ...]] = field(default_factory=dict)
    facts: SessionFacts | None = None
    limits: Mapping[TurnId, int] = field(default_factory=dict)
    too_long: Mapping[TurnId, str] = field(default_factory=dict)


def with_evidence(
    facts: RunFacts,
    samples: Mapping[ArmKey, Sequence[ServerSample]],
    losses: Sequence[Loss],
    strays: Sequence[Stray],
    swaps: tuple[SwapPlan, ...] = (),
) -> RunFacts:
    """The facts of a run with what its journals say of the whole of it."""
    return replace(facts, samples=samples, losses=losses, strays=strays, swaps=swaps)


def sessions_of(evidence: Evidence, answers: Answers, facts: RunFacts) -> list[SessionEvidence]:
    """The evidence of a run session by session, in the order of their ids."""
    captures: dict[str, Evidence] = {}
    for key, exchanges in evidence.arms.items():
        for turn in sorted(exchanges, key=turn_order):
            held = captures.setdefault(turn[0], Evidence())
            held.arms.setdefault(key, {})[turn] = exchanges[turn]
    beside = _neighbours(evidence, facts)
    planned = Planned.of(facts)
    return [
        planned.session(name, captures.get(name, Evidence()), answers, beside.get(name, {}))
        for name in planned.names(captures)
    ]


@dataclass(frozen=True, slots=True)
class Planned:
    """What was planned of each session, by its id: its facts, and the limits of its turns."""

    facts: Mapping[str, SessionFacts]
    limits: Mapping[str, Mapping[TurnId, int]]
    too_long: Mapping[str, Mapping[TurnId, str]]

    @classmethod
    def of(cls, facts: RunFacts) -> "Planned":
        """The plan of a run, taken apart."""
        return cls(
            {session.session: session for session in facts.sessions},
            _by_session(facts.limits),
            _by_session(facts.too_long),
        )

    def names(self, captured: Iterable[str]) -> list[str]:
        """Every session of the plan and of those `captured`, in the order of their ids."""
        every = {*captured, *self.facts, *self.limits, *self.too_long}
        return sorted(every, key=session_order)

    def session(
        self,
        name: str,
        captures: Evidence,
        answers: Answers,
        neighbours: Mapping[ArmTurn, tuple[Neighbour, ...]],
    ) -> SessionEvidence:
        """The evidence of one session."""
        return SessionEvidence(
            name,
            captures,
            answers,
            neighbours,
            self.facts.get(name),
            self.limits.get(name, {}),
            self.too_long.get(name, {}),
        )


def _by_session(turns: Mapping[TurnId, T]) -> dict[str, dict[TurnId, T]]:
    found: dict[str, dict[TurnId, T]] = {}
    for turn, value in turns.items():
        found.setdefault(turn[0], {})[turn] = value
    return found


def _neighbours(
    evidence: Evidence, facts: RunFacts
) -> dict[str, dict[ArmTurn, tuple[Neighbour, ...]]]:
    """By session: what was in flight beside each of the candidate's turns."""
    found: dict[str, dict[ArmTurn, tuple[Neighbour, ...]]] = {}
    for arm in facts.arms_on(evidence.arms):
        exchanges = evidence.of("candidate", arm.name)
        beside = InFlight([span_of(one) for one in exchanges.values()])
        texts = {turn: text_of(one.response) for turn, one in exchanges.items()}
        for turn, one in exchanges.items():
            neighbours = tuple(
                Neighbour("/".join(other), texts[other]) for other in beside.beside(span_of(one))
            )
            found.setdefault(turn[0], {})[(arm.name, *turn)] = neighbours
    return found
