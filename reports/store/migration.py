"""Numbered changes of the store's layout, each applied once, in order, in one transaction.

`migrations/0001_first.sql` makes the tables; later numbers change them. Views, macros and comments
hold no data: they are made anew after the last migration.
"""

from collections.abc import Iterator
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path

import duckdb

from reports.schema import ENUMS, KEPT, KEPT_TABLES, TABLES
from reports.store.view import define_kept_views, define_views, quoted, views_digest
from traces.errors import StoreError

FOLDER = files("reports.store") / "migrations"


def migrations(folder: Traversable = FOLDER) -> list[tuple[int, str]]:
    """(number, SQL) of every migration, in order."""
    found = [f for f in folder.iterdir() if f.name.endswith(".sql")]
    return sorted((int(f.name[:4]), f.read_text(encoding="utf-8")) for f in found)


def version_of(connection: duckdb.DuckDBPyConnection) -> int:
    """The layout's version: 0 for an empty file. Reads only.

    Raises `StoreError` where the file holds tables that are not draftgate's.
    """
    tables = {
        row[0] for row in connection.execute("select table_name from duckdb_tables()").fetchall()
    }
    if not tables:
        return 0
    if "schema_version" not in tables:
        raise StoreError(
            "the file is a DuckDB database, but not a draftgate store", "name the store with --db"
        )
    ((version,),) = connection.execute("select max(version) from schema_version").fetchall()
    return 0 if version is None else int(version)


def refuse_newer(path: Path | str, version: int, known: int) -> None:
    """Raise `StoreError` where a newer draftgate wrote the file."""
    if version > known:
        raise StoreError(
            f"{path}: written by a newer draftgate (layout {version}; this one knows {known})",
            "`pip install -U draftgate`",
        )


def migrate(
    connection: duckdb.DuckDBPyConnection, path: Path | str, folder: Traversable = FOLDER
) -> None:
    """Bring an opened file to the newest layout, whole or not at all."""
    steps = migrations(folder)
    newest = steps[-1][0]
    version = version_of(connection)
    refuse_newer(path, version, newest)
    pending = [(number, sql) for number, sql in steps if number > version]
    if not pending and views_of(connection) == views_digest():
        return
    connection.execute("begin")
    try:
        for number, sql in pending:
            connection.execute(sql)
            connection.execute(
                "insert into schema_version (version, applied_at)"
                " values (?, now() at time zone 'utc')",
                [number],
            )
        define_kept_views(connection)
        define_views(connection)
        connection.execute(";\n".join(table_comments()))
        connection.execute(
            "update schema_version set views = ? where version = ?", [views_digest(), newest]
        )
        connection.execute("commit")
    except duckdb.Error as error:
        connection.execute("rollback")
        raise StoreError(f"{path}: cannot be brought to layout {newest}: {error}") from error


def views_of(connection: duckdb.DuckDBPyConnection) -> str | None:
    """The digest of the views an up-to-date file holds."""
    latest = "from schema_version select views order by version desc limit 1"
    rows = connection.execute(latest).fetchall()
    return str(rows[0][0]) if rows and rows[0][0] is not None else None


def make_types(connection: duckdb.DuckDBPyConnection) -> None:
    """The enum types alone, for a database whose tables are views over files."""
    for name, values in ENUMS.items():
        listed = ", ".join(map(quoted, values))
        connection.execute(f"create type {name} as enum ({listed})")


def table_comments() -> Iterator[str]:
    """COMMENT ON statements of every table and column."""
    for table in (*TABLES, *KEPT_TABLES):
        kind = "view" if table.name in KEPT else "table"
        yield f"comment on {kind} {table.name} is {quoted(table.comment)}"
        for column in table.columns:
            yield f"comment on column {table.name}.{column.name} is {quoted(column.text)}"
