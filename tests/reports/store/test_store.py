"""Writing runs into the store, and opening it."""

import os
import random
import subprocess
import sys
import textwrap
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import duckdb
import pytest

from reports.schema import ENUMS, KEPT, KEPT_TABLES, TABLE, TABLES
from reports.schema.records import RunTables, arrow_table
from reports.store.migration import migrate, migrations
from reports.store.store import Store
from tests.support.synthetic_run import synthetic_run
from traces.errors import StoreError


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "draftgate.duckdb"


def written(file: Path, *runs: RunTables) -> Path:
    with Store.open(file, write=True) as store:
        for run in runs:
            assert store.load(run)
    return file


def test_a_run_comes_back_as_it_was_given(file: Path) -> None:
    run = synthetic_run()
    written(file, run)
    with Store.open(file) as store:
        for table in TABLES:
            if not table.derived:
                found = store.rows(f"select count(*) as n from {table.name}")[0]["n"]
                assert found == len(getattr(run, table.name)), table.name
        (row,) = store.rows("select * from sessions where session = 'session-01'")
        assert row["tags"] == {"team": "blue"}
        (row,) = store.rows("select * from v_verdict")
        assert (row["verdict"], row["turns"], row["sessions"]) == ("pass", 24, 6)
        assert row["judged_tokens"] == 24 * 60


def test_times_are_utc(file: Path) -> None:
    written(file, synthetic_run())
    with Store.open(file) as store:
        (row,) = store.rows("select started_at::varchar as t from runs")
        assert row["t"] == "2026-05-26 09:30:00"


def test_loading_the_same_run_again_changes_nothing(file: Path) -> None:
    written(file, synthetic_run())
    with Store.open(file, write=True) as store:
        before = store.rows("from loads")
        assert store.load(synthetic_run()) is False
        assert store.rows("from loads") == before
        assert store.rows("select count(*) as n from runs") == [{"n": 1}]


def test_another_run_of_the_same_name_is_refused(file: Path) -> None:
    written(file, synthetic_run())
    with (
        Store.open(file, write=True) as store,
        pytest.raises(StoreError, match="already in the store, with other content"),
    ):
        store.load(synthetic_run(seed=2))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"captures": ()}, "without its row in captures"),
        ({"turns": ()}, "without its row in turns"),
        ({"runs": [{"run": "x"}]}, "have no value"),
        ({"paths": [{"run": "run-a", "path": "left"}]}, "'left' is not one of"),
        ({"paths": [{"run": "run-a", "path": "baseline", "modle": "m"}]}, "no column 'modle'"),
        ({"paths": [{"run": "other", "path": "baseline"}]}, "rows of another run: 'other'"),
        ({"runs": ()}, "exactly one run"),
    ],
)
def test_rows_that_contradict_each_other_leave_nothing_behind(
    file: Path, change: dict[str, object], message: str
) -> None:
    with Store.open(file, write=True) as store:
        with pytest.raises(StoreError, match=message):
            store.load(replace(synthetic_run(), **change))  # type: ignore[arg-type]
        for table in TABLES:
            if table.name != "schema_version":
                assert store.rows(f"select count(*) as n from {table.name}") == [{"n": 0}]
        assert store.load(synthetic_run())


@pytest.mark.parametrize("name", ["tokens", "steps", "draft_positions", "tool_calls", "pairs"])
def test_double_rows_are_refused(file: Path, name: str) -> None:
    run = synthetic_run()
    rows = getattr(run, name)
    doubled = replace(run, **{name: [rows[5], *rows]})
    with (
        Store.open(file, write=True) as store,
        pytest.raises(StoreError, match=f"table {name} holds 2 rows of one key") as caught,
    ):
        store.load(doubled)
    assert f"session {rows[5]['session']}" in str(caught.value)


def test_rows_may_come_in_any_order(file: Path) -> None:
    """Captures need not be together; the answers are the same."""
    run = synthetic_run()
    shuffled = {
        name: random.Random(1).sample(getattr(run, name), len(getattr(run, name)))
        for name in ("captures", *KEPT)
    }
    written(file, run, replace(synthetic_run(), **shuffled | _renamed(run, shuffled)))
    with Store.open(file) as store:
        for name in KEPT:
            rows = f"select * exclude (run) from {name} where run = ? order by all"
            assert store.rows(rows, ["run-a"]) == store.rows(rows, ["run-b"])
        sums = "select * exclude (run) from position_sums where run = ? order by all"
        assert store.rows(sums, ["run-a"]) == store.rows(sums, ["run-b"])


def _renamed(run: RunTables, changed: dict[str, Any]) -> dict[str, Any]:
    """Every table's rows as those of run-b."""
    names = [field.name for field in fields(RunTables)]
    return {
        name: [{**row, "run": "run-b"} for row in changed.get(name, getattr(run, name))]
        for name in names
    }


def test_a_file_from_before_captures_had_numbers_keeps_its_rows(file: Path, tmp_path: Path) -> None:
    """Layout 5 held rows of captures in tables of all columns, as the views do now."""
    folder = tmp_path / "migrations"
    folder.mkdir()
    for number, sql in migrations():
        if number < 6:
            (folder / f"{number:04}_x.sql").write_text(sql)
    connection = duckdb.connect(str(file))
    for _, sql in migrations(folder):
        connection.execute(sql)
    connection.execute("insert into schema_version (version, applied_at) values (5, now())")
    arrow = synthetic_run().arrow()
    for name, table in arrow.items():
        connection.register("incoming", table)
        connection.execute(f"insert into {name} by name select * from incoming")
        connection.unregister("incoming")
    connection.close()
    with Store.open(file, write=True) as store:
        assert store.load(synthetic_run("run-c", seed=2, day=1))
    with Store.open(file) as store:
        for name in KEPT:
            rows = store.arrow(f"from {name} where run = 'run-a'").to_pylist()
            assert rows == arrow_table(TABLE[name], getattr(synthetic_run(), name)).to_pylist()


def test_a_killed_writer_leaves_the_earlier_runs_whole(file: Path, root: Path) -> None:
    """The writer dies by SIGKILL after all rows were inserted and before the commit."""
    written(file, synthetic_run("first"))
    code = f"""
        import os, signal, sys
        from pathlib import Path
        from tests.support.synthetic_run import synthetic_run
        import reports.store.loading as loading
        from reports.store.store import Store
        real = loading._check
        def die(connection, name, run):
            if name == "controls":
                os.kill(os.getpid(), signal.SIGKILL)
            real(connection, name, run)
        loading._check = die
        Store.open(Path({str(file)!r}), write=True).load(synthetic_run("second"))
    """
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(code)], cwd=root, check=False)
    assert done.returncode == -9
    with Store.open(file) as store:
        assert store.run_ids() == ["first"]
        assert store.rows("select distinct run from tokens") == [{"run": "first"}]
    written(file, synthetic_run("second"))


def test_a_second_process_waits_and_then_says_who_holds_the_file(file: Path, root: Path) -> None:
    written(file, synthetic_run())
    code = (
        "import sys, pathlib; from reports.store.store import Store\n"
        f"s = Store.open(pathlib.Path({str(file)!r}), write=True)\n"
        "print('open', flush=True); sys.stdin.readline(); s.close()\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code],
        cwd=root,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as other:
        assert other.stdin is not None
        assert other.stdout is not None
        assert other.stdout.readline() == "open\n"
        with pytest.raises(StoreError, match=f"another program has it open.*{other.pid}"):
            Store.open(file, wait_s=0.3)
        other.stdin.write("\n")
        other.stdin.flush()
        with Store.open(file, wait_s=20) as store:
            assert store.run_ids() == ["run-a"]


def test_two_processes_may_write_at_the_same_time(file: Path, root: Path) -> None:
    """They take turns: every run is there, whole, and the file is sound."""
    code = f"""
        import sys
        from pathlib import Path
        from tests.support.synthetic_run import synthetic_run
        from reports.store.store import Store
        sys.stdin.readline()
        for number in range(3):
            with Store.open(Path({str(file)!r}), write=True, wait_s=120) as store:
                assert store.load(synthetic_run(f"{{sys.argv[1]}}-{{number}}", turns=2))
    """
    writers = [
        subprocess.Popen(
            [sys.executable, "-c", textwrap.dedent(code), name],
            cwd=root,
            stdin=subprocess.PIPE,
            text=True,
        )
        for name in ("left", "right")
    ]
    for writer in writers:
        assert writer.stdin is not None
        writer.stdin.write("\n")
        writer.stdin.flush()
    for writer in writers:
        writer.communicate(timeout=240)
    assert [writer.returncode for writer in writers] == [0, 0]
    with Store.open(file) as store:
        assert sorted(store.run_ids()) == [f"{n}-{i}" for n in ("left", "right") for i in range(3)]
        rows = store.rows("select run, count(*) as n from tokens group by run")
        assert {row["n"] for row in rows} == {6 * 2 * 3 * 60}
        assert len(rows) == len(store.rows("from loads")) == 6


def test_reading_does_not_write(file: Path) -> None:
    written(file, synthetic_run())
    os.chmod(file, 0o444)
    before = (file.read_bytes(), sorted(os.listdir(file.parent)))
    with Store.open(file) as store:
        store.rows("from v_acceptance_by_boundary")
        with pytest.raises(duckdb.Error):
            store.rows("delete from runs")
    assert (file.read_bytes(), sorted(os.listdir(file.parent))) == before


def test_a_file_of_an_older_layout_reads_unwritten_and_is_brought_up_to_date_on_write(
    file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    written(file, synthetic_run())
    folder = tmp_path / "migrations"
    folder.mkdir()
    for number, sql in migrations():
        (folder / f"{number:04}_x.sql").write_text(sql)
    next_version = migrations()[-1][0] + 1
    (folder / f"{next_version:04}_more.sql").write_text("create table more (x integer);")
    before = file.read_bytes()
    with Store.open(file) as store:
        assert store.run_ids() == ["run-a"]
    assert file.read_bytes() == before
    connection = duckdb.connect(str(file))
    migrate(connection, file, folder)
    assert connection.execute("select version from schema_version order by 1").fetchall() == [
        (n,) for n in range(1, next_version + 1)
    ]
    assert connection.execute("from more").fetchall() == []
    connection.close()
    with pytest.raises(StoreError, match="written by a newer draftgate") as caught:
        Store.open(file)
    assert "pip install -U" in caught.value.fix
    with pytest.raises(StoreError, match="written by a newer draftgate"):
        Store.open(file, write=True)


def test_views_of_an_earlier_program_are_made_anew_on_write(file: Path) -> None:
    written(file, synthetic_run())
    connection = duckdb.connect(str(file))
    connection.execute("drop view v_verdict; update schema_version set views = 'older'")
    connection.close()
    with Store.open(file) as store:
        with pytest.raises(StoreError, match="an older draftgate wrote it") as caught:
            store.rows("from v_verdict")
        assert f"draftgate gate --db {file}" in caught.value.fix
    Store.open(file, write=True).close()
    with Store.open(file) as store:
        assert [row["run"] for row in store.rows("from v_verdict")] == ["run-a"]


def test_a_failing_migration_changes_nothing(file: Path, tmp_path: Path) -> None:
    written(file, synthetic_run())
    folder = tmp_path / "migrations"
    folder.mkdir()
    for number, sql in migrations():
        (folder / f"{number:04}_x.sql").write_text(sql)
    (folder / "0099_bad.sql").write_text("create table more (x integer); select nonsense;")
    connection = duckdb.connect(str(file))
    with pytest.raises(StoreError, match="cannot be brought to layout 99"):
        migrate(connection, file, folder)
    assert connection.execute("select max(version) from schema_version").fetchone() == (
        migrations()[-1][0],
    )
    assert not connection.execute(
        "select 1 from duckdb_tables() where table_name = 'more'"
    ).fetchall()
    connection.close()


def test_files_that_are_no_store_are_named(file: Path, tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="there is no store"):
        Store.open(file)
    file.write_bytes(b"no database at all, but long enough to look at" * 500)
    with pytest.raises(StoreError, match="is not a DuckDB file"):
        Store.open(file)
    with pytest.raises(StoreError, match="is a folder"):
        Store.open(tmp_path)
    with pytest.raises(StoreError, match="no such folder"):
        Store.open(tmp_path / "missing" / "x.duckdb", write=True)
    foreign = tmp_path / "foreign.duckdb"
    duckdb.connect(str(foreign)).execute("create table mine (x integer)").close()
    with pytest.raises(StoreError, match="not a draftgate store"):
        Store.open(foreign, write=True)
    assert duckdb.connect(str(foreign)).execute("show tables").fetchall() == [("mine",)]


def test_a_damaged_file_is_named(file: Path) -> None:
    written(file, synthetic_run())
    data = bytearray(file.read_bytes())
    for i in range(4096, len(data), 7):
        data[i] ^= 0xFF
    file.write_bytes(bytes(data))
    with pytest.raises(StoreError, match="damaged") as caught:
        Store.open(file)
    assert "restore" in caught.value.fix


def test_a_run_id_may_be_shortened_and_a_wrong_one_brings_near_ones(file: Path) -> None:
    written(file, synthetic_run("20260526-aa11"), synthetic_run("20260527-bb22", day=1))
    with Store.open(file) as store:
        assert store.resolve("20260526") == "20260526-aa11"
        assert store.resolve("last") == "20260527-bb22"
        with pytest.raises(StoreError, match="begins 2 run ids"):
            store.resolve("2026052")
        with pytest.raises(StoreError, match="no run '20260527-bb23'") as caught:
            store.resolve("20260527-bb23")
        assert "20260527-bb22" in caught.value.fix


def test_the_file_is_what_the_declarations_say(file: Path) -> None:
    written(file)
    with Store.open(file) as store:
        columns = store.rows(
            "select table_name, column_name, data_type, is_nullable, comment from duckdb_columns()"
            " where not internal and table_name not like 'v\\_%' escape '\\'"
            " order by table_name, column_index"
        )
        declared = {
            (
                t.name,
                c.name,
                t.name in KEPT or (not c.required and c.name not in _key_of(store, t.name)),
                c.text,
            )
            for t in (*TABLES, *KEPT_TABLES)
            for c in t.columns
        }
        assert {
            (c["table_name"], c["column_name"], c["is_nullable"], c["comment"]) for c in columns
        } == declared
        types = {(c["table_name"], c["column_name"]): c["data_type"] for c in columns}
        for table in TABLES:
            for column in table.columns:
                found = types[table.name, column.name]
                if column.type in ENUMS:
                    values = ", ".join(f"'{v}'" for v in ENUMS[column.type])
                    assert found == f"ENUM({values})"
                else:
                    assert found == column.type


def _key_of(store: Store, table: str) -> set[str]:
    found = store.rows(
        "select constraint_column_names as names from duckdb_constraints()"
        " where table_name = ? and constraint_type = 'PRIMARY KEY'",
        [table],
    )
    return set(found[0]["names"]) if found else set()
