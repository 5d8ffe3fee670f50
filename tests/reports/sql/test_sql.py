"""SQL of users: it can read the store and nothing else."""

import io
import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from rich.console import Console

from reports.sql.answer import as_csv, as_object, as_table
from reports.sql.query import answer, queries
from reports.sql.sql import ask, open_sealed
from reports.store.parquet import export_run, open_parquet
from reports.store.store import Store
from reports.store.view import views
from traces.errors import StoreError


@pytest.fixture(scope="module", params=["file", "parquet"])
def sealed(
    request: pytest.FixtureRequest, db: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Store]:
    """A store of its own: DuckDB opens a file either sealed or not, in one process."""
    place = tmp_path_factory.mktemp("sealed")
    if request.param == "file":
        place = Path(shutil.copy(db, place))
    else:
        with Store.open(db) as store:
            for run in store.run_ids():
                export_run(store, run, place)
    with open_sealed(place) as store:
        yield store


@pytest.mark.parametrize(
    ("sql", "message"),
    [
        ("delete from runs", "DELETE is not allowed"),
        ("insert into runs select * from runs", "INSERT is not allowed"),
        ("create table x as select 1", "CREATE is not allowed"),
        ("create temp view x as select 1", "CREATE is not allowed"),
        ("drop view v_verdict", "DROP is not allowed"),
        ("copy runs to '/tmp/draftgate-escape.csv'", "COPY is not allowed"),
        ("attach '/tmp/draftgate-escape.duckdb'", "ATTACH is not allowed"),
        ("install httpfs", "LOAD is not allowed"),
        ("set threads = 1", "SET is not allowed"),
        ("pragma enable_profiling", "PRAGMA is not allowed"),
        ("export database '/tmp/draftgate-escape'", "EXPORT is not allowed"),
        ("call pragma_version()", "CALL is not allowed"),
        ("explain analyze delete from runs", "."),
        ("from read_csv('/etc/passwd')", "Permission"),
        ("from read_text('/etc/hostname')", "Permission"),
        ("from glob('/etc/*')", "Permission"),
        ("from '/etc/passwd'", "does not exist"),
        ("select 1; select 2", "2 statements"),
        ("", "0 statements"),
        ("selekt", "syntax error"),
        ("select nonsense from runs", "nonsense"),
        ("from nonsense", "nonsense"),
    ],
)
def test_it_refuses_everything_but_reading_the_store(sealed: Store, sql: str, message: str) -> None:
    with pytest.raises(StoreError, match=message) as caught:
        ask(sealed, sql)
    assert caught.value.fix
    assert ask(sealed, "select count(*) as n from runs").rows.to_pylist() == [{"n": 3}]


def test_names_of_python_are_not_tables(sealed: Store) -> None:
    secret = __import__("pyarrow").table({"a": [1]})
    with pytest.raises(StoreError, match="secret"):
        ask(sealed, "from secret")
    assert secret.num_rows == 1


@pytest.mark.parametrize(
    "sql", ["show tables", "describe runs", "explain from runs", "summarize runs"]
)
def test_looking_around_is_reading(sealed: Store, sql: str) -> None:
    assert ask(sealed, sql).rows.num_rows > 0


def test_a_reached_limit_is_said(sealed: Store) -> None:
    cut = ask(sealed, "from tokens", limit=7)
    assert (cut.rows.num_rows, cut.limit) == (7, 7)
    assert cut.notice == "only the first 7 rows are shown; --limit 0 shows all"
    assert as_object(cut)["truncated"] is True
    whole = ask(sealed, "from runs", limit=3)
    assert (whole.rows.num_rows, whole.notice) == (3, None)
    assert ask(sealed, "from tokens", limit=0).rows.num_rows == 3 * 24 * 300 * 3


def test_spilling_works_while_sealed(db: Path) -> None:
    with open_sealed(db) as store:
        sql = "select count(distinct t) as n from (select i || 'x' as t from range(300000) r(i))"
        assert ask(store, sql).rows.to_pylist() == [{"n": 300_000}]


def test_every_named_query_answers_and_documents_its_columns(sealed: Store) -> None:
    assert len(queries()) >= 20
    for name, query in queries().items():
        assert query.comment.endswith((".", "?", ")")), name
        assert query.none, f"{name}.sql does not say what it means that there are no rows"
        found = answer(sealed, name, "bad")
        assert list(query.columns) == found.rows.column_names, name
        again = answer(sealed, name, "bad")
        assert close(found.rows.to_pylist(), again.rows.to_pylist()), name


def test_a_query_answers_about_the_run_it_is_asked_for(sealed: Store) -> None:
    lengths = {
        run: answer(sealed, "acceptance_by_template", run).rows.to_pylist()[0]["acceptance_length"]
        for run in ("good", "bad")
    }
    assert lengths["bad"] < lengths["good"]
    with pytest.raises(StoreError, match="no run 'god'") as caught:
        answer(sealed, "worst_boundaries", "god")
    assert "good" in caught.value.fix
    with pytest.raises(StoreError, match="no query 'worst'") as caught:
        answer(sealed, "worst")
    assert "worst_boundaries" in caught.value.fix


def close(left: object, right: object) -> bool:
    """Equal, with room for the order in which floating-point sums are taken."""
    if isinstance(left, float) and isinstance(right, float):
        return left == pytest.approx(right, rel=1e-9)
    if isinstance(left, dict) and isinstance(right, dict):
        return left.keys() == right.keys() and all(close(left[k], right[k]) for k in left)
    if isinstance(left, list) and isinstance(right, list):
        return len(left) == len(right) and all(map(close, left, right))
    return left == right


def test_exported_parquet_gives_the_same_answers(db: Path, tmp_path: Path) -> None:
    with Store.open(db) as store:
        rows = sum(export_run(store, run, tmp_path) for run in ("good", "bad", "again"))
        assert rows == sum(r["rows"] for r in store.rows("from loads")) + sum(
            store.rows(f"select count(*) as n from {t}")[0]["n"] for t in ("regressions", "loads")
        )
        with pytest.raises(StoreError, match="already there"):
            export_run(store, "good", tmp_path)
        with open_parquet(tmp_path) as copy:
            for view in views():
                sql = f"from {view.name}"
                assert close(copy.rows(sql), store.rows(sql)), view.name
            assert copy.rows("describe tokens") == [
                {**row, "null": "YES", "key": None} for row in store.rows("describe tokens")
            ]


def test_a_folder_without_an_export_is_named(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="holds no exported runs"):
        open_parquet(tmp_path)
    (tmp_path / "runs" / "run=x").mkdir(parents=True)
    (tmp_path / "runs" / "run=x" / "data.parquet").write_bytes(b"no parquet")
    with pytest.raises(StoreError, match="cannot be read as exported runs"):
        open_parquet(tmp_path)


def test_formats(sealed: Store) -> None:
    found = ask(
        sealed,
        "select 'a\x1b[2J,b' as text, null as nothing, 1.5 as x, ['p', 'q'] as l,"
        " map {'k': 'v'} as m, timestamp '2026-05-26 09:30:00' as t, sum(turns) as s, true as b"
        " from sessions",
    )
    (row,) = as_object(found)["rows"]
    assert row["s"] == 3 * 6 * 5
    assert (row["l"], row["m"], row["t"]) == (["p", "q"], {"k": "v"}, "2026-05-26T09:30:00.000Z")
    json.dumps(row)
    assert as_csv(found).splitlines()[0] == "text,nothing,x,l,m,t,s,b"
    assert '"[""p"", ""q""]"' in as_csv(found)
    out = io.StringIO()
    Console(width=200, file=out).print(as_table(found))
    shown = out.getvalue()
    assert "\x1b" not in shown
    assert "a\\x1b[2J,b" in shown
    assert "n/a" in shown
