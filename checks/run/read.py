"""The sessions of a run as they are read: each of the candidate's captures once, regrets measured.

Sessions are gone through several times: for the floor, for the judgement, for rows. They may all be
in memory (`HeldSessions`), or come one by one from where they are kept (`draftgate.judging`).
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Protocol

from checks.greedy.turn import GreedyTurn, TurnRegrets, measure_turn
from checks.sessions.evidence import RunFacts, SessionEvidence
from checks.sessions.reading import Reading, readings_of
from checks.sessions.turns import greedy_turns
from traces.journal.arm import MAIN, SAMPLED
from traces.journal.exchange import TurnId


@dataclass(frozen=True, slots=True)
class ReadSession:
    """A session's evidence, read closely: the candidate's captures and the greedy turns with their
    regrets, by arm."""

    evidence: SessionEvidence
    readings: Mapping[str, Mapping[TurnId, Reading]]
    greedy: Mapping[str, tuple[tuple[GreedyTurn, TurnRegrets], ...]]

    @property
    def session(self) -> str:
        return self.evidence.session


def read_session(session: SessionEvidence, facts: RunFacts) -> ReadSession:
    """Read each of the candidate's captures once, and measure the regrets of each turn once."""
    captures = session.captures
    return ReadSession(
        session,
        {
            arm: readings_of(captures, arm, facts)
            for arm in (MAIN, SAMPLED, *(a.name for a in facts.arms))
        },
        {
            arm.name: tuple(
                (turn, measure_turn(turn))
                for turn in greedy_turns(
                    captures, session.answers, arm, processed_logprobs=facts.processed_logprobs
                )
            )
            for arm in facts.judged_arms
        },
    )


class Sessions(Protocol):
    """The sessions of a run in the order of their ids, to be gone through any number of times."""

    def __iter__(self) -> Iterator[ReadSession]: ...

    def session(self, name: str) -> ReadSession:
        """One of them, after all were gone through once."""

    def turn(self, turn: TurnId) -> GreedyTurn:
        """A greedy turn of the main arm."""


class HeldSessions:
    """Sessions that are all in memory."""

    def __init__(self, sessions: Iterable[SessionEvidence], facts: RunFacts) -> None:
        self._read = {one.session: read_session(one, facts) for one in sessions}

    def __iter__(self) -> Iterator[ReadSession]:
        return iter(self._read.values())

    def session(self, name: str) -> ReadSession:
        return self._read[name]

    def turn(self, turn: TurnId) -> GreedyTurn:
        greedy = self._read[turn[0]].greedy[MAIN]
        return next(one for one, _ in greedy if (one.session, one.turn) == turn)
