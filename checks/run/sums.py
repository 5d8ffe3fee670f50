"""What a session adds to a run: numbers, small findings and regrets, added up in any order.

RunSums + RunSums -> RunSums
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Protocol, Self, TypeVar

from checks.acceptance.profile_sums import ProfileSums
from checks.calls.answer_rates import TurnRates
from checks.calls.behavior import PairedOutcome
from checks.calls.call_agreement import TurnChange
from checks.controls.argument import PlantedCall
from checks.controls.pair_control import Planted
from checks.controls.temperature import Redrawn
from checks.controls.unchanged import Copies
from checks.findings import Finding
from checks.greedy.judge import TurnResult
from checks.greedy.shift import TurnShift
from checks.run.acceptance import Accepted
from checks.run.answered import AnsweredTurn, Load
from checks.run.exact import PairJudgements
from checks.run.routes import RouteSums
from checks.sampled.turn import ScoredTurn
from checks.scope import Scope
from checks.servers.speed import SpeedPair
from checks.slices.regret import Part, Sums
from checks.slices.slices import Slice
from checks.vllm.split_run import CutOutput
from traces.journal.exchange import ArmKey, TurnId, session_order


@dataclass(frozen=True, slots=True)
class ArmSums:
    """What one session shows in a judged arm.

    `turns` counts the candidate's captures, `drawn` those of them at a temperature above 0;
    `repeated` tells whether the baseline replayed the session twice. `prompts` and `counters` are
    findings about prompts that differ and counters that contradict their steps. `chunks` counts
    the baseline's chunks, and those that carry several tokens. `changes` says what became of the
    calls of each greedy turn.
    """

    turns: int
    drawn: int
    repeated: bool
    results: tuple[TurnResult, ...]
    pairs: int
    exact: PairJudgements
    prompts: tuple[Finding, ...]
    counters: tuple[Finding, ...]
    speed: tuple[SpeedPair, ...]
    chunks: tuple[tuple[int, int], ...]
    changes: tuple[TurnChange, ...]


@dataclass(frozen=True, slots=True)
class AddedSums:
    """What the turns of one session show that were sampled besides their greedy replay: `turns` of
    the candidate, their exact checks, the statistics of their tokens, the same of tokens drawn
    again, prompts that differ and counters that contradict their steps, and how they were sampled
    (temperature, top-p, top-k)."""

    turns: int
    exact: PairJudgements
    scored: tuple[ScoredTurn, ...]
    redrawn: tuple[Redrawn, ...]
    whole: tuple[Finding, ...]
    settings: frozenset[tuple[float, float, int]]


@dataclass(frozen=True, slots=True)
class SessionSums:
    """All that the judgement of a run needs of one session: numbers, small findings, and regrets
    per token. No capture is kept.

    `loads` are what its answers hold by path and arm; `served` the exact checks of the turns as
    users send them, `routes` their counts by arm, `stalled` those that stood still. `profiles` are
    the sums of each further arm, `shifts` those of the main arm and of an arm with other prompts
    over the turns of both. `score_shifts` holds how far scores of equal tokens lie apart, `rates`
    what the answers hold that are not compared word by word. `prints`, `answered_on` and `runs` say
    which servers answered, and in which run.
    `planted`, `copies`, `swapped`, `planted_calls` and `planted_shifts` are the controls planted in
    its turns; `cuts` the outputs that were cut, `delivered` those that were parsed once, and
    `uncut` counts the others by reason. `scope` says what its tokens were, and what their text was
    compared with; `regrets` where in the answers their regrets lie.
    """

    arms: Mapping[str, ArmSums]
    loads: Mapping[ArmKey, Load]
    served: PairJudgements
    routes: Mapping[str, RouteSums]
    stalled: tuple[TurnId, ...]
    accepted: Accepted
    profiles: Mapping[str, ProfileSums]
    shifts: Mapping[str, tuple[ProfileSums, ProfileSums]]
    changed: Mapping[str, int]
    outcomes: tuple[PairedOutcome, ...]
    scored: tuple[ScoredTurn, ...]
    redrawn: tuple[Redrawn, ...]
    added: AddedSums
    answered: tuple[AnsweredTurn, ...]
    slices: Mapping[TurnId, frozenset[Slice]]
    irregular: Mapping[tuple[str, str], int]
    prints: Mapping[str, frozenset[str]]
    answered_on: frozenset[str]
    runs: frozenset[str]
    planted: tuple[Planted, ...]
    copies: Copies
    swapped: Mapping[str, tuple[TurnResult, ...]]
    planted_calls: tuple[PlantedCall, ...]
    score_shifts: tuple[TurnShift, ...]
    planted_shifts: tuple[TurnShift, ...]
    rates: tuple[TurnRates, ...]
    cuts: tuple[CutOutput, ...]
    delivered: tuple[CutOutput, ...]
    uncut: Mapping[str, int]
    scope: Scope
    regrets: Mapping[Part, Sums]


@dataclass(frozen=True, slots=True)
class RunSums:
    """The sums of some sessions of a run, by session."""

    sessions: Mapping[str, SessionSums] = field(default_factory=dict)

    def __add__(self, other: "RunSums") -> "RunSums":
        """Those of both. Raises ValueError where a session is in both."""
        if twice := self.sessions.keys() & other.sessions.keys():
            raise ValueError(f"judged twice: session {min(twice)}")
        return RunSums({**self.sessions, **other.sessions})

    @property
    def ordered(self) -> list[SessionSums]:
        """In the order of the sessions' ids."""
        return [self.sessions[session] for session in sorted(self.sessions, key=session_order)]


class Addable(Protocol):
    """What sessions add."""

    def __add__(self, other: Self, /) -> Self: ...


T = TypeVar("T", bound=Addable)


def added_up(parts: Iterable[T], nothing: T) -> T:
    """All parts in their order, neighbors first: one after the other, each sum would copy all that
    came before."""
    found = [nothing, *parts]
    while len(found) > 1:
        pairs = [one + other for one, other in zip(found[::2], found[1::2], strict=False)]
        found = pairs + found[2 * len(pairs) :]
    return found[0]
