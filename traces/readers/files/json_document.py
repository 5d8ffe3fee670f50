"""A file that is one JSON value, distinguished from JSON Lines by its first lines."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import IO, Any

import orjson

from traces.errors import InputError
from traces.readers.files.json_lines import BLANK, JsonLines
from traces.readers.files.json_text import TORN, Unreadable, parse_row
from traces.readers.files.ledger import Ledger

LINES_TO_TELL = 21
BYTES_TO_TELL = 8_000_000
"""Lines, or bytes of them, after which the format of a file that began like JSON is known."""

SMALL_BYTES = 64_000_000
"""A file of this size can be tried as a whole before its lines are looked at."""

MAX_BYTES = 1_000_000_000


@dataclass(frozen=True, slots=True)
class JsonDocument:
    """`opened` gives the bytes of the file called `name`; they are `size` as stored."""

    name: str
    size: int
    opened: Callable[[], IO[bytes]]
    lines: JsonLines
    ledger: Ledger

    def value(self) -> Any:
        """The value, or None if the file is not one. Raises InputError if it is too large."""
        rows = faults = 0
        for line in self.lines.look():
            if line.stands_alone:
                rows += len(line.values)
            elif line.fault != BLANK:
                faults += 1
                if faults == 1 and not rows and (whole := self._undamaged()) is not None:
                    return whole
            if rows > 1 and rows >= faults:
                return None
            if rows + faults > LINES_TO_TELL or self.lines.looked_at > BYTES_TO_TELL:
                break
        else:
            if rows == 1 and not faults:
                return self._only(*self.lines.only)
        try:
            return self._only(*parse_row(self._whole()))
        except Unreadable:
            return None

    def _undamaged(self) -> Any:
        """The value of a file that is written over several lines, if it has no damage."""
        if self.size > SMALL_BYTES:
            return None
        try:
            return orjson.loads(self._whole())
        except orjson.JSONDecodeError:
            return None

    def _whole(self) -> bytes:
        with self.opened() as stream:
            data = stream.read(MAX_BYTES + 1)
        if len(data) > MAX_BYTES:
            raise InputError(
                f"{self.name}: one JSON value of more than {MAX_BYTES // 10**6} MB",
                "write it as JSON Lines, one session or message per line",
            )
        return data

    def _only(self, values: list[Any], repaired: str | None) -> Any:
        if len(values) > 1 or (repaired and TORN in repaired):
            return None
        if repaired:
            self.ledger.warn(repaired)
        return values[0]
