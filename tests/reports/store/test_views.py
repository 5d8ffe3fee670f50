"""The views: documented to the last column, and right on numbers counted by hand."""

import ast
import math
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from checks.stats.session_interval import clustered, ratio
from reports.schema.records import RunTables
from reports.store.store import Store
from reports.store.view import parse, views
from tests.support.profiled import acceptance_of
from tests.support.synthetic_run import synthetic_run

NAMED = {
    "v_verdict",
    "v_acceptance_by_boundary",
    "v_acceptance_by_distance",
    "v_acceptance_by_context",
    "v_acceptance_by_template",
    "v_divergences",
    "v_tool_success",
    "v_stream_integrity",
    "v_latency_pairs",
    "v_regressions",
}


def test_the_fixed_views_are_there_and_everything_is_commented(db: Path) -> None:
    with Store.open(db) as store:
        found = store.rows("select view_name, comment from duckdb_views() where not internal")
        assert {v["view_name"] for v in found} >= NAMED
        assert all(v["comment"] for v in found)
        bare = store.rows(
            "select table_name, column_name from duckdb_columns() where not internal"
            " and (comment is null or comment = '')"
        )
        assert bare == []


def test_changed_calls_show_both_lists_of_calls(db: Path) -> None:
    with Store.open(db) as store:
        (run, *_) = [row["run"] for row in store.rows("select run from runs order by run")]
        rows = store.rows("from v_changed_calls where run = ?", [run])
        pairs = "select count(*) as n from pairs where run = ? and calls_change <> 'same'"
        (counted,) = store.rows(pairs, [run])
    assert len(rows) == counted["n"] > 0
    assert {row["change"] for row in rows} == {"consequential"}
    for row in rows:
        assert row["comparison"] == "candidate"
        assert row["fork_kind"] in ("hard", "near_tie")
        for calls in (row["baseline_calls"], row["calls"]):
            assert calls.startswith('read_file {"path": ')


def test_a_view_file_documents_its_columns_in_order(db: Path) -> None:
    with Store.open(db) as store:
        for view in views():
            columns = store.connection.execute(f"describe {view.name}").fetchall()
            assert list(view.columns) == [c[0] for c in columns], view.name


def test_the_header_of_a_view_file_is_read() -> None:
    view = parse(
        "v_x", "-- What it is,\n-- in two lines.\n-- a: first\n-- and more\n-- b: second\nselect 1;"
    )
    assert view.comment == "What it is, in two lines."
    assert view.columns == {"a": "first and more", "b": "second"}
    assert view.sql == "select 1"


def _run(steps: list[tuple[str, str, int, list[str]]]) -> RunTables:
    """A run of one-turn sessions from (session, template, accepted, labels of the positions)."""
    base = synthetic_run("r", sessions=0)
    key = {"run": "r", "path": "candidate", "arm": "main", "turn": "t", "attempt": 0}
    sessions = sorted({s for s, *_ in steps})
    step_rows, positions = [], []
    for number, (session, template, accepted, labels) in enumerate(steps):
        place = {**key, "session": session, "step": number}
        step_rows.append({**place, "drafted": 3, "accepted": accepted, "label": labels[0]})
        for i in range(3):
            reached = i <= accepted
            positions.append(
                {
                    **place,
                    "position": i,
                    "reached": reached,
                    "accepted": i < accepted,
                    "label": labels[i] if reached else None,
                    "template": template,
                    "context_band": "0-8k",
                    "distance": "0",
                }
            )
    own = {"run": "r", "turn": "t"}
    return RunTables(
        runs=base.runs,
        **acceptance_of("r", step_rows, positions, {}),
        sessions=[{"run": "r", "session": s} for s in sessions],
        turns=[{**own, "session": s, "turn_index": 0, "replayable": True} for s in sessions],
        captures=[{**key, "session": s, "route": "chat", "ended": "done"} for s in sessions],
        steps=step_rows,
        draft_positions=positions,
    )


def test_acceptance_is_counted_as_defined() -> None:
    """120 steps of `code` accept 2, their third position is `prose`; 20 of `prose` accept 0."""
    steps = [("a", "x", 2, ["code", "code", "prose"])] * 80
    steps += [("b", "x", 2, ["code", "code", "prose"])] * 40
    steps += [("c", "y", 0, ["prose", "prose", "prose"])] * 20
    with Store.in_memory() as store:
        store.load(_run(steps))
        by_boundary = {r["boundary"]: r for r in store.rows("from v_acceptance_by_boundary")}
        code, prose = by_boundary["code"], by_boundary["prose"]
        assert (code["steps"], code["acceptance_length"], code["empty_share"]) == (120, 3.0, 0)
        assert not code["enough"]  # two sessions
        assert code["per_position_acceptance_rates"] == [1.0, 1.0, 0.0]
        assert code["conditional_acceptance"] == [1.0, 1.0, None]
        assert (prose["steps"], prose["acceptance_length"], prose["enough"]) == (20, None, False)
        assert prose["conditional_acceptance"] == [None, None, 0.0]
        (whole,) = store.rows("from v_acceptance")
        assert whole["acceptance_length"] == pytest.approx(1 + 240 / 140)
        assert whole["request_mean"] == pytest.approx((3 + 3 + 1) / 3)
        assert whole["per_position_acceptance_rates"] == pytest.approx([120 / 140, 120 / 140, 0])
        assert whole["conditional_acceptance"] == pytest.approx([120 / 140, 1.0, 0.0])
        by_template = {r["template"]: r for r in store.rows("from v_acceptance_by_template")}
        assert by_template["x"]["acceptance_length"] == 3.0
        assert by_template["y"]["draft_acceptance"] == 0.0


def test_views_give_the_estimates_of_the_judgement() -> None:
    """The interval of the jackknife, not another one."""
    accepted = {"a": [2] * 50 + [1] * 50, "b": [0] * 40 + [3] * 60, "c": [1] * 120, "d": [2] * 30}
    steps = [(s, "x", k, ["code"] * 3) for s, ks in accepted.items() for k in ks]
    sums = np.array([[sum(ks) + len(ks), len(ks)] for ks in accepted.values()], float)
    estimate = clustered(ratio, sums, int(sums[:, 1].sum()))
    with Store.in_memory() as store:
        store.load(_run(steps))
        (whole,) = store.rows("from v_acceptance")
    found = tuple(whole[name] for name in ("acceptance_length", "low", "high"))
    assert found == (estimate.value, estimate.low, estimate.high)


@pytest.mark.parametrize(
    ("sessions", "steps", "enough"), [(10, 3, True), (9, 30, False), (10, 2, False)]
)
def test_enough_counts_sessions_as_well_as_drafts(sessions: int, steps: int, enough: bool) -> None:
    """30 drafts in ten sessions; 270 in nine, or 20 in ten, are too few."""
    rows = [(f"s{i}", "x", 1, ["code"] * 3) for i in range(sessions) for _ in range(steps)]
    with Store.in_memory() as store:
        store.load(_run(rows))
        (whole,) = store.rows("from v_acceptance")
    assert whole["enough"] is enough


STATISTICS = re.compile(
    r"\b(sqrt|pow|power|exp|ln|log\w*|l?gamma|stddev\w*|var_\w+|variance|quantile\w*|percentile\w*"
    r"|approx_quantile|median|mode|mad|skewness|kurtosis|sem|entropy|corr|covar\w*|regr_\w+|random"
    r"|setseed|histogram)\s*\(|\*\*|\bcreate\s+(or\s+replace\s+)?(temp\w*\s+)?macro\b",
    re.IGNORECASE,
)
"""Functions that intervals, p-values and quantiles are made of."""


def _sql_of(root: Path) -> Iterator[tuple[str, str]]:
    """Every SQL text of the program: the .sql files, and strings of its modules that query."""
    for folder in ("reports", "draftgate"):
        for file in sorted((root / folder).rglob("*.sql")):
            text = file.read_text(encoding="utf-8")
            lines = (line for line in text.splitlines() if not line.startswith("--"))
            yield str(file.relative_to(root)), "\n".join(lines)
        for file in sorted((root / folder).rglob("*.py")):
            for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
                text = node.value if isinstance(node, ast.Constant) else None
                if isinstance(text, str) and re.match(r"\s*(with|select|from|insert) \S", text):
                    yield str(file.relative_to(root)), text


def test_sql_computes_no_statistic(root: Path) -> None:
    """Intervals, p-values and quantiles are computed once, in Python, and stored."""
    texts = list(_sql_of(root))
    assert len(texts) > 60
    found = [(name, match.group()) for name, sql in texts if (match := STATISTICS.search(sql))]
    assert found == []


@pytest.mark.parametrize("view", [view.name for view in views()])
def test_every_column_of_a_view_can_be_filtered(db: Path, view: str) -> None:
    """A filter moves into the view, where a cast may meet slices of other dimensions first."""
    with Store.open(db) as store:
        for row in store.rows(f"describe {view}"):
            column = row["column_name"]
            for filtered in (f"{column} is null", f"{column} is not null"):
                store.rows(f"select count(*) from {view} where {filtered}")


def test_stored_counts_are_those_of_the_raw_rows(db: Path) -> None:
    with Store.open(db) as store:
        raw = store.rows(
            "select run, label::varchar as slice, position, count(*) as reached,"
            " count(*) filter (accepted) as accepted from draft_positions where reached"
            " group by all order by all"
        )
        stored = store.rows(
            "select run, slice, position, reached, accepted from acceptance_positions"
            " where dimension = 'boundary' and reached > 0 order by all"
        )
        assert raw == stored
        for dimension in ("all", "boundary", "distance", "context", "template"):
            (row,) = store.rows(
                "select sum(steps)::bigint as n, sum(accepted_tokens)::bigint as accepted"
                " from acceptance where dimension = ?",
                [dimension],
            )
            (steps,) = store.rows(
                "select count(*) as n, sum(accepted)::bigint as accepted from steps"
            )
            assert row == steps, dimension


def test_regressions_see_a_fall_and_stay_quiet_on_an_equal_run(db: Path) -> None:
    with Store.open(db) as store:
        rows = store.rows(
            "from v_regressions where name = 'acceptance_length' and dimension = 'all'"
        )
        found = {r["run"]: (r["previous_run"], r["change"]) for r in rows}
        assert found == {"bad": ("good", "worse"), "again": ("bad", "same")}
        quiet = store.rows(
            "from v_regressions where run = 'again' and change in ('worse', 'better')"
        )
        assert quiet == []


def test_regressions_do_not_depend_on_the_order_in_which_runs_are_loaded(db: Path) -> None:
    """`bad`, a day after `good` and a day before `again`, is loaded last."""
    runs = {
        "good": synthetic_run("good", tokens=300),
        "again": synthetic_run("again", seed=3, tokens=300, day=2, accept=0.6, slow=0.7),
        "bad": synthetic_run(
            "bad", seed=2, tokens=300, day=1, verdict="fail", accept=0.6, slow=0.7
        ),
    }
    with Store.open(db) as store:
        expected = store.rows("from v_regressions")
    with Store.in_memory() as store:
        for run in runs.values():
            store.load(run)
        assert store.rows("from v_regressions") == expected
        assert {(r["run"], r["previous_run"]) for r in expected} == {
            ("bad", "good"),
            ("again", "bad"),
        }


def test_speedup_is_the_geometric_mean_of_pairs(db: Path) -> None:
    with Store.open(db) as store:
        pairs = store.rows(
            "select context_band, tpot_ratio from v_latency_pairs where run = 'good'"
        )
        rows = store.rows("from v_speedup where run = 'good'")
    assert [(row["context_band"], row["turns"], row["sessions"]) for row in rows] == [
        (None, 24, 6),
        ("0-8k", 12, 6),
        ("8k-16k", 6, 6),
        ("16k-32k", 6, 6),
    ]
    for row in rows:
        mine = [p for p in pairs if row["context_band"] in (None, p["context_band"])]
        mean = math.exp(sum(math.log(p["tpot_ratio"]) for p in mine) / len(mine))
        assert row["tpot_speedup"] == pytest.approx(mean)
        assert row["low"] < mean < row["high"]
        assert row["token_low"] < row["token_speedup"] < row["token_high"]


@pytest.mark.parametrize("path", ["baseline", "candidate"])
def test_a_turn_that_came_in_one_burst_has_no_ratio(path: str) -> None:
    run = synthetic_run("r")
    captures = [dict(c) for c in run.captures]
    next(c for c in captures if c["path"] == path and c["arm"] == "main")["tpot_ms"] = 0.0
    with Store.in_memory() as store:
        store.load(replace(run, captures=captures))
        ratios = [r["tpot_ratio"] for r in store.rows("select tpot_ratio from v_latency_pairs")]
    assert (ratios.count(None), len(ratios)) == (1, 24)


def test_streams_are_counted_by_how_they_ended() -> None:
    run = synthetic_run("r", sessions=1, turns=4)
    captures = [dict(c) for c in run.captures if c["path"] == "candidate"]
    others = [c for c in run.captures if c["path"] != "candidate"]
    captures[0] |= {"finish_reason": None, "ended": "closed"}
    captures[1] |= {"status": 503, "finish_reason": None, "completion_tokens": None}
    captures[2] |= {"status": None, "ended": "timeout", "finish_reason": None}
    with Store.in_memory() as store:
        store.load(replace(run, captures=captures + others))
        (row,) = store.rows("from v_stream_integrity where path = 'candidate'")
    counted = ("requests", "ok", "refused", "no_answer", "no_finish", "no_done", "timeouts")
    assert [row[c] for c in counted] == [4, 1, 1, 1, 1, 1, 1]


def test_a_profile_counts_steps_as_case_files_do() -> None:
    """Of 10 drafts of 3 tokens, 5 accept none, 3 the first, 2 all."""
    steps = [("a", "x", k, ["code"] * 3) for k in [0] * 5 + [1] * 3 + [3] * 2]
    with Store.in_memory() as store:
        store.load(_run(steps))
        whole, row = store.rows("from v_profile where run = 'r'")
    assert (row["boundary"], row["context_bucket"]) == ("code", "0-8k")
    assert whole == {**row, "boundary": "all"}
    assert (row["num_drafts"], row["num_draft_tokens"], row["num_accepted_tokens"]) == (10, 30, 9)
    assert row["accepted_per_pos"] == [5, 2, 2]
    assert row["reached_per_pos"] == [10, 5, 2]
