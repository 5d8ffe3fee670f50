"""Bytes of an event stream to events, as a strict client reads them.

Source: WHATWG HTML, "Server-sent events", section 9.2.6. Lines end with LF, CR or CRLF; a line
that begins with a colon is a comment (vLLM and proxies send them to keep a connection alive); an
empty line ends an event; several `data:` lines of one event are joined with LF. An event the
stream ends inside is not an event.

    : keep-alive
    data: {"choices": [{"index": 0, "delta": {"content": "ok"}}]}
    <empty line>
    data: [DONE]
    <empty line>
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from traces.limits import EVENT_BYTES, PastLimit, mebibytes
from traces.wire.capture import Event

BOM = b"\xef\xbb\xbf"


class ServerEvent(NamedTuple):
    """One event: arrival of the network read that ended it (ms), its data, and its type."""

    at_ms: float
    data: str
    type: str = "message"


@dataclass(slots=True)
class SseParser:
    """Incremental parser; `feed` it network reads in order, then look at what is left over.

    Lines are cut on bytes before they are decoded, so that neither a UTF-8 sequence split over two
    reads nor U+2028 inside a string is taken for a line end. Bytes that are no UTF-8 become U+FFFD,
    as the standard says, and are counted in `undecodable`. An event of more than `EVENT_BYTES`
    raises PastLimit, and nothing can be read behind it.
    """

    comments: list[str] = field(default_factory=list)
    undecodable: int = 0
    _buffer: bytearray = field(default_factory=bytearray)
    _data: list[str] = field(default_factory=list)
    _bytes: int = 0
    _type: str = ""
    _started: bool = False
    _skip_lf: bool = False

    def whole_events(self, read: str | bytes) -> list[str] | None:
        """The data of a read that holds nothing but whole events of one `data:` line each.

        Servers send such reads, nearly always; `None` for any other, which `feed` then takes apart.
        """
        if not isinstance(read, str) or "\r" in read:
            return None
        if self._buffer or self._data or self._type or self._skip_lf or len(read) > EVENT_BYTES:
            return None
        if read.startswith("data: ") and read.find("\n") == len(read) - 2 and read[-1] == "\n":
            self._started = True
            return [read[6:-2]]
        *lines, last = read.split("\n")
        data = lines[::2]
        if last or not lines or len(lines) % 2 or any(lines[1::2]):
            return None
        if not all(line.startswith("data: ") for line in data):
            return None
        self._started = True
        return [line[6:] for line in data]

    def feed(self, at_ms: float, read: bytes) -> Iterator[ServerEvent]:
        """The events that `read`, which arrived at `at_ms`, completes."""
        if self._skip_lf and read:
            read = read.removeprefix(b"\n")
            self._skip_lf = False
        self._buffer += read
        if self._started and b"\n" not in read and b"\r" not in read:
            self._refuse_long(len(self._buffer))
            return
        if not self._started:
            if len(self._buffer) < len(BOM) and BOM.startswith(self._buffer):
                return
            self._started = True
            if self._buffer.startswith(BOM):
                del self._buffer[: len(BOM)]
        yield from self._events(at_ms)

    def _events(self, at_ms: float) -> Iterator[ServerEvent]:
        lines = self._buffer.splitlines(keepends=True)
        self._buffer = bytearray()
        if lines and not lines[-1].endswith((b"\n", b"\r")):
            self._buffer = lines.pop()
        elif lines and lines[-1].endswith(b"\r"):
            # The LF of a CRLF may come with the next read.
            self._skip_lf = True
        self._refuse_long(len(self._buffer))
        for line in lines:
            event = self._line(at_ms, bytes(line.rstrip(b"\r\n")))
            if event is not None:
                yield event

    def _line(self, at_ms: float, raw: bytes) -> ServerEvent | None:
        if not raw:
            return self._dispatch(at_ms)
        self._bytes += len(raw)
        self._refuse_long(0)
        try:
            line = raw.decode()
        except UnicodeDecodeError:
            self.undecodable += 1
            line = raw.decode(errors="replace")
        if line.startswith(":"):
            self.comments.append(line)
            return None
        name, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if name == "data":
            self._data.append(value)
        elif name == "event":
            self._type = value
        return None

    def _dispatch(self, at_ms: float) -> ServerEvent | None:
        data, kind = self._data, self._type or "message"
        self._data, self._type, self._bytes = [], "", 0
        return ServerEvent(at_ms, "\n".join(data), kind) if data else None

    def _refuse_long(self, pending: int) -> None:
        if self._bytes + pending > EVENT_BYTES:
            raise PastLimit(f"longer than {mebibytes(EVENT_BYTES)}")

    @property
    def left_over(self) -> str:
        """What the stream ended inside of; empty where it ended between two events."""
        pending = [f"data: {value}" for value in self._data]
        if self._buffer:
            pending.append(self._buffer.decode(errors="replace"))
        return "\n".join(pending)


def events_of(reads: Iterable[Event], parser: SseParser | None = None) -> Iterator[ServerEvent]:
    """The events of a capture's network reads. A given `parser` keeps comments and leftovers."""
    parser = parser or SseParser()
    for at_ms, read in reads:
        whole = parser.whole_events(read)
        if whole is not None:
            for data in whole:
                yield ServerEvent(at_ms, data)
        else:
            yield from parser.feed(at_ms, read if isinstance(read, bytes) else read.encode())
