"""The pages of `draftgate open`: complete, read-only, and deaf to hostile text."""

import re
from pathlib import Path
from urllib.parse import quote_plus

import pytest

from reports.browser.site import respond
from reports.sql.query import queries
from reports.store.store import Store
from tests.support.synthetic_run import synthetic_run

HOSTILE = "<script>document.title='pwned'</script>\x1b[2J"


@pytest.fixture(scope="module")
def db(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("site") / "draftgate.duckdb"
    with Store.open(file, write=True) as store:
        store.load(synthetic_run("good", sessions=12, tokens=60))
        store.load(
            synthetic_run("bad", sessions=12, tokens=60, day=1, verdict="fail", text=HOSTILE)
        )
    return file


def test_runs_stand_newest_first_with_their_numbers(db: Path) -> None:
    html = respond(db, "/").html
    assert html.index('href="/run/bad"') < html.index('href="/run/good"')
    assert "Acceptance length over runs" in html
    assert "Speed-up per output token over runs" in html
    assert "eagle3, k 3" in html


def test_a_report_is_that_of_the_run(db: Path) -> None:
    reply = respond(db, "/run/bad")
    assert reply.status == 200
    assert "not safe: GREEDY_DIVERGENCE x 1" in reply.html
    assert "<title>draftgate: fail · bad</title>" in respond(db, "/run/last").html
    reply = respond(db, "/run/baad")
    assert (reply.status, "did you mean bad" in reply.html) == (404, True)
    assert respond(db, "/nowhere").status == 404


def test_the_box_shows_rows_and_what_is_wrong(db: Path) -> None:
    html = respond(db, "/sql?q=" + quote_plus("select run, verdict from runs order by run")).html
    assert re.findall(r'<td data-label="verdict"><span>(\w+)', html) == ["fail", "pass"]
    assert "select run, verdict from runs order by run</textarea>" in html
    assert all(f"draftgate query {name}<" in html for name in queries())
    reply = respond(db, "/sql?q=" + quote_plus("from nowhere"))
    assert reply.status == 400
    assert "nowhere does not exist" in reply.html
    many = respond(db, "/sql?q=" + quote_plus("from tokens")).html
    assert "only the first 500 rows are shown" in many


@pytest.mark.parametrize(
    "sql",
    [
        "drop table runs",
        "update runs set verdict = 'pass'",
        "select 1; select 2",
        "copy runs to '/tmp/out.csv'",
        "select * from read_csv('/etc/passwd')",
        "attach '/tmp/other.duckdb'",
        "set enable_external_access = true",
        "install httpfs",
    ],
)
def test_the_box_reads_the_store_and_nothing_else(db: Path, sql: str) -> None:
    before = db.read_bytes()
    assert respond(db, "/sql?q=" + quote_plus(sql)).status == 400
    assert db.read_bytes() == before


@pytest.mark.parametrize(
    "address",
    [
        "/",
        "/run/bad",
        "/sql?q=from+runs",
        "/sql?q=" + quote_plus(f"select '{HOSTILE}"),
        "/" + HOSTILE,
    ],
)
def test_hostile_text_does_nothing(db: Path, address: str) -> None:
    html = respond(db, address).html
    assert "<script" not in html
    assert "\x1b" not in html
    assert "Content-Security-Policy" in html
    assert "default-src 'none'" in html


def test_a_gate_can_write_between_two_answers(db: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy.duckdb"
    copy.write_bytes(db.read_bytes())
    assert "later" not in respond(copy, "/").html
    with Store.open(copy, write=True, wait_s=0) as store:
        store.load(synthetic_run("later", day=2))
    assert 'href="/run/later"' in respond(copy, "/").html
