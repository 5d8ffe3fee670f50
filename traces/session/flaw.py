"""What would break a replay of a session that came from a file: links that lead nowhere."""

from collections.abc import Iterable

import orjson

from traces.session.message import Message
from traces.session.session import Session
from traces.session.turn import Turn


def flaw_of(session: Session) -> str | None:
    """The first flaw, described without quoting the session; None if it is sound."""
    sizes: dict[str, int] = {}
    ends: dict[str, str] = {}
    for place, turn in enumerate(session.turns):
        before = 0 if turn.base is None else sizes.get(turn.base)
        if turn.index != place or turn.turn_id in sizes:
            return f"turn number {place} is out of its order"
        if before is None or ends.get(turn.thread) != turn.base:
            return f"turn number {place} does not continue the turn before it in its thread"
        if not 0 <= turn.keep <= before:
            return f"turn number {place} keeps more messages than there were"
        if (turn.restart is None) != (turn.base is not None and turn.keep == before):
            return f"turn number {place} does not say right whether it starts anew"
        if not all(mid in session.messages for mid in _named(turn)):
            return f"turn number {place} names a message that is missing"
        ends[turn.thread] = turn.turn_id
        sizes[turn.turn_id] = turn.keep + len(turn.added) + (turn.output is not None)
    return _bad_arguments(session.messages.values())


def _named(turn: Turn) -> Iterable[str]:
    return turn.added if turn.output is None else (*turn.added, turn.output)


def _bad_arguments(messages: Iterable[Message]) -> str | None:
    for message in messages:
        for call in message.tool_calls:
            try:
                is_object = isinstance(orjson.loads(call.arguments_json), dict)
            except orjson.JSONDecodeError:
                is_object = False
            if not is_object:
                return "the arguments of a call are no JSON object"
    return None
