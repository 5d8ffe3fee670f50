"""Rows of JSON Lines, split on newlines alone, each parsed once."""

from collections.abc import Callable, Iterator
from typing import IO, Any, NamedTuple

import orjson

from traces.readers.json_text import TORN, Unreadable, parse_row
from traces.readers.ledger import Ledger

BLANK = "blank"


class Line(NamedTuple):
    """Line number `row`: its values (more than one if glued) and what was mended in it; or, with no
    values, the `fault`."""

    row: int
    values: list[Any]
    mended: str | None = None
    fault: str | None = None

    @property
    def stands_alone(self) -> bool:
        """Whether this is one or more rows, and nothing else."""
        whole = self.mended is None or TORN not in self.mended
        return whole and any(isinstance(value, dict | list) for value in self.values)


def parse_line(row: int, line: bytes) -> Line:
    """A line of any content; a blank one has the fault `BLANK`."""
    if not line.strip():
        return Line(row, [], fault=BLANK)
    try:
        values, mended = parse_row(line)
    except Unreadable as error:
        return Line(row, [], fault=str(error))
    return Line(row, values, mended)


class JsonLines:
    """Lines of a file. Those that were looked at to recognise the format are not parsed again.

    Between looking and reading the file is closed: an import may hold many files.
    """

    def __init__(self, opened: Callable[[], IO[bytes]]) -> None:
        self._opened = opened
        self._known: list[Line] = []
        self._ended = False
        self.looked_at = 0
        """Bytes of the lines that were looked at."""

    def look(self) -> Iterator[Line]:
        """The lines from the start, as far as the caller asks for them."""
        yield from list(self._known)
        if self._ended:
            return
        with self._opened() as stream:
            stream.read(self.looked_at)
            for raw in stream:
                self.looked_at += len(raw)
                self._known.append(parse_line(len(self._known) + 1, raw))
                yield self._known[-1]
            self._ended = True

    @property
    def only(self) -> tuple[list[Any], str | None]:
        """The values, and what was mended, of the one line that is not blank."""
        line = next(line for line in self._known if line.values)
        return line.values, line.mended

    def read(self, ledger: Ledger) -> Iterator[tuple[int, Any]]:
        """Every value with its row, once; lines without one are counted with their fault.

        The last line is torn if it is no JSON: its writer was stopped.
        """
        last = 0
        faulty: Line | None = None
        for line in self._known:
            last = line.row
            faulty = _settled(faulty, line, ledger)
            for value in line.values:
                yield last, value
        self._known = []
        if not self._ended:
            with self._opened() as stream:
                stream.read(self.looked_at)
                for row, raw in enumerate(stream, last + 1):
                    last = row
                    try:
                        value = orjson.loads(raw)
                    except orjson.JSONDecodeError:
                        line = parse_line(row, raw)
                        faulty = _settled(faulty, line, ledger)
                        for value in line.values:
                            yield row, value
                        continue
                    if faulty is not None:
                        _count(faulty, ledger)
                        faulty = None
                    yield row, value
        ledger.see(last)
        if faulty is not None:
            torn = faulty.fault == "not_json" and last > 1
            _count(faulty._replace(fault="torn_tail") if torn else faulty, ledger)


def _settled(faulty: Line | None, line: Line, ledger: Ledger) -> Line | None:
    """Enter what is known of `line`; a fault is entered when another line follows it."""
    if faulty is not None:
        _count(faulty, ledger)
    if line.fault == BLANK:
        ledger.skip(line.row, BLANK)
    elif line.fault is not None:
        return line
    elif line.mended is not None:
        ledger.warn(line.mended, line.row)
    return None


def _count(faulty: Line, ledger: Ledger) -> None:
    assert faulty.fault is not None
    ledger.skip(faulty.row, faulty.fault)
    ledger.warn(faulty.fault, faulty.row)
