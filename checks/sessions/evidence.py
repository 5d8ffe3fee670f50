"""What a judgement of a run rests on, as values: facts of the whole run, and of each session."""

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from checks.acceptance.drafting import Drafting
from checks.acceptance.profile_row import ProfileRow
from checks.controls.swap import SwapPlan
from checks.pair import Neighbour
from checks.policy import Policy
from checks.servers.drafting_state import Kind
from checks.servers.restarts import Restart, cold_turns, restarts_of
from traces.journal.arm import MAIN, PLAIN, SAMPLED, Arm
from traces.journal.drafter_configs import DrafterConfigs
from traces.journal.exchange import (
    ArmKey,
    Evidence,
    Exchange,
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
from traces.wire.response import Response, Token

ArmTurn = tuple[str, str, str]
"""(arm, session, turn)."""


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

    def arms_on(self, evidence: Evidence) -> tuple[Arm, ...]:
        """The main arm, and the other ones that `evidence` holds the candidate's captures of."""
        others = (self.sampled, *self.arms)
        return (self.main, *(a for a in others if evidence.of("candidate", a.name)))


@dataclass(frozen=True, slots=True)
class SessionEvidence:
    """What is known of one session on all arms.

    `captures` holds its exchanges alone, turns in the order of their ids. `neighbours` are the
    outputs of other requests that were in flight beside one of the candidate's, by arm and turn.
    `limits` and `too_long` are those of its turns. `cold` are the candidate's turns, by arm, that
    may have found an empty prefix cache, for its server had restarted.
    """

    session: str
    captures: Evidence
    answers: Answers
    neighbours: Mapping[ArmTurn, tuple[Neighbour, ...]] = field(default_factory=dict)
    facts: SessionFacts | None = None
    limits: Mapping[TurnId, int] = field(default_factory=dict)
    too_long: Mapping[TurnId, str] = field(default_factory=dict)
    cold: frozenset[ArmTurn] = frozenset()


def with_evidence(facts: RunFacts, evidence: Evidence, swaps: tuple[SwapPlan, ...]) -> RunFacts:
    """The facts of a run with what its journals say of the whole of it."""
    return replace(
        facts,
        samples=evidence.samples,
        losses=tuple(evidence.losses),
        strays=evidence.strays,
        swaps=swaps,
    )


def sessions_of(evidence: Evidence, answers: Answers, facts: RunFacts) -> list[SessionEvidence]:
    """The evidence of a run session by session, in the order of their ids."""
    captures: dict[str, Evidence] = {}
    for key, exchanges in evidence.arms.items():
        for turn in sorted(exchanges, key=turn_order):
            held = captures.setdefault(turn[0], Evidence())
            held.arms.setdefault(key, {})[turn] = exchanges[turn]
    beside, cold = _neighbours(evidence, facts), _cold(evidence, facts)
    known = {session.session: session for session in facts.sessions}
    planned = {session for session, _ in (*facts.limits, *facts.too_long)}
    return [
        SessionEvidence(
            name,
            captures.get(name, Evidence()),
            answers,
            {place: found for place, found in beside.items() if place[1] == name},
            known.get(name),
            {turn: limit for turn, limit in facts.limits.items() if turn[0] == name},
            {turn: reason for turn, reason in facts.too_long.items() if turn[0] == name},
            frozenset(place for place in cold if place[1] == name),
        )
        for name in sorted(captures.keys() | known.keys() | planned, key=session_order)
    ]


def _cold(evidence: Evidence, facts: RunFacts) -> set[ArmTurn]:
    """What the readings in `evidence` show, for those of `facts` are of another time."""
    found: set[ArmTurn] = set()
    for restart in replace(facts, samples=evidence.samples).restarts:
        if restart.path == "candidate":
            turns = cold_turns(evidence.of("candidate", restart.arm), [restart])
            found |= {(restart.arm, *turn) for turn in turns}
    return found


def _neighbours(evidence: Evidence, facts: RunFacts) -> dict[ArmTurn, tuple[Neighbour, ...]]:
    found: dict[ArmTurn, tuple[Neighbour, ...]] = {}
    for arm in facts.arms_on(evidence):
        exchanges = evidence.of("candidate", arm.name)
        beside = _Neighbourhood(list(exchanges.values()))
        found |= {(arm.name, *turn): beside.of(one) for turn, one in exchanges.items()}
    return found


class _Neighbourhood:
    """Which requests of an arm were in flight beside which."""

    def __init__(self, exchanges: list[Exchange]) -> None:
        self._by_start = sorted(exchanges, key=lambda e: (e.sent_at, e.turn))
        self._starts = [exchange.sent_at for exchange in self._by_start]
        longest = max((e.ended_at - e.sent_at for e in exchanges), default=0.0)
        self._longest = longest

    def of(self, exchange: Exchange) -> tuple[Neighbour, ...]:
        """Those whose time overlaps that of `exchange`."""
        first = bisect_right(self._starts, exchange.sent_at - self._longest) - 1
        last = bisect_right(self._starts, exchange.ended_at)
        return tuple(
            Neighbour("/".join(other.turn), other.response.content + _calls(other.response))
            for other in self._by_start[max(first, 0) : last]
            if other.turn != exchange.turn and other.ended_at >= exchange.sent_at
        )


def _calls(response: Response) -> str:
    return "".join(f"{call.name or ''}{call.arguments}" for call in response.tool_calls)
