"""The SQL that makes a store, generated from the declarations: one layout, no other source.

Tables have no keys of their own: rows come by the million and never change, an index would outgrow
the data, and `reports.store.loading` refuses double rows.
"""

import hashlib
from collections.abc import Iterator

from reports.schema.column import ENUMS, Column, Table


def quoted(text: str) -> str:
    """`text` as an SQL string literal."""
    return "'" + text.replace("'", "''") + "'"


def type_statements() -> Iterator[str]:
    """CREATE TYPE of every enum."""
    for name, values in ENUMS.items():
        yield f"create type {name} as enum ({', '.join(map(quoted, values))})"


def table_statement(table: Table) -> str:
    """CREATE TABLE of one declared table."""
    return f"create table {table.name} ({', '.join(map(_column, table.columns))})"


def comment_statements(table: Table, kind: str) -> Iterator[str]:
    """COMMENT ON statements of a table (or, by `kind`, a view) and its columns."""
    yield f"comment on {kind} {table.name} is {quoted(table.comment)}"
    for column in table.columns:
        yield f"comment on column {table.name}.{column.name} is {quoted(column.text)}"


def digest(statements: Iterator[str]) -> str:
    """16 hex digits of the BLAKE2b of SQL statements: equal where they make the same things."""
    return hashlib.blake2b("\n".join(statements).encode(), digest_size=8).hexdigest()


def _column(column: Column) -> str:
    return f"{column.name} {column.type}{' not null' if column.required else ''}"
