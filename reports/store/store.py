"""The store: one DuckDB file that keeps every run.

with Store.open(Path("draftgate.duckdb")) as store:
    store.rows("select run, verdict from v_verdict")

with Store.open(path, write=True) as store:
    store.load(RunTables(runs=[{"run": "r1", ...}], ...))   # False: already there
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import duckdb
import pyarrow as pa

from reports.schema.records import RunTables
from reports.store.connection import connect
from reports.store.loading import load
from reports.store.migration import migrate, migrations, refuse_newer, version_of, views_of
from reports.store.run_name import unknown_run
from reports.store.view import views_digest
from traces.errors import StoreError

Parameters = Sequence[Any] | Mapping[str, Any]

WAIT_S = 30.0
MEMORY_LIMIT = "1500MB"


class Store:
    """An open store: for reading it never writes; for writing it has the file alone."""

    def __init__(self, connection: duckdb.DuckDBPyConnection, path: str) -> None:
        self.connection = connection
        self.path = path

    @classmethod
    def open(cls, path: Path, *, write: bool = False, wait_s: float = WAIT_S) -> Self:
        """The store at `path`; with `write` it is made where missing and brought up to date.

        Waits up to `wait_s` seconds where another process holds the file. Raises `StoreError` for
        a missing, corrupt, foreign, newer or locked file.
        """
        connection = connect(path, read_only=not write, wait_s=wait_s)
        try:
            connection.execute(f"set memory_limit = '{MEMORY_LIMIT}'")
            if write:
                migrate(connection, path)
            else:
                version = version_of(connection)
                refuse_newer(path, version, migrations()[-1][0])
                if version == 0:
                    raise StoreError(f"{path}: is empty", "run `draftgate gate` first")
        except duckdb.Error as error:
            connection.close()
            raise StoreError(
                f"{path}: cannot be read; the file may be damaged ({error})",
                "restore it from a copy, or load the journals again into a new file",
            ) from error
        except StoreError:
            connection.close()
            raise
        return cls(connection, str(path))

    @classmethod
    def in_memory(cls) -> Self:
        """An empty store that lives as long as it is open."""
        connection = duckdb.connect()
        migrate(connection, ":memory:")
        return cls(connection, ":memory:")

    def load(self, tables: RunTables) -> bool:
        """Write one run, whole or not at all. False where the very same run is already there.

        Raises `StoreError` for rows that contradict each other, and for another run of that name.
        """
        return load(self.connection, tables)

    def rows(self, sql: str, parameters: Parameters = ()) -> list[dict[str, Any]]:
        """Rows of one of our own queries as dictionaries; SQL of users goes to `reports.sql.sql`.

        Raises `StoreError` where an older draftgate wrote the file and the query needs what it
        lacks.
        """
        try:
            cursor = self.connection.execute(sql, parameters)
        except duckdb.CatalogException as error:
            if views_of(self.connection) == views_digest():
                raise
            raise StoreError(
                f"{self.path}: an older draftgate wrote it, and it lacks what this one asks for",
                f"the next `draftgate gate --db {self.path}` brings it up to date, old runs too",
            ) from error
        names = [column[0] for column in cursor.description or ()]
        return [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]

    def arrow(self, sql: str, parameters: Parameters = ()) -> pa.Table:
        """The same as an Arrow table."""
        with_parameters = self.connection.sql(sql, params=parameters)
        return with_parameters.to_arrow_table()

    def run_ids(self) -> list[str]:
        """Every run id, newest first."""
        return [
            r["run"] for r in self.rows("select run from runs order by started_at desc, run desc")
        ]

    def resolve(self, run: str) -> str:
        """The run id that `run` names: an id, a unique beginning of one, or ``last``.

        Raises `StoreError` with the nearest ids where there is none.
        """
        known = self.run_ids()
        if run == "last" and known:
            return known[0]
        matches = [r for r in known if r == run] or [r for r in known if r.startswith(run)]
        if len(matches) != 1:
            raise unknown_run(self.path, run, known, matches)
        return matches[0]

    def close(self) -> None:
        """Give the file back."""
        self.connection.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()
