"""Columns that grow capture by capture and become one Arrow table."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from reports.schema import TABLE

Values = Sequence[Any] | npt.NDArray[Any]
"""One value per row."""


class Columns:
    """Collects blocks of rows for one table of the store.

    Rows go in as whole blocks (one per capture), so that a run of millions of tokens is never held
    as dictionaries.
    """

    def __init__(self, table: str) -> None:
        self._schema = TABLE[table].arrow
        self._batches: list[pa.RecordBatch] = []

    def add(self, count: int, constant: Mapping[str, Any], columns: Mapping[str, Values]) -> None:
        """`count` rows: the values of `constant` repeated, and one sequence per other column."""
        arrays = []
        for field in self._schema:
            if field.name in columns:
                arrays.append(_array(columns[field.name], field.type))
            elif constant.get(field.name) is not None:
                arrays.append(pa.repeat(pa.scalar(constant[field.name], field.type), count))
            else:
                arrays.append(pa.nulls(count, field.type))
        self._batches.append(pa.RecordBatch.from_arrays(arrays, schema=self._schema))

    def table(self) -> pa.Table:
        """Everything added so far."""
        return pa.Table.from_batches(self._batches, schema=self._schema)


def _array(values: Values, kind: pa.DataType) -> pa.Array:
    if isinstance(values, np.ndarray):
        return pa.array(values).cast(kind)
    return pa.array(values, kind)
