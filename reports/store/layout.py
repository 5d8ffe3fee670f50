"""The layout of a store: made whole in one transaction, recognized, and made again where no run is
in it.

There is one layout, that of `reports.schema`. A file with another one keeps its runs and is
refused; views hold no data and are made anew whenever their text has changed.
"""

import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Literal

import duckdb

from reports.schema import KEPT, KEPT_TABLES, TABLES
from reports.schema.statements import (
    comment_statements,
    digest,
    table_statement,
    type_statements,
)
from reports.store.view import kept_statements, view_statements
from traces.errors import StoreError
from traces.shortage import raise_shortage

State = Literal["current", "empty", "other", "foreign"]
"""What an opened file holds: this layout, no tables, another layout of draftgate's, or tables of
another program."""

LOAD_AGAIN = (
    "move it away or name another file with --db; `draftgate gate --resume RUN` stores a run again "
    "from its journals"
)


def table_statements() -> Iterator[str]:
    """SQL of every type and table."""
    yield from type_statements()
    for table in (*TABLES, *KEPT_TABLES):
        if table.name not in KEPT:
            yield table_statement(table)


def definition_statements() -> Iterator[str]:
    """SQL of every view and comment."""
    yield from kept_statements()
    for table in (*TABLES, *KEPT_TABLES):
        yield from comment_statements(table, "view" if table.name in KEPT else "table")
    yield from view_statements()


def make_file(path: Path) -> None:
    """Make an empty store where there is none, or only a file of zero bytes.

    It is made under another name, so that a kill or a full disk leaves nothing at `path`. Another
    process that has made one meanwhile wins.
    """
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    part.unlink(missing_ok=True)
    try:
        with duckdb.connect(str(part)) as connection:
            make(connection)
        if path.exists() and not path.stat().st_size:
            os.replace(part, path)
        else:
            with suppress(FileExistsError):
                os.link(part, path)
    except (duckdb.Error, OSError) as error:
        raise_shortage(error)
        raise StoreError(
            f"{path}: cannot be made ({error})",
            "check the folder's permissions and free space, or name another file with --db",
        ) from error
    finally:
        for left in (part, part.with_name(part.name + ".wal")):
            left.unlink(missing_ok=True)


def make(connection: duckdb.DuckDBPyConnection) -> None:
    """Types, tables, views and comments in a database without any, whole or not at all."""
    with connection.cursor() as cursor:
        cursor.execute("begin")
        for statement in (*table_statements(), *definition_statements()):
            cursor.execute(statement)
        cursor.execute(
            "insert into layout values (?, ?, now() at time zone 'utc')",
            [digest(table_statements()), digest(definition_statements())],
        )
        cursor.execute("commit")


def state_of(connection: duckdb.DuckDBPyConnection) -> State:
    """What the file holds. Reads only."""
    tables = {
        row[0] for row in connection.execute("select table_name from duckdb_tables()").fetchall()
    }
    if not tables:
        return "empty"
    if "layout" in tables:
        ((made_with,),) = connection.execute("select tables from layout").fetchall()
        return "current" if made_with == digest(table_statements()) else "other"
    return "other" if {"runs", "captures", "schema_version"} <= tables else "foreign"


def bring_up_to_date(connection: duckdb.DuckDBPyConnection, path: Path | str) -> None:
    """Make what is missing in a file opened for writing; whatever holds a run keeps it.

    Raises `StoreError` for tables of another program, and for runs in another layout.
    """
    state = state_of(connection)
    if state == "other" and not holds_runs(connection):
        _drop_everything(connection)
        state = "empty"
    refuse(state, path)
    if state == "empty":
        make(connection)
    elif not has_these_views(connection):
        with connection.cursor() as cursor:
            cursor.execute("begin")
            for statement in definition_statements():
                cursor.execute(statement)
            cursor.execute("update layout set views = ?", [digest(definition_statements())])
            cursor.execute("commit")


def refuse(state: State, path: Path | str) -> None:
    """Raise `StoreError` for what is not a store of this layout."""
    if state == "foreign":
        raise StoreError(
            f"{path}: is a DuckDB database, but not a draftgate store", "name the store with --db"
        )
    if state == "other":
        raise StoreError(
            f"{path}: written by another version of draftgate, whose tables are laid out otherwise",
            LOAD_AGAIN,
        )


def has_these_views(connection: duckdb.DuckDBPyConnection) -> bool:
    """Whether the file's views are those of this program."""
    ((views,),) = connection.execute("select views from layout").fetchall()
    return bool(views == digest(definition_statements()))


def holds_runs(connection: duckdb.DuckDBPyConnection) -> bool:
    """Whether a run is in the file, whatever its layout."""
    known = "select 1 from duckdb_tables() where table_name = 'runs'"
    if not connection.execute(known).fetchall():
        return False
    return bool(connection.execute("from runs limit 1").fetchall())


def _drop_everything(connection: duckdb.DuckDBPyConnection) -> None:
    """Remove what an older layout made; tables that others refer to go last."""
    found = connection.execute(
        """
        select 'view', view_name from duckdb_views() where not internal
        union all select 'table', table_name from (
          from duckdb_tables() where not internal order by table_oid desc)
        union all select 'type', type_name from duckdb_types()
          where not internal and logical_type = 'ENUM' and schema_name = 'main'
        union all select distinct 'macro', function_name from duckdb_functions()
          where not internal and function_type = 'macro'
        """
    ).fetchall()
    with connection.cursor() as cursor:
        cursor.execute("begin")
        for kind, name in found:
            cursor.execute(f'drop {kind} if exists "{name}"')
        cursor.execute("commit")
