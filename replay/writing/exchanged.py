"""One exchange on its way from the recorder to the writer process, as bytes; and what comes back.

    4 bytes length (big endian) · MessagePack of the fields

Bodies are as they came over the wire. What may never be stored does not leave the forwarder: no
header besides content types and encodings, and no query string, is in it.
"""

import struct
from typing import Protocol

import msgspec

LENGTH = struct.Struct(">I")

TURN_BYTES = 64 << 20
"""Of request and answer together. A larger exchange is passed on and not recorded."""


class Stream(Protocol):
    """What can be read: a buffered file, or that of a socket."""

    def read(self, size: int, /) -> bytes:
        """So many bytes, fewer only at the end."""


class Exchanged(msgspec.Struct, frozen=True):
    """`number` counts the exchanges of a recorder. `sent_at` is in seconds since the epoch, the
    times of `reads` in ms since then. `encodings` are the ``Content-Encoding`` of request and
    answer, empty where there is none. `cut` is set where client or upstream left before the end of
    the body: many clients leave behind the last event."""

    number: int
    route: str
    sent_at: float
    ended_ms: float
    answer_type: str
    encodings: tuple[str, str]
    request: bytes
    reads: list[tuple[float, bytes]]
    cut: bool = False

    @property
    def answer(self) -> bytes:
        """The body of the answer, as sent."""
        return b"".join(read for _, read in self.reads)


class Confirmed(msgspec.Struct, frozen=True):
    """What a writer says of an exchange: `reason` is None where it is on file. `bytes` and
    `sessions` are those it added; `detail` is an error's own words. `shadow` is what became of
    copies since it last spoke; its last words are of `NO_EXCHANGE`."""

    number: int
    reason: str | None = None
    bytes: int = 0
    sessions: int = 0
    detail: str = ""
    shadow: dict[str, int] = {}


NO_EXCHANGE = -1
"""In place of the number of an exchange."""


_ENCODE = msgspec.msgpack.Encoder().encode
_DECODE = msgspec.msgpack.Decoder(Exchanged).decode


def encode_exchanged(exchanged: Exchanged) -> bytes:
    """The exchange with its length before it."""
    body = _ENCODE(exchanged)
    return LENGTH.pack(len(body)) + body


def read_exchanged(stream: Stream) -> Exchanged | None:
    """The next exchange of a stream; `None` at its end, be it inside an exchange."""
    head = stream.read(LENGTH.size)
    if len(head) < LENGTH.size:
        return None
    (size,) = LENGTH.unpack(head)
    body = stream.read(size)
    return _DECODE(body) if len(body) == size else None
