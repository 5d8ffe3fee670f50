"""Every row of a source is used, or counted with the reason why not: none is lost."""

import re
from collections import Counter
from dataclasses import dataclass, field

from traces.session.session import SourceWarning

MAX_WARNINGS_PER_CODE = 20
"""Beyond this many of one code in a file, warnings are only counted."""

MAX_REASON = 60
UNPLAIN = re.compile(r"[^\w.:/-]+")
"""Reasons can name what stands in the file, such as the type of a row."""

_OPEN, _USED = 0, 1
_MORE_ROWS = 4096


@dataclass(slots=True)
class Ledger:
    """Account of one file. Rows are numbered from 1; a row used once stays used."""

    rows: int = 0
    warnings: list[SourceWarning] = field(default_factory=list)
    _reasons: dict[str, int] = field(default_factory=lambda: {"unaccounted": _OPEN, "used": _USED})
    _state: bytearray = field(default_factory=bytearray)
    _codes: Counter[str] = field(default_factory=Counter)

    def see(self, row: int) -> None:
        """A row exists."""
        if row > self.rows:
            self.rows = row
            if row > len(self._state):
                self._state.extend(bytes(row - len(self._state) + _MORE_ROWS))

    def use(self, row: int) -> None:
        """The row's content is in a session."""
        if row > self.rows:
            self.rows = row
            if row > len(self._state):
                self._state.extend(bytes(row - len(self._state) + _MORE_ROWS))
        self._state[row - 1] = _USED

    def skip(self, row: int, reason: str) -> None:
        """The row is not part of any session, for a reason given as a short word.

        What is long or strange in it is cut off or replaced.
        """
        if row > self.rows:
            self.see(row)
        if self._state[row - 1] == _USED:
            return
        code = self._reasons.get(reason)
        if code is None:
            reason = UNPLAIN.sub("_", reason[:MAX_REASON])
            full = len(self._reasons) == 255
            code = self._reasons.setdefault("other" if full else reason, len(self._reasons))
        self._state[row - 1] = code

    def warn(self, code: str, row: int | None = None, detail: str = "") -> None:
        """Something odd that a reader coped with. `detail` must not quote the content."""
        self._codes[code] += 1
        if self._codes[code] <= MAX_WARNINGS_PER_CODE:
            self.warnings.append(SourceWarning(code=code, row=row, detail=detail))

    @property
    def skipped(self) -> dict[str, int]:
        """Rows per reason, the most frequent first."""
        counts = Counter(self._state[: self.rows])
        names = {code: reason for reason, code in self._reasons.items()}
        named = {names[code]: n for code, n in counts.items() if code != _USED}
        return dict(sorted(named.items(), key=lambda item: (-item[1], item[0])))

    @property
    def unlisted(self) -> dict[str, int]:
        """Warnings that were counted but not listed, by code."""
        return {
            code: count - MAX_WARNINGS_PER_CODE
            for code, count in self._codes.items()
            if count > MAX_WARNINGS_PER_CODE
        }
