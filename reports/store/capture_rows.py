"""Rows of captures with one number in place of the six columns that name their capture.

With that number, and another for a row's place in its capture, it is seen at once that no row is
there twice and none lacks its capture.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from reports.schema import KEPT, KEPT_TABLES, TABLE
from traces.errors import StoreError

Ints = npt.NDArray[np.int64]

KEY = TABLE["captures"].key[1:]
"""What names a capture of one run."""


def kept_tables(arrow: dict[str, pa.Table], first: int) -> dict[str, pa.Table]:
    """The tables of a run as the file keeps them, in load order; its captures' numbers go from
    `first` on.

    Raises `StoreError` for a row whose capture is missing, and for two rows of one key.
    """
    captures = arrow["captures"]
    keys = KEPT_TABLES[0]
    numbers = pa.array(range(first, first + captures.num_rows), pa.int32())
    kept = {}
    for name, rows in arrow.items():
        if name in KEPT:
            kept[KEPT[name].name] = _numbered(name, rows, captures, first)
        else:
            kept[name] = rows
        if name == "captures":
            kept[keys.name] = rows.select(keys.names[1:]).append_column("capture", numbers)
    return kept


def _numbered(name: str, rows: pa.Table, captures: pa.Table, first: int) -> pa.Table:
    """The own columns of `rows`, and the number of each one's capture."""
    known = {tuple(row.values()): i for i, row in enumerate(captures.select(KEY).to_pylist())}
    codes = _codes(rows, KEY)
    begins = np.flatnonzero(np.diff(codes, prepend=-1))
    numbers = []
    for key in rows.select(KEY).take(begins).to_pylist():
        if tuple(key.values()) not in known:
            raise StoreError(f"table {name} holds a row without its row in captures {_named(key)}")
        numbers.append(known[tuple(key.values())])
    capture = np.repeat(np.array(numbers, np.int64), np.diff(begins, append=len(codes)))
    own = KEPT[name].key[1:]
    _refuse_doubles(name, rows, _codes(rows, own, capture))
    chosen = rows.select(KEPT[name].names[1:])
    return chosen.append_column("capture", pa.array(capture + first, pa.int32()))


def _codes(rows: pa.Table, columns: Sequence[str], codes: Ints | None = None) -> Ints:
    """One number per row for `codes` and the values of `columns`: equal where all of them are."""
    codes = np.zeros(rows.num_rows, np.int64) if codes is None else codes
    for column in columns:
        values = rows.column(column).combine_chunks()
        if pa.types.is_string(values.type):
            values = values.dictionary_encode()
        if pa.types.is_dictionary(values.type):
            values = values.indices
        numbers = values.to_numpy().astype(np.int64)
        numbers -= numbers.min(initial=0)
        codes = codes * (int(numbers.max(initial=0)) + 1) + numbers
    return codes


def _refuse_doubles(name: str, rows: pa.Table, codes: Ints) -> None:
    if (np.diff(codes) > 0).all():
        return
    order = np.argsort(codes, kind="stable")
    double = np.flatnonzero(np.diff(codes[order]) == 0)
    if len(double):
        place = int(order[double[0]])
        (row,) = rows.select(TABLE[name].key).slice(place, 1).to_pylist()
        count = int(np.count_nonzero(codes == codes[place]))
        raise StoreError(f"table {name} holds {count} rows of one key {_named(row)}")


def _named(row: dict[str, Any]) -> str:
    return "(" + ", ".join(f"{name} {value}" for name, value in row.items()) + ")"
