"""How a table of the store is declared: its columns with type, meaning and unit, in one place.

The declarations are the documentation: the same text becomes the comments inside the database, the
pages of docs/sql.md, and the Arrow schema that rows are converted to before they are loaded.
"""

from dataclasses import dataclass

import pyarrow as pa

ENUMS: dict[str, tuple[str, ...]] = {
    "path_name": ("baseline", "candidate"),
    "verdict_name": ("pass", "fail", "inconclusive", "invalid", "aa-pass"),
    "severity_name": ("error", "warning", "info"),
    "label_name": (
        "reasoning",
        "prose",
        "code",
        "diff.header",
        "diff.context",
        "diff.add",
        "diff.remove",
        "tool.markup",
        "tool.name",
        "tool.key",
        "tool.string",
        "tool.number",
        "tool.punct",
        "shell.command",
        "shell.output",
        "special",
    ),
    "distance_name": ("0", "1", "2", "3-7", "8+"),
    "context_name": ("0-8k", "8k-16k", "16k-32k", "32k-64k", "64k-128k", "128k+"),
    "shape_name": ("decode", "prefill"),
    "bound_state": ("pass", "fail", "inconclusive", "not_applicable"),
    "control_state": ("caught", "missed", "no_data", "not_applicable"),
    "dimension_name": (
        "all",
        "boundary",
        "crossing",
        "distance",
        "context",
        "template",
        "tool",
        "cached",
        "boundary_context",
        "tag",
    ),
}
"""Enum types of the database; order here is sort order there."""

_ARROW: dict[str, pa.DataType] = {
    "VARCHAR": pa.string(),
    "JSON": pa.string(),
    "BOOLEAN": pa.bool_(),
    "UTINYINT": pa.uint8(),
    "USMALLINT": pa.uint16(),
    "INTEGER": pa.int32(),
    "BIGINT": pa.int64(),
    "FLOAT": pa.float32(),
    "DOUBLE": pa.float64(),
    "TIMESTAMP": pa.timestamp("us"),
    "VARCHAR[]": pa.list_(pa.string()),
    "DOUBLE[]": pa.list_(pa.float64()),
    "MAP(VARCHAR, VARCHAR)": pa.map_(pa.string(), pa.string()),
}


@dataclass(frozen=True, slots=True)
class Column:
    """One column: DuckDB type (or name of an enum), meaning, unit; `required` means NOT NULL."""

    name: str
    type: str
    comment: str
    unit: str = ""
    required: bool = False

    @property
    def text(self) -> str:
        """The comment with its unit: ``time from sending to the first token [ms]``."""
        return f"{self.comment} [{self.unit}]" if self.unit else self.comment

    @property
    def arrow(self) -> pa.DataType:
        """The Arrow type rows are converted to; enums travel as strings."""
        return pa.string() if self.type in ENUMS else _ARROW[self.type]


@dataclass(frozen=True, slots=True)
class Table:
    """One table. `key` names the columns that identify a row.

    `derived` tables are computed by the store while a run is loaded; callers never fill them.
    """

    name: str
    comment: str
    key: tuple[str, ...]
    columns: tuple[Column, ...]
    derived: bool = False

    @property
    def names(self) -> tuple[str, ...]:
        """Column names in declaration order."""
        return tuple(column.name for column in self.columns)

    @property
    def arrow(self) -> pa.Schema:
        """The Arrow schema of rows given to `Store.load`."""
        fields = [pa.field(c.name, c.arrow, nullable=not c.required) for c in self.columns]
        return pa.schema(fields)
