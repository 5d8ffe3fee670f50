"""The events of a captured stream, one by one, with the limits of `traces.limits`.

Every route's reader is fed by `feed`; what is no event, and what passes a limit, is kept in words
(`BrokenEvents`), and nothing raises.
"""

import contextlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from traces.json_bytes import encode_json
from traces.limits import (
    ERROR_CHARACTERS,
    SHOWN_EVENTS,
    TURN_BYTES,
    TURN_CALLS,
    TURN_CHARACTERS,
    PastLimit,
    mebibytes,
)
from traces.wire.capture import Capture, Event
from traces.wire.event import json_object
from traces.wire.sse import ServerEvent, SseParser, events_of


@dataclass(slots=True)
class BrokenEvents:
    """Events that were none: the first of them in words, the others counted."""

    shown: list[str] = field(default_factory=list)
    others: list[str] = field(default_factory=list)
    more: int = 0

    def note(self, number: int, why: str) -> None:
        """Event `number`, counted from 0, is broken: ``event 3 is not a JSON object: …``."""
        if len(self.shown) < SHOWN_EVENTS:
            self.shown.append(f"event {number} is {why}")
        else:
            self.more += 1

    def lines(self) -> tuple[str, ...]:
        """All of them, for `Response.malformed`."""
        rest = (f"{self.more} further events are broken",) if self.more else ()
        return (*self.shown, *rest, *self.others)


def feed(capture: Capture, broken: BrokenEvents, take: Callable[[int, ServerEvent], bool]) -> bool:
    """Give every event and its number to `take`, until it answers true: the stream is at its end.

    Whether it was. `take` may raise PastLimit; behind a limit of the whole answer nothing is read.
    """
    parser = SseParser()
    done = False
    number = -1
    try:
        for number, event in enumerate(events_of(_within_turn(capture.events), parser)):
            if take(number, event):
                done = True
                break
    except PastLimit as limit:
        broken.note(number + 1, str(limit))
    else:
        if not done and parser.left_over:
            broken.others.append(f"the stream ends inside event {number + 1}")
    if parser.undecodable:
        broken.others.append(f"{parser.undecodable} lines are not UTF-8")
    return done


def _within_turn(reads: Iterable[Event]) -> Iterator[Event]:
    """The reads up to the limit of a turn. Raises PastLimit behind it."""
    size = 0
    for at_ms, read in reads:
        size += len(read)
        if size > TURN_BYTES:
            raise PastLimit(f"in an answer of more than {mebibytes(TURN_BYTES)}")
        yield at_ms, read


def refuse_long(characters: int, calls: int) -> None:
    """Raise PastLimit where an answer holds too much text, or too many calls."""
    if characters > TURN_CHARACTERS:
        raise PastLimit(f"in an output of more than {TURN_CHARACTERS:,} characters")
    if calls > TURN_CALLS:
        raise PastLimit(f"in an answer of more than {TURN_CALLS:,} tool calls")


def error_body(body: bytes) -> dict[str, Any]:
    """The object an error body is; the beginning of its text where it is none, or a long one."""
    start = body[: 4 * ERROR_CHARACTERS].decode(errors="replace")[:ERROR_CHARACTERS]
    if len(body) <= ERROR_CHARACTERS:
        with contextlib.suppress(PastLimit):
            return json_object(start) or {"error": {"message": start}}
    rest = f"… ({len(body):,} bytes)" if len(body) > ERROR_CHARACTERS else ""
    return {"error": {"message": start + rest}}


def short_error(error: dict[str, Any]) -> dict[str, Any]:
    """An error inside a stream; the beginning of its text where it is a long one."""
    return error_body(encode_json(error))
