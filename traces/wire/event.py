"""One event of a stream, read into the types of `traces.wire.chunk` in one pass where that is all.

Most events are plain: text and tokens. Of the others, an error, the steps of the drafter and a
delta without a known field, more is kept than the typed fields hold: they come with the object.
"""

from typing import Any, NamedTuple

from msgspec import MsgspecError
from msgspec.json import Decoder

from traces.limits import PastLimit
from traces.served_json import decode_served, refuse_nesting
from traces.wire.chunk import WireChunk

DECODE = Decoder(WireChunk).decode


class WireEvent(NamedTuple):
    """An event: its number in the stream, its arrival (ms), what it holds.

    Exactly one of `chunk`, of a plain event, and `raw` is there.
    """

    number: int
    at_ms: float
    chunk: WireChunk | None
    raw: dict[str, Any] | None


def read_event(number: int, at_ms: float, data: str) -> WireEvent | None:
    """The event, `None` where `data` is no JSON object. Raises PastLimit."""
    refuse_nesting(data)
    try:
        chunk = DECODE(data)
    except (MsgspecError, ValueError, RecursionError):
        chunk = None
    if chunk is not None and is_plain(chunk):
        return WireEvent(number, at_ms, chunk, None)
    raw = json_object(data)
    return None if raw is None else WireEvent(number, at_ms, None, raw)


def is_plain(chunk: WireChunk) -> bool:
    """Whether the typed fields tell all that is read of it."""
    if chunk.metrics is not None or chunk.error or chunk.object == "error":
        return False
    choices = chunk.choices
    if not choices:
        return True
    delta = choices[0].delta
    return len(choices) == 1 and (delta is None or not delta.empty)


def json_object(data: str) -> dict[str, Any] | None:
    """The JSON object that a text is, `None` where it is none. Raises PastLimit."""
    try:
        value = decode_served(data)
    except PastLimit:
        raise
    except ValueError:
        return None
    return value if isinstance(value, dict) else None
