"""Every page that `draftgate open` shows, as a function of the store and the address.

    respond(Path("draftgate.duckdb"), "/")                       runs over time
    respond(Path("draftgate.duckdb"), "/run/20261129-150300")    the report of a run
    respond(Path("draftgate.duckdb"), "/sql?q=from+v_verdict")   the rows of a query

Nothing is written. The store is opened for one answer at a time, sealed as for `draftgate sql`, so
a gate run can write between two answers. The pages hold no script, and load nothing.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

from reports.formats.charts import Chart, Line, Mark, linear, logarithmic
from reports.formats.html import render_html
from reports.formats.page import render_page
from reports.number import interval, number
from reports.sql.answer import as_object, cell
from reports.sql.query import queries
from reports.sql.sql import ask, open_sealed
from reports.store.store import Store
from reports.store.summary import Row, read_summary
from traces.errors import DraftgateError

MOST_RUNS = 100
MOST_ROWS = 500
WAIT_S = 5.0
FIRST_QUERY = "from v_acceptance_by_boundary"

RUNS = """
select v.run, v.started_at, v.verdict, v.first_reason, v.sessions, v.turns, v.method,
  v.num_speculative_tokens as k, v.model, a.acceptance_length, a.low, a.high, a.enough,
  s.token_speedup, s.token_low, s.token_high
from v_verdict v
left join (from v_acceptance where path = 'candidate' and arm = 'main') a on a.run = v.run
left join (from v_speedup where context_band is null) s on s.run = v.run
order by v.started_at desc, v.run desc
"""


@dataclass(frozen=True, slots=True)
class Reply:
    """An HTTP status, and an HTML page."""

    status: int
    html: str


def respond(db: Path, address: str) -> Reply:
    """The page at `address` (path and query). Errors of the user are pages too; nothing is raised
    but for a fault of draftgate's."""
    parts = urlsplit(address)
    try:
        with open_sealed(db, wait_s=WAIT_S) as store:
            if parts.path == "/":
                return Reply(200, _runs(store))
            if parts.path == "/sql":
                return _sql(store, parse_qs(parts.query).get("q", [FIRST_QUERY])[0])
            if parts.path.startswith("/run/"):
                run = unquote(parts.path.removeprefix("/run/"))
                return Reply(200, render_html(store, read_summary(store, run)))
    except DraftgateError as error:
        return Reply(404, render_page("error.html.j2", error=str(error), fix=error.fix))
    wrong = f"{parts.path}: there is no such page"
    return Reply(404, render_page("error.html.j2", error=wrong, fix="go back to the list of runs"))


def _runs(store: Store) -> str:
    rows = store.rows(RUNS)[:MOST_RUNS]
    return render_page("runs.html.j2", rows=rows, charts=_over_time(rows), db=store.path)


def _over_time(rows: list[Row]) -> list[Chart]:
    """Acceptance length and speed-up of the runs, the newest first."""
    lengths = [row for row in rows if row["acceptance_length"] is not None]
    speeds = [row for row in rows if row["token_speedup"]]
    most = max((row["k"] or 1 for row in lengths), default=1)
    charts = [
        Chart(
            "Acceptance length over runs",
            "run",
            tuple(_line(row, "acceptance_length", "low", "high", most) for row in lengths),
            tuple(number(1 + i) for i in range(most + 1)),
            legend="Tokens per step. Bar: 95% interval.",
        ),
        Chart(
            "Speed-up per output token over runs",
            "run",
            tuple(_line(row, "token_speedup", "token_low", "token_high", 0) for row in speeds),
            ("0.25×", "1×", "4×"),
            50.0,
            "Right of the dashed line the candidate is faster. Bar: 95% interval.",
        ),
    ]
    return [chart for chart in charts if len(chart.lines) > 1]


def _line(row: Row, value: str, low: str, high: str, k: int) -> Line:
    """A run on a scale of lengths from 1 to k + 1, or, where k is 0, of ratios from 1/4 to 4."""
    scale, unit = (linear(1, 1 + k), None) if k else (logarithmic(0.25, 4), "×")
    ends = [None if row[end] is None else scale(row[end]) for end in (low, high)]
    if None in ends or (k and not row["enough"]):
        ends = [None, None]
    mark = Mark(scale(row[value]), ends[0], ends[1])
    note = interval(row[low], row[high], unit) if ends[0] is not None else "few sessions"
    return Line(str(row["run"]), (mark,), number(row[value], unit), note, str(row["verdict"]))


def _sql(store: Store, query: str) -> Reply:
    """The box with the query in it, and its rows or what is wrong with it."""
    asked: dict[str, Any] = {
        "query": query,
        "named": list(queries().values()),
        "columns": [],
        "rows": [],
    }
    try:
        answer = ask(store, query, limit=MOST_ROWS)
    except DraftgateError as error:
        return Reply(400, render_page("sql.html.j2", **asked, error=str(error), notice=error.fix))
    found = as_object(answer)
    asked["columns"] = found["columns"]
    asked["rows"] = [[cell(value) for value in row.values()] for row in found["rows"]]
    cut = f"only the first {MOST_ROWS} rows are shown" if found["truncated"] else ""
    notice = cut or (answer.notice or "")
    return Reply(200, render_page("sql.html.j2", **asked, error="", notice=notice))
