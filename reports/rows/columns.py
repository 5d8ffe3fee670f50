"""Columns that grow capture by capture and become one Arrow table.

Texts are kept as codes and numbers as arrays, so that a run of millions of tokens is never held as
Python objects.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from reports.schema import TABLE
from traces.coded import NONE, Coded
from traces.partial import Partial

Values = Sequence[str | None] | npt.NDArray[Any] | Partial
"""One value per row: texts, or numbers."""


class Columns:
    """Collects blocks of rows, one per capture, for one table of the store."""

    def __init__(self, table: str) -> None:
        self._schema = TABLE[table].arrow
        self._counts: list[int] = []
        self._columns: dict[str, _Texts | _Numbers] = {
            field.name: _Texts() if field.type == pa.string() else _Numbers(field.type)
            for field in self._schema
        }

    def add(self, count: int, constant: Mapping[str, Any], columns: Mapping[str, Values]) -> None:
        """`count` rows: the values of `constant` repeated, and one sequence per other column.

        What is in neither has no value.
        """
        self._counts.append(count)
        for name, column in self._columns.items():
            if name in columns:
                column.add(columns[name])
            else:
                column.repeat(constant.get(name))

    def table(self) -> pa.Table:
        """Everything added so far; texts are dictionary-encoded."""
        counts = np.array(self._counts, np.int64)
        arrays = {name: column.array(counts) for name, column in self._columns.items()}
        return pa.table(arrays)


class _Texts:
    """A column of texts. A part is a block's codes, or the one code of all its rows."""

    def __init__(self) -> None:
        self._codes: dict[str, int] = {}
        self._own: dict[tuple[str, ...], npt.NDArray[np.int32]] = {}
        self._parts: list[npt.NDArray[Any] | int] = []

    def add(self, texts: Any) -> None:
        if not isinstance(texts, Coded):
            self._parts.append(self._coded(texts))
            return
        if texts.names not in self._own:
            self._own[texts.names] = self._coded([*texts.names, None])
        self._parts.append(self._own[texts.names][texts.codes])

    def repeat(self, text: str | None) -> None:
        self._parts.append(NONE if text is None else self._code(text))

    def array(self, counts: npt.NDArray[np.int64]) -> pa.Array:
        codes = _joined(self._parts, counts).astype(np.int32, copy=False)
        indices = pa.array(codes, mask=codes == NONE)
        return pa.DictionaryArray.from_arrays(indices, pa.array(self._codes, pa.string()))

    def _code(self, text: str) -> int:
        return self._codes.setdefault(text, len(self._codes))

    def _coded(self, texts: Iterable[str | None]) -> npt.NDArray[np.int32]:
        return np.array([NONE if text is None else self._code(text) for text in texts], np.int32)


class _Numbers:
    """A column of numbers. A part is a block's values, or the one value of all its rows."""

    def __init__(self, kind: pa.DataType) -> None:
        self._kind = kind
        self._parts: list[npt.NDArray[Any] | float] = []
        self._missing: list[npt.NDArray[np.bool_] | bool] = []

    def add(self, numbers: Any) -> None:
        if isinstance(numbers, Partial):
            self._parts.append(numbers.values)
            self._missing.append(~numbers.known)
        else:
            self._parts.append(numbers)
            self._missing.append(False)

    def repeat(self, value: float | None) -> None:
        self._parts.append(0 if value is None else value)
        self._missing.append(value is None)

    def array(self, counts: npt.NDArray[np.int64]) -> pa.Array:
        missing = _joined(self._missing, counts).astype(bool, copy=False)
        return pa.array(_joined(self._parts, counts), mask=missing).cast(self._kind)


def _joined(parts: list[Any], counts: npt.NDArray[np.int64]) -> npt.NDArray[Any]:
    """One entry per row, from a block's entries or the one entry of all its rows."""
    if not any(isinstance(part, np.ndarray) for part in parts):
        return np.repeat(np.array(parts), counts)
    arrays = [
        part if isinstance(part, np.ndarray) else np.full(count, part)
        for part, count in zip(parts, counts.tolist(), strict=True)
    ]
    return np.concatenate(arrays)
