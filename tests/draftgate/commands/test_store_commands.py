"""`sql`, `query`, `report` and `compare` as a user sees them: output and exit code."""

import io
import itertools
import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import duckdb
import pyarrow.parquet as pq
import pytest

from draftgate.cli import run
from reports.store.store import Store
from tests.support.synthetic_run import synthetic_run

Draftgate = Callable[..., tuple[int, str, str]]


@pytest.fixture(scope="module")
def db(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("store") / "draftgate.duckdb"
    with Store.open(file, write=True) as store:
        store.load(synthetic_run("good", tokens=200, sessions=12))
        store.load(
            synthetic_run("bad", seed=2, tokens=200, sessions=12, day=1, verdict="fail", accept=0.6)
        )
    return file


@pytest.fixture
def draftgate(db: Path, capsys: pytest.CaptureFixture[str]) -> Draftgate:
    """Runs a command line on the store; gives exit code, stdout and stderr."""

    def call(*arguments: str) -> tuple[int, str, str]:
        code = run([*arguments, "--db", str(db)])
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return call


def test_sql_prints_a_table(draftgate: Draftgate) -> None:
    code, out, err = draftgate("sql", "select run, verdict from v_verdict")
    assert (code, err) == (0, "")
    assert [line.split() for line in out.splitlines() if line.strip()][2:] == [
        ["bad", "fail"],
        ["good", "pass"],
    ]


def test_sql_reads_standard_input(draftgate: Draftgate, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO("select count(*) as n from runs"))
    assert draftgate("sql", "-", "--format", "csv") == (0, "n\n2\n", "")


def test_sql_says_where_rows_are_missing(draftgate: Draftgate) -> None:
    code, out, err = draftgate("sql", "select token_index from tokens", "--limit", "2", "--json")
    assert code == 0
    assert json.loads(out) == {
        "columns": ["token_index"],
        "rows": [{"token_index": 0}, {"token_index": 1}],
        "truncated": True,
    }
    assert err == "only the first 2 rows are shown; --limit 0 shows all\n"


def test_sql_writes_files(draftgate: Draftgate, tmp_path: Path) -> None:
    file = tmp_path / "runs.parquet"
    question = "select run from runs order by run"
    assert draftgate("sql", question, "--format", "parquet", "-o", str(file)) == (0, "", "")
    assert pq.read_table(file).to_pydict() == {"run": ["bad", "good"]}
    code, _, err = draftgate("sql", question, "--format", "parquet")
    assert (code, err) == (
        2,
        "error: --format parquet needs a file\nfix: add -o FILE.parquet\n",
    )


def test_sql_that_writes_is_an_error(draftgate: Draftgate) -> None:
    code, out, err = draftgate("sql", "delete from runs", "--json")
    assert code == 2
    assert json.loads(out)["error"].startswith("SQL: DELETE is not allowed")
    assert err.startswith(
        "error: SQL: DELETE is not allowed; the store is opened for reading\nfix: "
    )


def test_a_store_that_is_not_there(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["sql", "from runs", "--db", str(tmp_path / "none.duckdb")]) == 2
    err = capsys.readouterr().err
    assert "none.duckdb: there is no store" in err
    assert "draftgate gate" in err


def of_another_layout(file: Path) -> None:
    duckdb.connect(str(file)).execute("update layout set tables = 'another'").close()


def damaged(file: Path) -> None:
    data = bytearray(file.read_bytes())
    data[4096:] = bytes(byte ^ 0xFF for byte in data[4096:])
    file.write_bytes(bytes(data))


def cut_off(file: Path) -> None:
    file.write_bytes(file.read_bytes()[:5000])


@pytest.mark.parametrize("verb", [["sql", "from runs"], ["query", "verdicts"], ["report", "last"]])
@pytest.mark.parametrize(
    ("spoil", "message", "fix"),
    [
        (
            of_another_layout,
            "written by another version of draftgate",
            "draftgate gate --resume RUN",
        ),
        (damaged, "damaged", "restore it from a copy"),
        (cut_off, "damaged", "restore it from a copy"),
    ],
)
def test_a_store_that_cannot_be_read(
    db: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    spoil: Callable[[Path], None],
    message: str,
    fix: str,
    verb: list[str],
) -> None:
    file = tmp_path / "store.duckdb"
    file.write_bytes(db.read_bytes())
    spoil(file)
    assert run([*verb, "--db", str(file)]) == 2
    err = capsys.readouterr().err
    assert str(file) in err
    assert message in err
    assert fix in err


def test_a_store_that_is_being_written_is_waited_for(
    db: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Waiting is cut short here; who holds the file is named."""
    file = tmp_path / "store.duckdb"
    file.write_bytes(db.read_bytes())
    code = (
        "import duckdb, sys; c = duckdb.connect(sys.argv[1]); print(flush=True); input(); c.close()"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code, str(file)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as other:
        assert other.stdout is not None
        other.stdout.readline()
        ticks = itertools.count(step=20)
        monkeypatch.setattr("reports.store.connection.time.monotonic", lambda: float(next(ticks)))
        assert run(["query", "verdicts", "--db", str(file)]) == 2
        err = capsys.readouterr().err
        assert "another program has it open" in err
        assert str(other.pid) in err
        assert "run the command again" in err
        other.communicate("\n")


@pytest.mark.parametrize(
    "command",
    [
        ["report", "goood"],
        ["query", "diverged", "--run", "goood"],
        ["compare", "goood", "bad"],
        ["advise", "goood"],
    ],
)
def test_a_run_that_is_not_there_brings_near_ones(draftgate: Draftgate, command: list[str]) -> None:
    code, out, err = draftgate(*command)
    assert (code, out) == (2, "")
    assert "there is no run 'goood'" in err
    assert "did you mean good?" in err


def test_a_question_about_all_runs_takes_none(draftgate: Draftgate) -> None:
    code, out, err = draftgate("query", "codes", "--run", "good")
    assert (code, out) == (2, "")
    assert "query codes is not about one run" in err
    assert "leave out --run" in err


def test_query_lists_and_answers(draftgate: Draftgate) -> None:
    code, out, _ = draftgate("query", "--list")
    assert code == 0
    assert "worst_boundaries        Where in an agent's output does this drafter die?" in out
    code, out, _ = draftgate("query", "worst_boundaries", "--run", "good", "--json")
    rows = json.loads(out)["rows"]
    assert code == 0
    assert rows[-1]["boundary"] == "tool.markup"
    assert rows == sorted(rows, key=lambda row: row["acceptance_length"])
    code, out, _ = draftgate("query", "skipped", "--sql")
    assert code == 0
    assert out.startswith("select ")
    assert "from turns" in out


def test_query_names_near_ones(draftgate: Draftgate) -> None:
    code, _, err = draftgate("query", "worst")
    assert code == 2
    assert err.startswith("error: there is no query 'worst'\nfix: did you mean worst_")
    code, _, err = draftgate("query", "skipped", "--run", "bat")
    assert code == 2
    assert "there is no run 'bat'\nfix: did you mean bad" in err


def test_report_shows_the_summary(draftgate: Draftgate) -> None:
    code, out, _ = draftgate("report", "good")
    assert code == 0
    first, second = out.splitlines()[:2]
    assert first.strip().startswith("PASS   safe, and faster: ")
    assert second.startswith("run good  2026-05-26 09:30:00 UTC")
    assert "Tokens compared with the baseline's" not in out
    assert "Tokens compared with the baseline's" in draftgate("report", "good", "--full")[1]


def test_report_writes_every_format(
    draftgate: Draftgate, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    html, junit = tmp_path / "report.html", tmp_path / "junit.xml"
    markdown, parquet = tmp_path / "comment.md", tmp_path / "export"
    code, out, err = draftgate(
        *("report", "bad", "--html", str(html), "--junit", str(junit)),
        *("--markdown", str(markdown), "--parquet", str(parquet), "--github"),
    )
    assert code == 0
    assert out.startswith("::error title=draftgate%3A fail::")
    assert err.splitlines()[0] == f"HTML: {html}"
    assert html.read_text().startswith("<!doctype html>")
    assert "<testsuites" in junit.read_text()
    assert markdown.read_text().startswith("## ❌ draftgate: fail")
    assert run(["sql", "select run from runs", "--format", "csv", "--db", str(parquet)]) == 0
    assert capsys.readouterr().out == "run\nbad\n"
    code, out, _ = draftgate("report", "bad", "--json")
    assert (code, json.loads(out)["run"]["verdict"]) == (0, "fail")


def test_report_of_one_turn(draftgate: Draftgate, tmp_path: Path) -> None:
    html = tmp_path / "report.html"
    code, _, _ = draftgate("report", "bad", "--html", str(html), "--turn", "session-03/t001")
    assert code == 0
    assert "session-03 / t001" in html.read_text()
    code, _, err = draftgate("report", "bad", "--html", str(html), "--turn", "t001")
    assert code == 2
    assert "expected SESSION/TURN" in err


def test_compare_ends_with_one_where_something_got_worse(draftgate: Draftgate) -> None:
    code, out, _ = draftgate("compare", "good", "bad")
    assert code == 1
    assert out.startswith("good (pass) → bad (fail)\n  error GREEDY_DIVERGENCE: 0 → 1 findings\n")
    assert "worse" in out


def test_compare_ends_with_zero_where_nothing_got_worse(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "draftgate.duckdb"
    with Store.open(file, write=True) as store:
        store.load(synthetic_run("monday", tokens=200))
        store.load(synthetic_run("tuesday", tokens=200, day=1))
    code = run(["compare", "monday", "--json", "--db", str(file)])
    found = json.loads(capsys.readouterr().out)
    assert (found["old"]["run"], found["new"]["run"]) == ("monday", "tuesday")
    assert (code, found["regressed"], found["codes"], found["set_up"]) == (0, False, [], [])
    assert {row["change"] for row in found["quantities"]} <= {"same", None}


def test_a_question_without_rows_says_what_that_means(
    draftgate: Draftgate, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    empty = tmp_path / "empty.duckdb"
    Store.open(empty, write=True).close()
    assert run(["query", "verdicts", "--db", str(empty)]) == 0
    assert capsys.readouterr().err == "no rows: the store holds no run\n"
    code, out, err = draftgate("sql", "from runs where run = 'none'", "--format", "csv")
    assert (code, len(out.splitlines()), err) == (0, 1, "no rows\n")


def test_the_last_run_alone_has_nothing_to_be_compared_with(draftgate: Draftgate) -> None:
    code, out, err = draftgate("compare", "bad")
    assert (code, out) == (2, "")
    assert "bad is the last run, so there is none to put beside it" in err
    assert "draftgate query verdicts" in err
