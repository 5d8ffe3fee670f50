"""A column of few distinct texts: a code per row, and what the codes stand for.

Coded([0 0 1 -1], ("prose", "code"))     prose, prose, code, None
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import overload

import numpy as np
import numpy.typing as npt

NONE = -1
"""The code of a row without a text."""


@dataclass(frozen=True, slots=True, eq=False)
class Coded(Sequence[str | None]):
    """The text of row i is ``names[codes[i]]``, `None` where the code is -1."""

    codes: npt.NDArray[np.signedinteger]
    names: tuple[str, ...]

    @classmethod
    def of(cls, texts: Sequence[str | None]) -> "Coded":
        """Any texts, coded; what is coded, itself."""
        if isinstance(texts, Coded):
            return texts
        codes: dict[str, int] = {}
        found = [NONE if t is None else codes.setdefault(t, len(codes)) for t in texts]
        return cls(np.array(found, np.int32), tuple(codes))

    def __len__(self) -> int:
        return len(self.codes)

    @overload
    def __getitem__(self, place: int) -> str | None: ...

    @overload
    def __getitem__(self, place: slice) -> "Coded": ...

    def __getitem__(self, place: int | slice) -> "str | Coded | None":
        if isinstance(place, slice):
            return Coded(self.codes[place], self.names)
        return self._text(int(self.codes[place]))

    def __iter__(self) -> Iterator[str | None]:
        return map(self._text, self.codes.tolist())

    def _text(self, code: int) -> str | None:
        return None if code == NONE else self.names[code]
