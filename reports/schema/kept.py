"""How the rows of captures are kept: with one number for the six columns that name their capture.

    tokens = token_rows joined with capture_keys

The tables people ask are views over these. Rows come by the million, and a number costs a small
part of six texts, in the file and on the way into it.
"""

from dataclasses import replace

from reports.schema.capture import CAPTURE_COLUMNS, DRAFT_POSITIONS, STEPS, TOKENS
from reports.schema.column import Column, Table

CAPTURE = Column("capture", "INTEGER", "number of the capture in this file", required=True)

CAPTURE_KEYS = Table(
    "capture_keys",
    "The number of every capture, which stands for it in token_rows, step_rows and position_rows.",
    ("capture",),
    (CAPTURE, *CAPTURE_COLUMNS),
    derived=True,
)


def _kept(table: Table, name: str) -> Table:
    own = tuple(column for column in table.columns if column not in CAPTURE_COLUMNS)
    index = tuple(column for column in table.key if column in {c.name for c in own})
    return replace(
        table,
        name=name,
        comment=f"What {table.name} is made of, beside capture_keys; ask {table.name}.",
        key=("capture", *index),
        columns=(CAPTURE, *own),
        derived=True,
    )


KEPT: dict[str, Table] = {
    "tokens": _kept(TOKENS, "token_rows"),
    "steps": _kept(STEPS, "step_rows"),
    "draft_positions": _kept(DRAFT_POSITIONS, "position_rows"),
}
"""view -> the table its own columns are kept in."""


def view_of(name: str) -> str:
    """The SELECT behind the view `name`."""
    kept = KEPT[name]
    keys = ", ".join(f"k.{column.name}" for column in CAPTURE_COLUMNS)
    own = ", ".join(f"r.{column}" for column in kept.names[1:])
    return f"select {keys}, {own} from {kept.name} r join capture_keys k using (capture)"
