"""Writing runs into the store, and opening it."""

import os
import random
import subprocess
import sys
import textwrap
from collections.abc import Callable
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import duckdb
import pytest

from reports.schema import ENUMS, KEPT, KEPT_TABLES, TABLES
from reports.schema.records import RunTables
from reports.store.layout import make_file
from reports.store.store import Store, holds_run
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
            if table.name != "layout":
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


def _renamed(run: RunTables, changed: dict[str, Any]) -> dict[str, Any]:
    """Every table's rows as those of run-b."""
    names = [field.name for field in fields(RunTables)]
    return {
        name: [{**row, "run": "run-b"} for row in changed.get(name, getattr(run, name))]
        for name in names
    }


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


def of_another_layout(file: Path) -> None:
    """As if another version of draftgate had made the file, with a column that is no more."""
    with duckdb.connect(str(file)) as connection:
        connection.execute("alter table runs add column gone integer")
        connection.execute("update layout set tables = 'another'")


def test_a_file_of_another_layout_with_runs_is_refused_and_left_alone(file: Path) -> None:
    written(file, synthetic_run())
    of_another_layout(file)
    before = file.read_bytes()
    for write in (False, True):
        with pytest.raises(StoreError, match="another version of draftgate") as caught:
            Store.open(file, write=write)
        assert "--resume RUN" in caught.value.fix
    assert file.read_bytes() == before


def test_a_file_of_another_layout_without_runs_is_made_again(file: Path) -> None:
    written(file)
    of_another_layout(file)
    written(file, synthetic_run())
    with Store.open(file) as store:
        assert store.run_ids() == ["run-a"]
        assert "gone" not in store.rows("from runs")[0]


def test_a_file_from_before_there_was_one_layout_is_named(file: Path) -> None:
    """Migrations once made it: there is a `schema_version`, and tables that refer to each other."""
    with duckdb.connect(str(file)) as connection:
        connection.execute("create type verdict_name as enum ('pass', 'fail')")
        connection.execute("create table runs (run varchar primary key, verdict verdict_name)")
        connection.execute("create table captures (run varchar references runs (run))")
        connection.execute("create table schema_version (version integer)")
        connection.execute("create macro of_old(x) as x")
        connection.execute("create view v_verdict as from runs")
    written(file)
    with duckdb.connect(str(file)) as connection:
        assert connection.execute("select count(*) from layout").fetchall() == [(1,)]
        gone = "select 1 from duckdb_functions() where function_name = 'of_old'"
        assert connection.execute(gone).fetchall() == []
    file.unlink()
    with duckdb.connect(str(file)) as connection:
        for table in ("runs", "captures", "schema_version"):
            connection.execute(f"create table {table} as select 1 as run")
    with pytest.raises(StoreError, match="another version of draftgate"):
        Store.open(file, write=True)


def test_views_of_an_earlier_program_are_made_anew_on_write(file: Path) -> None:
    written(file, synthetic_run())
    with duckdb.connect(str(file)) as connection:
        connection.execute("drop view v_verdict; update layout set views = 'older'")
    with Store.open(file) as store:
        with pytest.raises(StoreError, match="another version of draftgate wrote it") as caught:
            store.rows("from v_verdict")
        assert f"draftgate gate --db {file}" in caught.value.fix
    Store.open(file, write=True).close()
    with Store.open(file) as store:
        assert [row["run"] for row in store.rows("from v_verdict")] == ["run-a"]


def zero_bytes(file: Path) -> None:
    file.touch()


def no_tables(file: Path) -> None:
    """What a kill left while the schema was made inside the file itself."""
    duckdb.connect(str(file)).close()


@pytest.mark.parametrize("left_behind", [zero_bytes, no_tables])
def test_a_store_that_holds_no_run_is_made_again(
    file: Path, left_behind: Callable[[Path], None]
) -> None:
    left_behind(file)
    assert not holds_run(file, "run-a")
    with pytest.raises(StoreError, match="holds no runs"):
        Store.open(file)
    written(file, synthetic_run())
    assert holds_run(file, "run-a")
    assert sorted(os.listdir(file.parent)) == [file.name]


DIES_MAKING_IT = """
    import os, signal
    from pathlib import Path
    import reports.store.layout as layout

    def dies(*_):
        os.kill(os.getpid(), signal.SIGKILL)

    def dies_within(name, place):
        statements = getattr(layout, name)
        def some():
            for number, statement in enumerate(statements()):
                if number == place:
                    dies()
                yield statement
        setattr(layout, name, some)

    {fault}
    from reports.store.store import Store
    Store.open(Path({file!r}), write=True)
"""

POINTS = {
    "before the first type": "dies_within('table_statements', 0)",
    "between two tables": "dies_within('table_statements', 20)",
    "between two views": "dies_within('view_statements', 40)",
    "before the commit": "layout.digest = dies",
    "before it is put in its place": "os.link = dies",
    "before the other name is removed": "os.link = lambda *_: (os.rename(*_), dies())",
}
"""Where a kill may hit the making of a store."""


@pytest.mark.parametrize("point", POINTS)
def test_a_kill_while_the_store_is_made_leaves_none_or_a_whole_one(
    file: Path, root: Path, point: str
) -> None:
    code = textwrap.dedent(DIES_MAKING_IT).format(fault=POINTS[point], file=str(file))
    done = subprocess.run([sys.executable, "-c", code], cwd=root, check=False)
    assert done.returncode == -9
    assert file.exists() == (point == "before the other name is removed")
    assert not holds_run(file, "run-a")
    written(file, synthetic_run())
    assert holds_run(file, "run-a")


def test_a_disk_that_fills_while_the_store_is_made_is_named_and_leaves_nothing(
    file: Path, root: Path
) -> None:
    """No file of this process may grow beyond 64 KiB: a store alone is larger."""
    code = f"""
        import resource
        from pathlib import Path
        from reports.store.store import Store
        from traces.errors import StoreError
        resource.setrlimit(resource.RLIMIT_FSIZE, (65536, 65536))
        try:
            Store.open(Path({str(file)!r}), write=True)
        except StoreError as error:
            print(error, "|", error.fix)
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)],
        cwd=root,
        check=True,
        capture_output=True,
        text=True,
    )
    assert "cannot be made" in done.stdout
    assert "free space" in done.stdout
    assert os.listdir(file.parent) == []
    written(file, synthetic_run())


def test_two_processes_that_make_one_store_make_one(file: Path) -> None:
    make_file(file)
    written(file, synthetic_run())
    make_file(file)
    with Store.open(file) as store:
        assert store.run_ids() == ["run-a"]


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
                t.name in KEPT or not c.required,
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
