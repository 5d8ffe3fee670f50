"""What the store knows of itself: its version, and which runs it holds."""

from reports.schema.column import Column, Table
from reports.schema.run import RUN

SCHEMA_VERSION = Table(
    "schema_version",
    "One row per change of the layout of this file, the newest last.",
    ("version",),
    (
        Column("version", "INTEGER", "number of the migration", required=True),
        Column("applied_at", "TIMESTAMP", "when it was applied, UTC", required=True),
        Column("views", "VARCHAR", "digest of the views' text, in the newest row"),
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
