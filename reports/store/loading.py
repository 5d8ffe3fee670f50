"""Writing one run into the store, whole or not at all."""

import hashlib
from collections.abc import Mapping
from contextlib import suppress

import duckdb
import pyarrow as pa

from reports.schema import KEPT, TABLE
from reports.schema.records import RunTables
from reports.store.capture_rows import kept_tables
from reports.store.differences import write_regressions
from traces.errors import StoreError
from traces.shortage import raise_shortage

ROW_GROUP = 122_880
"""Rows of a DuckDB row group: handing over as many at a time lets its threads share the work."""

PARENTS = {
    "turns": ("sessions", ("session",)),
    "captures": ("turns", ("session", "turn")),
    "pairs": ("turns", ("session", "turn")),
    "tool_calls": ("captures", TABLE["captures"].key[1:]),
}
"""table -> (the table its rows refer to, by which columns of one run)."""


def load(connection: duckdb.DuckDBPyConnection, tables: RunTables) -> bool:
    """Insert a run's rows, and what changed since the run before it, in one transaction.

    False where the run is already there.
    """
    arrow = tables.arrow()
    run = _run_id(arrow)
    digest = digest_of(arrow)
    known = connection.execute("select digest from loads where run = ?", [run]).fetchone()
    if known:
        if known[0] == digest:
            return False
        raise StoreError(
            f"run {run!r} is already in the store, with other content",
            "give this run another id, or load it into another file with --db",
        )
    connection.execute("begin")
    try:
        insert(connection, arrow)
        for name, table in arrow.items():
            if table.num_rows and name not in KEPT:
                _check(connection, name, run)
        write_regressions(connection, run)
        total = sum(table.num_rows for table in arrow.values())
        connection.execute(
            "insert into loads values (?, ?, now() at time zone 'utc', ?)", [run, digest, total]
        )
        connection.execute("commit")
    except duckdb.Error as error:
        _roll_back(connection)
        raise_shortage(error)
        raise StoreError(
            f"run {run!r} cannot be stored: {error}",
            "where the disk is full, free some space; where the store is damaged, move it away; "
            f"the run's journals are kept, and `draftgate gate --resume {run}` stores it",
        ) from error
    except BaseException:
        _roll_back(connection)
        raise
    return True


def digest_of(arrow: Mapping[str, pa.Table]) -> str:
    """BLAKE2b over every table's content, whatever its chunks are."""
    digest = hashlib.blake2b(digest_size=16)
    for name, table in arrow.items():
        digest.update(name.encode())
        for batch in table.combine_chunks().to_batches():
            digest.update(batch.schema.serialize())
            for column in batch.columns:
                if pa.types.is_dictionary(column.type):
                    digest.update(pa.record_batch([column.dictionary], ["words"]).serialize())
                    column = column.indices
                digest.update(pa.record_batch([column], ["values"]).serialize())
    return digest.hexdigest()


def _run_id(arrow: Mapping[str, pa.Table]) -> str:
    runs = arrow["runs"].column("run").to_pylist()
    if len(runs) != 1:
        raise StoreError(f"table runs holds {len(runs)} rows; a hand-over is of exactly one run")
    for name, table in arrow.items():
        others = set(table.column("run").unique().to_pylist()) - set(runs)
        if others:
            raise StoreError(f"table {name} holds rows of another run: {sorted(others)[0]!r}")
    return str(runs[0])


def insert(connection: duckdb.DuckDBPyConnection, arrow: dict[str, pa.Table]) -> None:
    """The rows of a run; the transaction, and the checks of its smaller tables, are the caller's.

    Raises `StoreError` where rows of captures contradict each other.
    """
    last = "select coalesce(max(capture), -1) from capture_keys"
    ((number,),) = connection.execute(last).fetchall()
    for name, table in kept_tables(arrow, number + 1).items():
        if table.num_rows:
            _insert(connection, name, table)


def _insert(connection: duckdb.DuckDBPyConnection, name: str, table: pa.Table) -> None:
    batches = table.to_batches(max_chunksize=ROW_GROUP)
    connection.register("incoming", pa.Table.from_batches(batches, table.schema))
    try:
        connection.execute(f"insert into {name} by name select * from incoming")
    finally:
        with suppress(duckdb.Error):  # after Ctrl-C the transaction takes no more; that is the news
            connection.unregister("incoming")


def _check(connection: duckdb.DuckDBPyConnection, name: str, run: str) -> None:
    """No double rows, and no row whose turn or capture is missing."""
    key = ", ".join(TABLE[name].key)
    double = connection.execute(
        f"select {key}, count(*) from {name} where run = ? group by {key}"
        " having count(*) > 1 limit 1",
        [run],
    ).fetchone()
    if double:
        where = ", ".join(f"{c} {v}" for c, v in zip(TABLE[name].key, double, strict=False))
        raise StoreError(f"table {name} holds {double[-1]} rows of one key ({where})")
    if name not in PARENTS:
        return
    parent, columns = PARENTS[name]
    names = ", ".join(columns)
    orphan = connection.execute(
        f"select {names} from (select distinct {names} from {name} where run = ?)"
        f" anti join (select {names} from {parent} where run = ?) using ({names})"
        " limit 1",
        [run, run],
    ).fetchone()
    if orphan:
        where = ", ".join(f"{c} {v}" for c, v in zip(columns, orphan, strict=True))
        raise StoreError(f"table {name} holds a row without its row in {parent} ({where})")


def _roll_back(connection: duckdb.DuckDBPyConnection) -> None:
    """Undo; a transaction that DuckDB has already ended, or a file that it has given up, needs
    nothing."""
    with suppress(duckdb.Error):
        connection.execute("rollback")
