"""The answer to a query as a terminal table, CSV, JSON or Parquet."""

import csv
import io
import json
from collections.abc import Sequence
from datetime import datetime
from decimal import Decimal
from pathlib import Path
from typing import Any, Literal

import pyarrow as pa
import pyarrow.parquet as pq
from rich import box
from rich.table import Table
from rich.text import Text

from reports.inert import for_spreadsheets, one_line, visible_json
from reports.number import number
from reports.sql.sql import Answer
from traces.output import whole_file

LONGEST_CELL = 100
GAP = 3
"""Characters that a column takes beside its text."""

NARROWEST = 10
"""Text of a table is broken into lines of so many characters at least."""


def as_object(answer: Answer) -> dict[str, Any]:
    """``{"columns": […], "rows": [{…}], "truncated": false}`` of JSON types."""
    rows = [{name: _plain(v) for name, v in row.items()} for row in answer.rows.to_pylist()]
    return {
        "columns": answer.rows.column_names,
        "rows": rows,
        "truncated": answer.limit is not None,
    }


def as_table(answer: Answer, width: int = 10_000) -> Table:
    """A rich table: numbers right, absent values ``n/a``, recorded text made inert.

    Long text wraps so that the columns fit into `width` characters, that of the widest columns
    first. Where they do not even so, every row becomes a block of lines, one for each column.
    """
    names = [one_line(name) for name in answer.rows.column_names]
    kinds = [field.type for field in answer.rows.schema]
    rows = [list(map(cell, row.values())) for row in as_object(answer)["rows"]]
    columns = zip(names, *rows, strict=True)
    if sum(map(_least, columns, kinds)) + GAP * len(names) > width:
        return _blocks(names, rows)
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for name, kind in zip(names, kinds, strict=True):
        justify: Literal["left", "right"] = "right" if _is_number(kind) else "left"
        table.add_column(Text(name), justify=justify, no_wrap=not _is_text(kind), overflow="fold")
    for row in rows:
        table.add_row(*map(Text, row))
    return table


def _least(column: Sequence[str], kind: pa.DataType) -> int:
    """Characters that a column of this title and these values cannot do without."""
    widest = max(map(len, column))
    return min(widest, NARROWEST) if _is_text(kind) else widest


def _is_text(kind: pa.DataType) -> bool:
    """Whether its values may be broken into lines: texts, lists, maps; no number, no time."""
    return not (pa.types.is_temporal(kind) or pa.types.is_boolean(kind) or _is_number(kind))


def _is_number(kind: pa.DataType) -> bool:
    numbers = (pa.types.is_integer, pa.types.is_floating, pa.types.is_decimal)
    return any(is_one(kind) for is_one in numbers)


def _blocks(names: list[str], rows: list[list[str]]) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_header=False)
    table.add_column(overflow="fold")
    table.add_column(overflow="fold")
    for row in rows:
        for name, value in zip(names, row, strict=True):
            table.add_row(Text(name, style="bold"), Text(value))
        table.add_section()
    return table


def as_csv(answer: Answer) -> str:
    """CSV with a header; absent values are empty, lists and maps are JSON. Text can neither act on
    a terminal nor as a formula of a spreadsheet; `as_object` has it as it is."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(map(for_spreadsheets, answer.rows.column_names))
    for row in as_object(answer)["rows"]:
        writer.writerow(map(_csv_cell, row.values()))
    return out.getvalue()


def _csv_cell(value: Any) -> Any:
    if isinstance(value, list | dict):
        return visible_json(json.dumps(value, ensure_ascii=False))
    return for_spreadsheets(value) if isinstance(value, str) else value


def write_parquet(answer: Answer, file: Path) -> None:
    """The rows as a Parquet file, whole or not at all. Raises OutputError."""
    with whole_file(file) as part:
        pq.write_table(answer.rows, part)


def cell(value: Any) -> str:
    """One value as a person reads it."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, (int, float)) or value is None:
        return number(value)
    if isinstance(value, list):
        return one_line("[" + ", ".join(map(cell, value)) + "]", LONGEST_CELL)
    return one_line(str(value), LONGEST_CELL)


def _plain(value: Any) -> Any:
    if isinstance(value, datetime):
        return value.isoformat(timespec="milliseconds") + "Z"
    if isinstance(value, Decimal):
        return int(value) if value == value.to_integral_value() else float(value)
    if isinstance(value, list):
        if value and all(isinstance(pair, tuple) for pair in value):
            return {key: _plain(part) for key, part in value}
        return [_plain(part) for part in value]
    if isinstance(value, float) and value != value:
        return None
    if isinstance(value, (str, int, float, dict)) or value is None:
        return value
    return str(value)
