"""The sessions of a run one by one, as they are read from its journals.

    journals ─ index ─▶ one session's exchanges ─ read_session ─▶ ReadSession ─▶ spool
                                                         the next time: spool ─▶ ReadSession

One session is in memory at a time, beside places and times of all. The first time all journals are
read and decoded; what was made of them is kept in a temporary file, from where it comes in a
quarter of the time. Neighbors in flight, which need the answers of other sessions, are there from
the second time on: the first pass does not ask for them.
"""

from collections.abc import Iterator
from dataclasses import replace

from checks.greedy.turn import GreedyTurn
from checks.pair import Neighbour
from checks.run.read import ReadSession, read_session
from checks.sessions.evidence import Answers, ArmTurn, Planned, RunFacts
from checks.sessions.in_flight import InFlight, Span, span_of, text_of
from draftgate.judging.captures import FiledCaptures, FiledTurns
from draftgate.judging.spool import Kept, Spool
from traces.collection import collector_paused
from traces.journal.exchange import Evidence, TurnId
from traces.journal.index import JournalIndex

NO_ANSWERS = Answers()


class FiledSessions:
    """The sessions of a run whose journals are in `index`; see `checks.run.read.Sessions`."""

    def __init__(
        self, index: JournalIndex, answers: Answers, facts: RunFacts, spool: Spool
    ) -> None:
        self._index, self._answers, self._facts, self._spool = index, answers, facts, spool
        self._planned = Planned.of(facts)
        self._captures = FiledCaptures(index, spool)
        self._kept: dict[str, Kept] = {}
        self._beside = _Beside(spool)

    def __iter__(self) -> Iterator[ReadSession]:
        for name in self._planned.names(self._captures.places):
            yield self.session(name) if name in self._kept else self._first(name)

    def session(self, name: str) -> ReadSession:
        """One session, from what is kept of it."""
        read: ReadSession = self._spool.value(self._kept[name])
        evidence = replace(
            read.evidence,
            answers=self._answers,
            neighbours=self._beside.of(read.evidence.captures),
        )
        return replace(read, evidence=evidence)

    def turn(self, turn: TurnId) -> GreedyTurn:
        """A greedy turn of the main arm, from the journals."""
        turns = FiledTurns(self._captures, self._facts, self._facts.main, self._answers)
        return turns.turn(turn)

    def _first(self, name: str) -> ReadSession:
        """One session from its journals, kept for the next time."""
        evidence = Evidence()
        with collector_paused():
            for key, turns in self._captures.places.get(name, {}).items():
                evidence.arms[key] = {
                    turn: self._index.read(place) for turn, place in turns.items()
                }
        read = read_session(self._planned.session(name, evidence, self._answers, {}), self._facts)
        bare = replace(read, evidence=replace(read.evidence, answers=NO_ANSWERS))
        self._kept[name] = self._spool.add(bare)
        for arm in self._facts.arms_on(self._index.arms):
            for exchange in evidence.of("candidate", arm.name).values():
                text = text_of(exchange.response)
                self._beside.add(arm.name, span_of(exchange), text)
        return read


class _Beside:
    """When the candidate's turns were in flight, by arm, and where their texts are kept."""

    def __init__(self, spool: Spool) -> None:
        self._spool = spool
        self._spans: dict[str, list[Span]] = {}
        self._texts: dict[ArmTurn, Kept] = {}
        self._in_flight: dict[str, InFlight] = {}

    def add(self, arm: str, span: Span, text: str) -> None:
        self._spans.setdefault(arm, []).append(span)
        self._texts[(arm, *span.turn)] = self._spool.add_text(text)
        self._in_flight.pop(arm, None)

    def of(self, captures: Evidence) -> dict[ArmTurn, tuple[Neighbour, ...]]:
        """What was in flight beside each of a session's turns."""
        found = {}
        read: dict[ArmTurn, str] = {}
        for arm, spans in self._spans.items():
            if arm not in self._in_flight:
                self._in_flight[arm] = InFlight(spans)
            for turn, exchange in captures.of("candidate", arm).items():
                others = list(self._in_flight[arm].beside(span_of(exchange)))
                for other in others:
                    if (arm, *other) not in read:
                        read[(arm, *other)] = self._spool.text(self._texts[(arm, *other)])
                found[(arm, *turn)] = tuple(
                    Neighbour("/".join(other), read[(arm, *other)]) for other in others
                )
        return found
