"""The store: one DuckDB file that keeps every run.

with Store.open(Path("draftgate.duckdb")) as store:
    store.rows("select run, verdict from v_verdict")

with Store.open(path, write=True) as store:
    store.load(RunTables(runs=[{"run": "r1", ...}], ...))   # False: already there
"""

import difflib
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import duckdb
import pyarrow as pa

from reports.schema.records import RunTables
from reports.store.connection import connect
from reports.store.damage import damaged, reading
from reports.store.layout import (
    bring_up_to_date,
    has_these_views,
    holds_runs,
    make,
    make_file,
    refuse,
    state_of,
)
from reports.store.loading import load
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
        """The store at `path`; with `write` it is made where there is none, or none with a run.

        Waits up to `wait_s` seconds where another process holds the file. Raises `StoreError` for
        a missing, corrupt, foreign or locked file, and for one of another layout.
        """
        if _nothing_at(path) and write:
            with reading(path):
                make_file(path)
        elif path.exists() and _nothing_at(path):
            raise unknown_run(str(path), "last", (), ())
        connection = connect(path, read_only=not write, wait_s=wait_s)
        try:
            with reading(path):
                connection.execute(f"set memory_limit = '{MEMORY_LIMIT}'")
                if write:
                    bring_up_to_date(connection, path)
                elif (state := state_of(connection)) == "empty":
                    raise unknown_run(str(path), "last", (), ())
                else:
                    refuse(state, path)
        except duckdb.Error as error:
            connection.close()
            raise damaged(path, error) from error
        except BaseException:
            connection.close()
            raise
        return cls(connection, str(path))

    @classmethod
    def in_memory(cls) -> Self:
        """An empty store that lives as long as it is open."""
        connection = duckdb.connect()
        make(connection)
        return cls(connection, ":memory:")

    def load(self, tables: RunTables) -> bool:
        """Write one run, whole or not at all. False where the very same run is already there.

        Raises `StoreError` for rows that contradict each other, for another run of that name, and
        for a damaged file.
        """
        with reading(self.path):
            return load(self.connection, tables)

    def rows(self, sql: str, parameters: Parameters = ()) -> list[dict[str, Any]]:
        """Rows of one of our own queries as dictionaries; SQL of users goes to `reports.sql.sql`.

        Raises `StoreError` where another draftgate made the views and the query needs what they
        lack, and for a damaged file.
        """
        try:
            with reading(self.path):
                cursor = self.connection.execute(sql, parameters)
                names = [column[0] for column in cursor.description or ()]
                return [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]
        except duckdb.CatalogException as error:
            if has_these_views(self.connection):
                raise
            raise StoreError(
                f"{self.path}: another version of draftgate wrote it; its views lack what this one "
                "asks for",
                f"the next `draftgate gate --db {self.path}` brings them up to date, old runs too",
            ) from error

    def arrow(self, sql: str, parameters: Parameters = ()) -> pa.Table:
        """The same as an Arrow table."""
        with reading(self.path):
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


def holds_run(path: Path, run: str) -> bool:
    """Whether the store at `path` holds that run; no where there is no store, or none with a run.

    Raises `StoreError` as `Store.open` does.
    """
    if _nothing_at(path):
        return False
    with connect(path, read_only=True, wait_s=WAIT_S) as connection, reading(path):
        if not holds_runs(connection):
            return False
    with Store.open(path) as store:
        return run in store.run_ids()


def _nothing_at(path: Path) -> bool:
    """No file, or one of zero bytes."""
    return path.parent.is_dir() and (not path.exists() or path.stat().st_size == 0)


def unknown_run(path: str, run: str, known: Sequence[str], matches: Sequence[str]) -> StoreError:
    """The error for `run`, which names none or several of the `known` ids (newest first)."""
    if len(matches) > 1:
        return StoreError(
            f"{path}: {run!r} begins {len(matches)} run ids", f"one of {', '.join(matches[:5])}"
        )
    if not known:
        return StoreError(f"{path}: holds no runs", "run `draftgate gate` first")
    near = difflib.get_close_matches(run, known, 3, 0.4) or list(known[:3])
    return StoreError(f"{path}: there is no run {run!r}", f"did you mean {' or '.join(near)}?")
