"""The captures of a run, session by session, read from the journals each time they are asked for.

What a live gate asks its baseline hangs on every turn of an arm, and on no two sessions at once: so
one session is in memory at a time, however long the run is.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from checks.greedy.turn import GreedyTurn
from checks.sessions.evidence import Answers, RunFacts
from checks.sessions.turns import greedy_turns
from draftgate.judging.spool import Kept, Spool
from traces.collection import collector_paused
from traces.journal.arm import Arm
from traces.journal.exchange import ArmKey, Evidence, Exchange, TurnId, session_order, turn_order
from traces.journal.index import JournalIndex, Place

Places = Mapping[ArmKey, Mapping[TurnId, Place]]


class FiledCaptures:
    """The captures of the journals in `index`.

    `places` says where they are, by session. What was read once is kept in `spool`, from where it
    comes in a fraction of the time.
    """

    def __init__(self, index: JournalIndex, spool: Spool) -> None:
        self._index, self._spool = index, spool
        self._kept: dict[tuple[ArmKey, TurnId], Kept] = {}
        self.places = dict(
            sorted(_by_session(index).items(), key=lambda item: session_order(item[0]))
        )

    def of(self, *arms: ArmKey) -> Iterator[Evidence]:
        """Those of some arms, a session at a time, in the order of `turn_order`."""
        for places in self.places.values():
            if chosen := {arm: places[arm] for arm in arms if arm in places}:
                yield self._evidence(chosen)

    def at(self, turn: TurnId, *arms: ArmKey) -> Evidence:
        """Those of one turn."""
        found = ((arm, self._index.of(*arm).get(turn)) for arm in arms)
        return self._evidence({arm: {turn: place} for arm, place in found if place is not None})

    def _evidence(self, places: Places) -> Evidence:
        return Evidence(
            {
                arm: {turn: self._exchange(arm, turn, place) for turn, place in turns.items()}
                for arm, turns in places.items()
            }
        )

    def _exchange(self, arm: ArmKey, turn: TurnId, place: Place) -> Exchange:
        kept = self._kept.get((arm, turn))
        if kept is not None:
            again: Exchange = self._spool.value(kept)
            return again
        with collector_paused():
            exchange = self._index.read(place)
        self._kept[arm, turn] = self._spool.add(exchange)
        return exchange


@dataclass(frozen=True, slots=True)
class FiledTurns:
    """The greedy turns of an arm with what is known of the baseline's answers."""

    captures: FiledCaptures
    facts: RunFacts
    arm: Arm
    answers: Answers

    def __iter__(self) -> Iterator[GreedyTurn]:
        for evidence in self.captures.of(*self._keys):
            yield from self._of(evidence)

    def turn(self, turn: TurnId) -> GreedyTurn:
        """One of them."""
        (found,) = self._of(self.captures.at(turn, *self._keys))
        return found

    @property
    def _keys(self) -> tuple[ArmKey, ...]:
        arm = self.arm
        names = (arm.name, arm.repeat_name, *([arm.verify_name] if arm.verify_name else []))
        return (("candidate", arm.name), *(("baseline", name) for name in names))

    def _of(self, evidence: Evidence) -> list[GreedyTurn]:
        processed = self.facts.processed_logprobs
        return greedy_turns(evidence, self.answers, self.arm, processed_logprobs=processed)


def _by_session(index: JournalIndex) -> dict[str, dict[ArmKey, dict[TurnId, Place]]]:
    """Places by session and arm, turns in order; arms in the order of the index."""
    found: dict[str, dict[ArmKey, dict[TurnId, Place]]] = {}
    for key, places in index.arms.items():
        for turn in sorted(places, key=turn_order):
            found.setdefault(turn[0], {}).setdefault(key, {})[turn] = places[turn]
    return found
