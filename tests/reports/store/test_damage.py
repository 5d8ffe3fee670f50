"""A store that fails in the middle of a question, and Ctrl-C during one."""

from pathlib import Path

import duckdb
import pytest

from reports.sql.sql import ask, open_sealed
from reports.store.damage import reading
from reports.store.store import Store, holds_run
from tests.support.synthetic_run import synthetic_run
from traces.errors import MachineError, StoreError


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "store.duckdb"
    with Store.open(path, write=True) as store:
        store.load(synthetic_run("r1", tokens=50))
    return path


class Interrupted:
    """A connection during whose questions somebody presses Ctrl-C: what DuckDB makes of it."""

    def execute(self, *_: object) -> None:
        raise RuntimeError("Query interrupted")

    def sql(self, *_: object, **__: object) -> None:
        raise duckdb.InterruptException("INTERRUPT Error: Interrupted!")


def test_ctrl_c_during_a_question_is_a_keyboard_interrupt() -> None:
    store = Store(Interrupted(), "store.duckdb")  # type: ignore[arg-type]
    for way in (store.rows, store.arrow, lambda sql: ask(store, sql)):
        with pytest.raises(KeyboardInterrupt):
            way("select 1")


def test_a_block_that_is_missing_is_named_by_every_way_to_read(file: Path) -> None:
    whole = file.read_bytes()
    said: dict[str, list[StoreError]] = {name: [] for name in WAYS}
    for eighth in range(2, 8):
        file.write_bytes(whole[: len(whole) * eighth // 8])
        for name, way in WAYS.items():
            try:
                way(file)
            except StoreError as error:
                said[name].append(error)
    for name, errors in said.items():
        assert errors, name
        assert all(str(file) in str(error) for error in errors)
        assert all("restore it from a copy" in error.fix for error in errors)


def _rows(file: Path) -> None:
    with Store.open(file) as store:
        for table in ("tokens", "captures", "steps", "runs"):
            store.rows(f"from {table}")


def _arrow(file: Path) -> None:
    with Store.open(file) as store:
        for table in ("tokens", "captures", "steps", "runs"):
            store.arrow(f"from {table}")


def _sql(file: Path) -> None:
    with open_sealed(file) as store:
        for table in ("tokens", "captures", "steps", "runs"):
            ask(store, f"from {table}")


WAYS = {"rows": _rows, "arrow": _arrow, "sql": _sql, "holds": lambda file: holds_run(file, "r1")}


def test_other_errors_pass_and_shortages_are_kept_apart(file: Path) -> None:
    with pytest.raises(duckdb.BinderException), Store.open(file) as store:
        store.rows("select nothing from runs")
    with pytest.raises(MachineError, match="no more memory"), reading(file):
        raise duckdb.OutOfMemoryException("Out of Memory Error: failed to allocate")
    with pytest.raises(RuntimeError, match="another"), reading(file):
        raise RuntimeError("another")
    full = "IO Error: Could not write all bytes: No space left on device"
    with pytest.raises(StoreError) as caught, reading(file):
        raise duckdb.IOException(full)
    assert "free some space" in caught.value.fix


def test_ctrl_c_while_a_run_is_stored_is_one_too(tmp_path: Path) -> None:
    class Pressed:
        """Everything works until the rows of a table go in; then the transaction takes no more."""

        def __init__(self, connection: duckdb.DuckDBPyConnection) -> None:
            self.real = connection

        def execute(self, sql: str, *given: object) -> object:
            if sql.startswith("insert into"):
                raise RuntimeError("Query interrupted")
            return self.real.execute(sql, *given)

        def register(self, *_: object) -> None:
            """Nothing is handed over."""

        def unregister(self, *_: object) -> None:
            raise duckdb.TransactionException("Current transaction is aborted")

    file = tmp_path / "store.duckdb"
    with Store.open(file, write=True) as store:
        own = Store(Pressed(store.connection), str(file))  # type: ignore[arg-type]
        with pytest.raises(KeyboardInterrupt):
            own.load(synthetic_run("r1", tokens=50))
        assert store.load(synthetic_run("r1", tokens=50)), "nothing of it was stored"
