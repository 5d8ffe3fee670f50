"""Which turns of a run were answered, path by path."""

from checks.run.answered import AnsweredTurn
from traces.journal.exchange import Exchange, TurnId
from draftgate.run.record import Record
from traces.wire.response import Response


def answered_turns(record: Record) -> list[AnsweredTurn]:
    """Every turn that was to be sent, or that a path holds, in judged arms and the plain one."""
    evidence = record.evidence
    found = []
    others: list[tuple[str, list[TurnId]]] = [(a.name, []) for a in record.arms if a.paired]
    for arm, planned in (("main", list(record.limits)), ("plain", []), *others):
        ours, theirs = evidence.of("candidate", arm), evidence.of("baseline", arm)
        turns: dict[TurnId, None] = dict.fromkeys([*planned, *theirs, *ours])
        found += [
            AnsweredTurn(arm, *turn, _response(theirs.get(turn)), _response(ours.get(turn)))
            for turn in turns
        ]
    return found


def _response(exchange: Exchange | None) -> Response | None:
    return None if exchange is None else exchange.response
