"""Parquet: a run's rows as files, and many runs' files as one store again.

    export/tokens/run=20260526-aa11/data.parquet     one folder per table and run
    export/runs/run=20260526-aa11/data.parquet

Folders written by several workers can be copied together; views over them are the store's own.
"""

import os
import shutil
import tempfile
from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq

from reports.schema import ENUMS, TABLES, Table
from reports.schema.statements import quoted, type_statements
from reports.store.store import MEMORY_LIMIT, Store
from reports.store.view import view_statements
from traces.errors import StoreError
from traces.output import writing

EXPORTED = tuple(table for table in TABLES if table.name != "layout")


def export_run(store: Store, run: str, folder: Path) -> int:
    """Write all rows of a run below `folder`; returns their number. A run is there whole or not.

    Raises `StoreError` where the run is unknown or already exported there, OutputError where
    `folder` cannot be written.
    """
    run = store.resolve(run)
    marker = _part(folder, "runs", run)
    if marker.exists():
        raise StoreError(f"{folder}: run {run!r} is already there", "choose another folder")
    with writing(folder):
        return _export(store, run, folder)


def _export(store: Store, run: str, folder: Path) -> int:
    folder.mkdir(parents=True, exist_ok=True)
    total = 0
    with tempfile.TemporaryDirectory(dir=folder, prefix=".part-") as part:
        for table in EXPORTED:
            rows = store.arrow(f"select * exclude (run) from {table.name} where run = ?", [run])
            target = _part(Path(part), table.name, run)
            target.mkdir(parents=True)
            pq.write_table(_plain(rows), target / "data.parquet", compression="zstd")
            total += rows.num_rows
        for table in reversed(EXPORTED):
            target = _part(folder, table.name, run)
            target.parent.mkdir(exist_ok=True)
            shutil.rmtree(target, ignore_errors=True)
            os.replace(_part(Path(part), table.name, run), target)
    return total


def open_parquet(folder: Path) -> Store:
    """A store over exported folders, sealed for SQL of users: same tables, views and answers.

    Raises `StoreError` where `folder` holds no export.
    """
    if not (folder / "runs").is_dir():
        raise StoreError(
            f"{folder}: holds no exported runs", "`draftgate report RUN --parquet DIR`"
        )
    connection = duckdb.connect()
    try:
        tables = (f"create view {table.name} as {_select(folder, table)}" for table in TABLES)
        for statement in (*type_statements(), *tables, *view_statements()):
            connection.execute(statement)
        for setting in (
            f"memory_limit = '{MEMORY_LIMIT}'",
            f"allowed_directories = [{quoted(str(folder.resolve()))}]",
            "enable_external_access = false",
            "autoload_known_extensions = false",
            "autoinstall_known_extensions = false",
            "lock_configuration = true",
        ):
            connection.execute(f"set {setting}")
    except duckdb.Error as error:
        connection.close()
        raise StoreError(f"{folder}: cannot be read as exported runs ({error})") from error
    return Store(connection, str(folder))


def _part(folder: Path, table: str, run: str) -> Path:
    return folder / table / f"run={run}"


def _plain(rows: pa.Table) -> pa.Table:
    """Without dictionaries, so that every file of a table has one schema."""
    fields = [
        field.with_type(pa.string()) if pa.types.is_dictionary(field.type) else field
        for field in rows.schema
    ]
    return rows.cast(pa.schema(fields))


def _select(folder: Path, table: Table) -> str:
    """SELECT with the declared columns and types over the files of a table."""
    columns = ", ".join(
        f"cast({c.name} as {c.type}) as {c.name}" if c.type in ENUMS or c.type == "JSON" else c.name
        for c in table.columns
    )
    if not (folder / table.name).is_dir():
        nothing = ", ".join(f"null::{c.type} as {c.name}" for c in table.columns)
        return f"select {nothing} where false"
    files = quoted(str(folder.resolve() / table.name / "*" / "*.parquet"))
    return (
        f"select {columns} from read_parquet({files}, hive_partitioning = true,"
        " hive_types = {'run': varchar}, union_by_name = true)"
    )
