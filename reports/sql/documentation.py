"""The SQL guide docs/sql.md, written from the declarations, the views and the named queries.

Whatever is in the database is in the page, in the same words; sample answers come from a store that
the caller made.
"""

from collections.abc import Iterable, Iterator, Sequence

from reports.schema import ENUMS, KEPT_TABLES, TABLES
from reports.sql.answer import as_object, cell
from reports.sql.query import answer, queries
from reports.store.store import Store
from reports.store.view import views

MOST_ROWS = 6

HEAD = """# The store, in SQL

A DuckDB file (default `draftgate.duckdb`) keeps every run. There are three ways to query it:

    draftgate query --list                     # questions that have a name
    draftgate query worst_boundaries           # one of them, about the last run
    draftgate query diverged --run 20260526    # about another run; the start of its id is enough
    draftgate sql "from v_verdict"             # any SELECT
    draftgate sql - < question.sql             # from a file

Both take `--db FILE`, `--limit N` (0: all rows), `--format table|csv|json|parquet`, `-o FILE` and
`--json`. The connection is read-only and restricted: no files, no extensions, no settings, and one
statement at a time. Any DuckDB program can open the file too (`duckdb -readonly draftgate.duckdb`).
The descriptions on this page are also in the database: every table, view and column has a comment
(`select table_name, comment from duckdb_tables()`, `select view_name, comment from duckdb_views()`,
`select column_name, comment from duckdb_columns() where table_name = 'tokens'`).

CSV is for people: text is on one line, its controls are written out, and text that a spreadsheet
would take for a formula begins with an apostrophe. JSON and Parquet hold it as it was.

A run is stored completely or not at all. Times are UTC. NULL means not measured, never zero.
Intervals are 95% intervals clustered by session, because the tokens of one session are not
independent; a single session gives no interval. Intervals, p-values and quantiles are computed
once, by the judgement, and stored. An acceptance length or rate of fewer than 30 observations is
NULL. `draftgate report RUN --parquet DIR` exports a run; a folder of exported runs answers the
same questions (`--db DIR`), so one query can cover the runs of many machines.

Size: 16 bytes per draft position, with its share of steps and tokens (6 of them are its own row);
100 runs of 501,000 positions are 0.8 GB. With ten such runs, every question below takes at
most 0.4 s on two cores shared with other work; loading the last run and asking all questions takes
0.4 GB of memory. Prepared rows are inserted at 1.7 million per CPU second, at 1.3 million with all
checks of a load. `python tools/benchmark_store.py --positions 5010000 --db FILE` measures this;
`python benchmarks/load.py` measures loading from a journal (docs/guides/scale.md). Questions that
read raw rows (`tokens`, `steps`, `draft_positions`) are fast when they name one run. These three
are views: their rows are stored with one number instead of the six columns that name a capture
(`capture_keys`).

**By position** there are two rates. `per_position_acceptance_rates` and `acceptance_rate` are
vLLM's (`spec_decode_per_position_acceptance_rates`): of all drafts, the share that accepted the
position; they sum to the acceptance length - 1. `conditional_acceptance` takes only the drafts that
reached the position and proposed a token there, and is the share of them that accepted it.
"""


def sql_guide(store: Store, run: str) -> str:
    """The whole page; sample answers are about `run`."""
    return "\n".join(
        [
            HEAD,
            *_queries(store, run),
            *_views(),
            *_tables(),
            *_enums(),
        ]
    )


def _queries(store: Store, run: str) -> Iterator[str]:
    yield "## Questions with a name\n"
    for name, query in queries().items():
        rows = as_object(answer(store, name, run))["rows"]
        yield f"### {name}\n\n{query.comment}\n\n    draftgate query {name}\n"
        yield from _grid(("column", "meaning"), query.columns.items())
        yield f"No rows: {query.none}.\n"
        if rows:
            yield "Sample answer:\n"
            yield from _grid(tuple(query.columns), (r.values() for r in rows[:MOST_ROWS]))
            if len(rows) > MOST_ROWS:
                yield f"… and {len(rows) - MOST_ROWS} more rows.\n"


def _views() -> Iterator[str]:
    yield "## Views\n"
    for view in sorted(views(), key=lambda view: view.name):
        yield f"### {view.name}\n\n{view.comment}\n"
        yield from _grid(("column", "meaning"), view.columns.items())


def _tables() -> Iterator[str]:
    yield "## Tables\n"
    for table in (*TABLES, *KEPT_TABLES):
        yield f"### {table.name}\n\n{table.comment} A row is named by {_code(table.key)}.\n"
        rows = (
            (c.name, c.type + ("" if not c.required else ", never NULL"), c.text)
            for c in table.columns
        )
        yield from _grid(("column", "type", "meaning"), rows)


def _enums() -> Iterator[str]:
    yield "## Enum types\n\nThey sort in this order.\n"
    yield from _grid(("type", "values"), ((n, ", ".join(v)) for n, v in ENUMS.items()))


def _grid(head: Sequence[str], rows: Iterable[Iterable[object]]) -> Iterator[str]:
    yield f"| {' | '.join(head)} |"
    yield "|" + "---|" * len(head)
    for row in rows:
        yield "| " + " | ".join(_cell(value) for value in row) + " |"
    yield ""


def _cell(value: object) -> str:
    text = value if isinstance(value, str) else cell(value)
    return text.replace("|", "\\|")


def _code(names: Sequence[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)
