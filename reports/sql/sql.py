"""Read-only SQL for people: one SELECT on a connection that can reach nothing but the store.

The connection is read-only, has no access to files, no extensions, no Python variables, and its
settings are locked; on top of that only statements that read are accepted.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa

from reports.store.connection import connect
from reports.store.damage import KINDS, damaged, interruptible
from reports.store.store import MEMORY_LIMIT, WAIT_S, Store
from traces.errors import StoreError

DEFAULT_LIMIT = 1000

SEALED: dict[str, Any] = {
    "enable_external_access": False,
    "autoinstall_known_extensions": False,
    "autoload_known_extensions": False,
    "allow_community_extensions": False,
    "python_enable_replacements": False,
    "memory_limit": MEMORY_LIMIT,
    "lock_configuration": True,
}
"""DuckDB settings of a connection that runs SQL of users."""

READING = (duckdb.StatementType.SELECT, duckdb.StatementType.EXPLAIN)


@dataclass(frozen=True, slots=True)
class Answer:
    """The rows of a query; `limit` is the number of rows kept where there were more, else None.

    `none` is what it would mean that there are no rows, where that is known.
    """

    rows: pa.Table
    limit: int | None = None
    none: str = ""

    @property
    def notice(self) -> str | None:
        """What to tell the reader where rows are missing."""
        if not self.rows.num_rows:
            return f"no rows: {self.none}" if self.none else "no rows"
        if self.limit is None:
            return None
        return f"only the first {self.limit:,} rows are shown; --limit 0 shows all"


def open_sealed(path: Path, wait_s: float = WAIT_S) -> Store:
    """The store at `path` (a file, or a folder of exported Parquet) for SQL of users."""
    if path.is_dir():
        from reports.store.parquet import open_parquet

        return open_parquet(path)
    Store.open(path, wait_s=wait_s).close()
    return Store(connect(path, read_only=True, wait_s=wait_s, settings=SEALED), str(path))


def ask(
    store: Store,
    sql: str,
    parameters: Mapping[str, Any] | None = None,
    limit: int = DEFAULT_LIMIT,
) -> Answer:
    """The first `limit` rows (0: all) of one statement that reads.

    Raises `StoreError` for anything else, and for what DuckDB refuses, with its words.
    """
    statement = _the_only_one(sql)
    try:
        return _answer(store, statement, parameters, limit)
    except duckdb.Error as error:
        raise _refused(store, error) from error


def _answer(
    store: Store, statement: duckdb.Statement, parameters: Mapping[str, Any] | None, limit: int
) -> Answer:
    with interruptible():
        reader = store.connection.sql(statement, params=parameters or None).to_arrow_reader(10_000)
        schema, batches, kept = reader.schema, [], 0
        for batch in reader:
            batches.append(batch)
            kept += batch.num_rows
            if limit and kept > limit:
                break
        reader.close()
    rows = pa.Table.from_batches(batches, schema)
    if limit and rows.num_rows > limit:
        return Answer(rows.slice(0, limit), limit)
    return Answer(rows)


def _the_only_one(sql: str) -> duckdb.Statement:
    try:
        statements = duckdb.extract_statements(sql)
    except duckdb.Error as error:
        raise StoreError(f"SQL: {error}", "`draftgate docs sql` has examples") from error
    if len(statements) != 1:
        raise StoreError(
            f"SQL: {len(statements)} statements; expected one",
            'ask one question at a time, such as "from v_verdict"; `draftgate query` lists more',
        )
    (statement,) = statements
    if statement.type not in READING:
        kind = statement.type.name.replace("_", " ")
        raise StoreError(
            f"SQL: {kind} is not allowed; the store is opened for reading",
            "ask with SELECT; to change a copy, open it with the duckdb program",
        )
    return statement


def _refused(store: Store, error: duckdb.Error) -> StoreError:
    if isinstance(error, KINDS):
        return damaged(store.path, error)
    text = str(error).strip()
    if isinstance(error, duckdb.CatalogException):
        return StoreError(f"SQL: {text}", "`draftgate sql 'show tables'` lists tables and views")
    if isinstance(error, duckdb.PermissionException):
        return StoreError(
            f"SQL: {text}", "queries reach the store only, no files and no extensions"
        )
    if isinstance(error, duckdb.BinderException):
        return StoreError(f"SQL: {text}", "`draftgate sql 'describe TABLE'` lists columns")
    return StoreError(f"SQL on {store.path}: {text}", "`draftgate docs sql` has examples")
