"""What a whole run must know before any session of it can be judged: the first of two passes.

    read_session(SessionEvidence) -> ReadSession            `checks.run.read`
    measure_session(ReadSession)  -> SessionMeasures        numbers; no capture is kept
    RunMeasures + RunMeasures     -> RunMeasures            in any order
    run_floor(RunMeasures)        -> RunFloor               noise floor, servers, budget of cuts

Two passes, because a pair is judged against bounds that only the whole run gives: the noise floor,
the usual gap between events, the texts of tokens. The second pass is `checks.run.session`.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from checks.controls.leak import Donor
from checks.controls.pairs import DONORS, donors_of
from checks.controls.rechunk import pieces_of
from checks.greedy.judge import GreedyFloor, floor_of
from checks.greedy.noise import explained_regret
from checks.greedy.turn import TurnRegrets
from checks.run.read import ReadSession
from checks.sessions.evidence import RunFacts, ServerFacts
from checks.sessions.pairs import RunWide
from checks.stats.sessions import hash_place
from checks.vllm.cutter import Cutter, Uncut, draw, uncut_of
from checks.vllm.splits import cutter_here
from traces.journal.arm import MAIN, PLAIN, SERVED
from traces.journal.exchange import Evidence, TurnId, session_order
from traces.wire.response import Response
from traces.wire.tokens import UNKNOWN, Tokens


@dataclass(frozen=True, slots=True)
class SessionMeasures:
    """What one session adds to the floor of its run.

    `regrets` are by arm. `cached` is the greatest common divisor of its cached prompt lengths,
    `longest` the most tokens one step drafted, `gaps` the waits (ms) between events of the
    baseline's streams as users see them. `texts` are those of the token ids in its answers; of
    `donors` and `pieces` those are kept that come first in the run's hash order, by their place in
    it. `uncut` are the outputs that vLLM's parsers could be tried on.
    """

    regrets: Mapping[str, tuple[TurnRegrets, ...]] = field(default_factory=dict)
    cached: int = 0
    longest: int = 0
    gaps: npt.NDArray[np.float64] = field(default_factory=lambda: np.empty(0))
    texts: Mapping[int, str] = field(default_factory=dict)
    donors: Mapping[str, Donor] = field(default_factory=dict)
    pieces: tuple[str, tuple[str, ...]] | None = None
    uncut: tuple[Uncut, ...] = ()
    breaches: frozenset[tuple[str, str]] = frozenset()


def measure_session(read: ReadSession, facts: RunFacts) -> SessionMeasures:
    """The numbers of one session that the judgement of every other one needs."""
    captures = read.evidence.captures
    candidate = captures.of("candidate")
    named = {"/".join(turn): one.response for turn, one in candidate.items()}
    pieces = {hash_place(n, facts.seed): p for n, r in named.items() if (p := pieces_of(r))}
    return SessionMeasures(
        regrets={arm: tuple(m for _, m in found) for arm, found in read.greedy.items()},
        cached=math.gcd(*(e.response.usage.cached or 0 for e in captures if e.response.usage)),
        longest=max(
            (_longest(r.exchange.response) for of in read.readings.values() for r in of.values()),
            default=0,
        ),
        gaps=_gaps([e.response for e in captures.of("baseline", PLAIN).values()]),
        texts=_texts(captures),
        donors=donors_of(named.items(), facts.seed),
        pieces=min(pieces.items(), default=None),
        uncut=tuple(uncut_of(candidate, facts.seed)),
        breaches=frozenset(
            (arm, kind)
            for arm in SERVED
            for one in captures.of("baseline", arm).values()
            for kind in one.response.breach_kinds
        ),
    )


def _longest(response: Response) -> int:
    speculation = response.speculation
    return 0 if speculation is None else max(speculation.drafted or (0,), default=0)


def _gaps(responses: Sequence[Response]) -> npt.NDArray[np.float64]:
    gaps = [
        after.at_ms - before.at_ms
        for response in responses
        for before, after in pairwise(response.chunks)
    ]
    return np.array(gaps, dtype=np.float64)


def _texts(captures: Evidence) -> dict[int, str]:
    """The text of every token id that an answer holds; of several the first in sorted order."""
    found: dict[int, str] = {}
    for exchange in captures:
        tokens = Tokens.of(exchange.response.tokens or ())
        for token_id, text in zip(tokens.ids.tolist(), tokens.texts, strict=True):
            if token_id != UNKNOWN and text:
                found[token_id] = min(text, found.get(token_id, text))
    return found


@dataclass(frozen=True, slots=True)
class RunMeasures:
    """The measures of some sessions of a run, by session. `texts` are those of the token ids in
    their answers, `donors` and `pieces` those that come first, of sessions that hold none of their
    own: what thousands of sessions would each hold for themselves."""

    sessions: Mapping[str, SessionMeasures] = field(default_factory=dict)
    texts: Mapping[int, str] = field(default_factory=dict)
    donors: Mapping[str, Donor] = field(default_factory=dict)
    pieces: tuple[str, tuple[str, ...]] | None = None

    @classmethod
    def of(cls, measured: Iterable[tuple[str, SessionMeasures]]) -> "RunMeasures":
        """The measures of sessions that come one by one."""
        sessions: dict[str, SessionMeasures] = {}
        texts: dict[int, str] = {}
        donors: dict[str, Donor] = {}
        pieces: tuple[str, tuple[str, ...]] | None = None
        for session, one in measured:
            sessions[session] = replace(one, texts={}, donors={}, pieces=None)
            _add_texts(texts, one.texts)
            donors = _first_donors(donors, one.donors)
            pieces = min((p for p in (pieces, one.pieces) if p is not None), default=None)
        return cls(sessions, texts, donors, pieces)

    def __add__(self, other: "RunMeasures") -> "RunMeasures":
        """Those of both. Raises ValueError where a session is in both."""
        if twice := self.sessions.keys() & other.sessions.keys():
            raise ValueError(f"measured twice: session {min(twice)}")
        texts = dict(self.texts)
        _add_texts(texts, other.texts)
        return RunMeasures(
            {**self.sessions, **other.sessions},
            texts,
            _first_donors(self.donors, other.donors),
            min((p for p in (self.pieces, other.pieces) if p is not None), default=None),
        )

    @property
    def ordered(self) -> list[SessionMeasures]:
        """In the order of the sessions' ids."""
        return [self.sessions[session] for session in sorted(self.sessions, key=session_order)]


@dataclass(frozen=True, slots=True)
class RunFloor:
    """What every session is judged against.

    `arms` holds the noise floor of each judged arm, `known` what pairs need to know of the run, `k`
    the longest draft. `donors` and `pieces` are what controls are planted with. `drawn` are the
    outputs that `cutter` may cut within the run's budget, with their place in that order; where
    nothing can be cut, `cutter` says why.
    """

    arms: Mapping[str, GreedyFloor]
    known: RunWide
    k: int
    donors: tuple[Donor, ...]
    pieces: tuple[str, ...] | None
    drawn: Mapping[TurnId, int]
    cutter: Cutter | str

    def hard_bound(self, arm: str) -> float:
        """Largest regret (nat) of a fork in `arm` that rounding may explain."""
        return explained_regret(tuple(self.arms[arm].noise.values()))


def run_floor(measures: RunMeasures, facts: RunFacts) -> RunFloor:
    """The floor of a run, from what all its sessions measured."""
    sessions = measures.ordered
    whole: list[SessionMeasures | RunMeasures] = [measures, *sessions]
    donors = {place: one for measured in whole for place, one in measured.donors.items()}
    pieces = [measured.pieces for measured in whole if measured.pieces is not None]
    largest = (facts.drafting.k or 1) + 1
    cutter = cutter_here(facts.served["candidate"], largest, facts.seed)
    uncut = [one for measured in sessions for one in measured.uncut]
    return RunFloor(
        arms=_floors(sessions, facts),
        known=RunWide(
            _server(sessions, facts.server),
            _all_texts(whole),
            _p99(sessions),
            [restart for restart in facts.restarts if restart.path == "candidate"],
            frozenset(breach for measured in sessions for breach in measured.breaches),
            facts.processed_logprobs,
        ),
        k=facts.drafting.k or max((measured.longest for measured in sessions), default=0) or 1,
        donors=tuple(donors[place] for place in sorted(donors)[:DONORS]),
        pieces=min(pieces)[1] if pieces else None,
        drawn={} if isinstance(cutter, str) else draw(uncut, largest),
        cutter=cutter,
    )


def _floors(sessions: Sequence[SessionMeasures], facts: RunFacts) -> dict[str, GreedyFloor]:
    """Every arm's floor; that of the main arm is known to the others besides their own."""

    def of(arm: str) -> list[TurnRegrets]:
        return [regrets for measured in sessions for regrets in measured.regrets.get(arm, ())]

    main = of(MAIN)
    return {
        arm.name: floor_of(of(arm.name), facts.policy, facts.seed, () if arm.is_main else main)
        for arm in facts.judged_arms
    }


def _server(sessions: Sequence[SessionMeasures], server: ServerFacts) -> ServerFacts:
    """With the KV block size as far as the captures show it, for servers that do not say.

    Whole blocks are cached, so every cached length is a multiple of the size; the greatest common
    divisor may be a multiple of it too, which only makes the check of lost cache hits more lenient.
    """
    if server.block_size is not None:
        return server
    return replace(server, block_size=math.gcd(*(one.cached for one in sessions)) or None)


def _all_texts(measures: Sequence[SessionMeasures | RunMeasures]) -> dict[int, str]:
    found: dict[int, str] = {}
    for measured in measures:
        _add_texts(found, measured.texts)
    return found


def _add_texts(found: dict[int, str], texts: Mapping[int, str]) -> None:
    """Of several texts of an id the first in sorted order."""
    for token_id, text in texts.items():
        found[token_id] = min(text, found.get(token_id, text))


def _first_donors(*donors: Mapping[str, Donor]) -> dict[str, Donor]:
    every = {place: one for some in donors for place, one in some.items()}
    return {place: every[place] for place in sorted(every)[:DONORS]}


def _p99(sessions: Sequence[SessionMeasures]) -> float | None:
    return _quantile(np.concatenate([np.empty(0), *(measured.gaps for measured in sessions)]))


def gap_p99(sessions: Iterable[Evidence]) -> float | None:
    """99% quantile (ms) of the waits between events of the baseline's streams as users see them."""
    answers = ([e.response for e in one.of("baseline", PLAIN).values()] for one in sessions)
    return _quantile(np.concatenate([np.empty(0), *map(_gaps, answers)]))


def _quantile(gaps: npt.NDArray[np.float64]) -> float | None:
    return float(np.quantile(gaps, 0.99)) if len(gaps) else None
