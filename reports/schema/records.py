"""The hand-over: everything known about one finished run, as rows, ready for `Store.load`.

A table is given as a `pyarrow.Table` (quick) or as dictionaries (handy), with the columns that
`reports.schema` declares. A column that is left out is NULL; a column nobody declared is an error.
Give the rows of one capture together and in order: that is how they compress. Text columns that
repeat (ids, labels) are dictionary-encoded, by the caller or here.
"""

import dataclasses
import difflib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, TypeAlias

import orjson
import pyarrow as pa

from reports.schema import ENUMS, TABLE, Column, Table
from traces.errors import StoreError

Rows: TypeAlias = pa.Table | Sequence[Mapping[str, Any]]


@dataclass(frozen=True, slots=True)
class RunTables:
    """Rows of one run, by table. `runs` holds exactly one row."""

    runs: Rows
    paths: Rows = ()
    path_differences: Rows = ()
    sessions: Rows = ()
    turns: Rows = ()
    arms: Rows = ()
    captures: Rows = ()
    tokens: Rows = ()
    steps: Rows = ()
    draft_positions: Rows = ()
    tool_calls: Rows = ()
    server_samples: Rows = ()
    pairs: Rows = ()
    findings: Rows = ()
    metrics: Rows = ()
    acceptance: Rows = ()
    acceptance_positions: Rows = ()
    tool_success: Rows = ()
    template_shifts: Rows = ()
    slices: Rows = ()
    regret_slices: Rows = ()
    routes: Rows = ()
    scope: Rows = ()
    bounds: Rows = ()
    controls: Rows = ()

    def arrow(self) -> dict[str, pa.Table]:
        """Every table as Arrow with the declared columns, in load order.

        Raises `StoreError` where a row has a wrong column, type or enum value, or lacks a required
        one.
        """
        return {
            field.name: arrow_table(TABLE[field.name], getattr(self, field.name))
            for field in dataclasses.fields(self)
        }


def arrow_table(table: Table, rows: Rows) -> pa.Table:
    """`rows` with exactly the declared columns and types of `table`."""
    if not isinstance(rows, pa.Table):
        given = {name for row in rows for name in row}
        _refuse_unknown(table, given)
        columns = [_array(table, c, [row.get(c.name) for row in rows]) for c in table.columns]
        result = pa.Table.from_arrays(columns, schema=table.arrow)
    else:
        _refuse_unknown(table, set(rows.column_names))
        columns = [_cast(table, c, rows) for c in table.columns]
        result = pa.Table.from_arrays(columns, names=list(table.names))
    for column in table.columns:
        missing = result.column(column.name).null_count
        if column.required and missing:
            raise StoreError(
                f"{table.name}.{column.name}: {missing} of {result.num_rows} rows have no value",
                "this column is required; give every row a value",
            )
    return result


def _refuse_unknown(table: Table, given: set[str]) -> None:
    for name in sorted(given - set(table.names)):
        near = difflib.get_close_matches(name, table.names, 1)
        hint = f"did you mean {near[0]!r}?" if near else f"columns are {', '.join(table.names)}"
        raise StoreError(f"table {table.name} has no column {name!r}", hint)


def _array(table: Table, column: Column, values: list[Any]) -> pa.Array:
    if column.type == "JSON":
        values = [
            v if v is None or isinstance(v, str) else orjson.dumps(v).decode() for v in values
        ]
    elif column.type == "TIMESTAMP":
        values = [_utc(value) for value in values]
    elif column.type in ENUMS:
        for value in sorted({v for v in values if v is not None} - set(ENUMS[column.type])):
            allowed = ", ".join(ENUMS[column.type])
            raise StoreError(f"{table.name}.{column.name}: {value!r} is not one of {allowed}")
    try:
        return pa.array(values, column.arrow)
    except (pa.ArrowException, TypeError, ValueError, OverflowError) as error:
        raise StoreError(
            f"{table.name}.{column.name}: {error}", f"expected {column.type}"
        ) from error


def _cast(table: Table, column: Column, rows: pa.Table) -> pa.ChunkedArray:
    if column.name not in rows.column_names:
        return pa.chunked_array([pa.nulls(rows.num_rows, column.arrow)])
    given = rows.column(column.name)
    if pa.types.is_dictionary(given.type) and column.arrow == pa.string():
        return given
    try:
        return given.cast(column.arrow)
    except pa.ArrowException as error:
        raise StoreError(
            f"{table.name}.{column.name}: {error}", f"expected {column.type}"
        ) from error


def _utc(value: datetime | float | None) -> datetime | None:
    """A time as naive UTC: from an aware or naive (taken as UTC) datetime, or epoch seconds."""
    if value is None:
        return None
    if not isinstance(value, datetime):
        value = datetime.fromtimestamp(value, UTC)
    return value.astimezone(UTC).replace(tzinfo=None) if value.tzinfo else value
