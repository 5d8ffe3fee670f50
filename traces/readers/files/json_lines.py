"""Rows of JSON Lines, split on newlines alone, each parsed once.

Some tools write newlines as they are into strings, which splits a record: lines that are no JSON by
themselves and are JSON together count as one row, at the first of them.
"""

from collections.abc import Callable, Iterator
from itertools import islice
from typing import IO, Any, NamedTuple

import orjson

from traces.readers.files.bounded_lines import MAX_LINE_BYTES, TOO_LONG, bounded_lines
from traces.readers.files.json_text import TORN, Unreadable, parse_row
from traces.readers.files.ledger import Ledger

BLANK = "blank"
NOT_JSON = "not_json"
CONTINUED = "continues_a_row"
SPLIT = "split_record"

MAX_PIECES = 40
MAX_PIECE_BYTES = 100_000
MAX_STARTS = 3
"""Lines, and bytes of them, that are tried as pieces of one record; beginnings that are tried."""


class Line(NamedTuple):
    """Line number `row`: its values (more than one if glued) and what was repaired in it; or,
    with no values, the `fault`, and the `text` that has it."""

    row: int
    values: list[Any]
    repaired: str | None = None
    fault: str | None = None
    text: bytes = b""

    @property
    def stands_alone(self) -> bool:
        """Whether this is one or more rows, and nothing else."""
        whole = self.repaired is None or TORN not in self.repaired
        return whole and any(isinstance(value, dict | list) for value in self.values)


def parse_line(row: int, line: bytes) -> Line:
    """A line of any content; a blank one has the fault `BLANK`."""
    if not line.strip():
        return Line(row, [], fault=BLANK, text=line)
    if line is TOO_LONG:
        return Line(row, [], fault="too_long")
    try:
        values, repaired = parse_row(line)
    except Unreadable as error:
        return Line(row, [], fault=str(error), text=line)
    return Line(row, values, repaired)


class JsonLines:
    """Lines of a file. Those that were looked at to recognize the format are not parsed again.

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
            for raw in self._rest(stream, len(self._known)):
                self.looked_at += MAX_LINE_BYTES if raw is TOO_LONG else len(raw)
                self._known.append(parse_line(len(self._known) + 1, raw))
                yield self._known[-1]
            self._ended = True

    @staticmethod
    def _rest(stream: IO[bytes], known: int) -> Iterator[bytes]:
        """The lines behind the first `known` ones."""
        return islice(bounded_lines(stream), known, None)

    @property
    def only(self) -> tuple[list[Any], str | None]:
        """The values, and what was repaired, of the one line that is not blank."""
        line = next(line for line in self._known if line.values)
        return line.values, line.repaired

    def read(self, ledger: Ledger) -> Iterator[tuple[int, Any]]:
        """Every value with its row, once; lines without one are counted with their fault.

        The last line is torn if it is no JSON: its writer was stopped.
        """
        last = 0
        faulty = _Faulty(ledger)
        for line in self._known:
            last = line.row
            yield from faulty.passed(line)
        self._known = []
        if not self._ended:
            with self._opened() as stream:
                for row, raw in enumerate(self._rest(stream, last), last + 1):
                    last = row
                    try:
                        value = orjson.loads(raw)
                    except orjson.JSONDecodeError:
                        yield from faulty.passed(parse_line(row, raw))
                        continue
                    if faulty.lines:
                        faulty.count()
                    yield row, value
        ledger.see(last)
        faulty.count(at_end=True)


class _Faulty:
    """Lines that are no JSON and wait for what follows: pieces of one record, or each a fault."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self.lines: list[Line] = []
        self._bytes = 0

    def passed(self, line: Line) -> Iterator[tuple[int, Any]]:
        """The values that a line gives, by itself or as the last piece of a record."""
        if line.fault is None:
            self.count()
            if line.repaired is not None:
                self._ledger.warn(line.repaired, line.row)
            for value in line.values:
                yield line.row, value
            return
        if not self.lines and line.fault != NOT_JSON:
            self._enter(line, line.fault)
            return
        if len(self.lines) >= MAX_PIECES or self._bytes > MAX_PIECE_BYTES:
            self.count()
        self.lines.append(line)
        self._bytes += len(line.text)
        for start in self._starts():
            whole = _record(self.lines[start:])
            if whole is not None:
                yield self._joined(start), whole
                return

    def _starts(self) -> list[int]:
        """Where a record that ends in the last line may begin."""
        if not self.lines[-1].text.rstrip().endswith(b"}"):
            return []
        begun = [n for n, line in enumerate(self.lines[:-1]) if line.text.startswith(b"{")]
        return begun[-MAX_STARTS:]

    def _joined(self, start: int) -> int:
        """Account for the pieces of a record and the faults before it; the row of the record."""
        pieces = self.lines[start:]
        self.lines = self.lines[:start]
        self.count()
        self._ledger.warn(SPLIT, pieces[0].row)
        for piece in pieces[1:]:
            self._ledger.skip(piece.row, CONTINUED)
        return pieces[0].row

    def count(self, *, at_end: bool = False) -> None:
        """Enter every line that waits, with its fault."""
        for line in self.lines:
            last = at_end and line is self.lines[-1] and line.row > 1
            torn = last and line.fault == NOT_JSON
            self._enter(line, "torn_tail" if torn else line.fault or NOT_JSON)
        self.lines, self._bytes = [], 0

    def _enter(self, line: Line, fault: str) -> None:
        self._ledger.skip(line.row, fault)
        if fault != BLANK:
            self._ledger.warn(fault, line.row)


def _record(pieces: list[Line]) -> Any:
    """The record that lines are together, if they are one."""
    try:
        values, repaired = parse_row(b"".join(piece.text for piece in pieces))
    except Unreadable:
        return None
    torn = repaired is not None and TORN in repaired
    return values[0] if len(values) == 1 and not torn and isinstance(values[0], dict) else None
