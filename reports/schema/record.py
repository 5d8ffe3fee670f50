"""What the store knows of itself: its layout, and which runs it holds."""

from reports.schema.column import Column, Table
from reports.schema.run import RUN

LAYOUT = Table(
    "layout",
    "One row: which tables and views this file has.",
    ("tables",),
    (
        Column("tables", "VARCHAR", "digest of the SQL that made types and tables", required=True),
        Column("views", "VARCHAR", "digest of the SQL of views and comments", required=True),
        Column("made_at", "TIMESTAMP", "when the file was made, UTC", required=True),
    ),
    derived=True,
)

LOADS = Table(
    "loads",
    "One row per run in this file: the digest that tells the same run from another of its name.",
    ("run",),
    (
        RUN,
        Column("digest", "VARCHAR", "BLAKE2b of all rows as they were given, hex", required=True),
        Column("loaded_at", "TIMESTAMP", "when it was loaded, UTC", required=True),
        Column("rows", "BIGINT", "rows of all tables", required=True),
    ),
    derived=True,
)
