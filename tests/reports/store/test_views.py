"""The views: documented to the last column, and right on numbers counted by hand."""

import math
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from checks.stats.session_interval import clustered
from reports.schema.records import RunTables
from reports.store.store import Store
from reports.store.view import parse, views
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


@pytest.fixture(scope="module")
def empty() -> Iterator[Store]:
    """A store for its functions alone."""
    with Store.in_memory() as store:
        yield store


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
        sessions=[{"run": "r", "session": s} for s in sessions],
        turns=[{**own, "session": s, "turn_index": 0, "replayable": True} for s in sessions],
        captures=[{**key, "session": s, "ended": "done"} for s in sessions],
        steps=step_rows,
        draft_positions=positions,
    )


def test_acceptance_is_counted_as_defined() -> None:
    """120 steps of `code` accept 2, their third position is `prose`; 60 of `prose` accept 0."""
    steps = [("a", "x", 2, ["code", "code", "prose"])] * 80
    steps += [("b", "x", 2, ["code", "code", "prose"])] * 40
    steps += [("c", "y", 0, ["prose", "prose", "prose"])] * 60
    with Store.in_memory() as store:
        store.load(_run(steps))
        by_boundary = {r["boundary"]: r for r in store.rows("from v_acceptance_by_boundary")}
        code, prose = by_boundary["code"], by_boundary["prose"]
        assert (code["steps"], code["acceptance_length"], code["empty_share"]) == (120, 3.0, 0)
        assert (prose["steps"], prose["acceptance_length"], prose["enough"]) == (60, 1.0, False)
        assert code["conditional"] == [1.0, 1.0]
        assert prose["conditional"] == [None, None, None] or prose["conditional"] == [None, 0.0]
        (whole,) = store.rows("from v_acceptance")
        assert whole["acceptance_length"] == pytest.approx(1 + 240 / 180)
        assert whole["request_mean"] == pytest.approx((3 + 3 + 1) / 3)
        assert whole["conditional"] == pytest.approx([120 / 180, 1.0, 0.0])
        by_template = {r["template"]: r for r in store.rows("from v_acceptance_by_template")}
        assert by_template["x"]["acceptance_length"] == 3.0
        assert by_template["y"]["draft_acceptance"] == 0.0


def test_the_interval_of_a_ratio_is_clustered_by_session() -> None:
    """Against the textbook formula of the linearised, clustered ratio estimator."""
    accepted = {"a": [2] * 50 + [1] * 50, "b": [0] * 40 + [3] * 60, "c": [1] * 120, "d": [2] * 30}
    steps = [(s, "x", k, ["code"] * 3) for s, ks in accepted.items() for k in ks]
    a = [sum(ks) for ks in accepted.values()]
    b = [len(ks) for ks in accepted.values()]
    ratio, m = sum(a) / sum(b), len(a)
    variance = sum((x - ratio * y) ** 2 for x, y in zip(a, b, strict=True)) * m / (m - 1)
    half = stats.t.ppf(0.975, m - 1) * math.sqrt(variance) / sum(b)
    with Store.in_memory() as store:
        store.load(_run(steps))
        (whole,) = store.rows("from v_acceptance")
        assert whole["acceptance_length"] == pytest.approx(1 + ratio)
        assert whole["low"] == pytest.approx(1 + ratio - half, rel=0.005)
        assert whole["high"] == pytest.approx(1 + ratio + half, rel=0.005)


def test_two_sessions_give_no_interval() -> None:
    steps = [(s, "x", 1, ["code"] * 3) for s in "ab" for _ in range(100)]
    with Store.in_memory() as store:
        store.load(_run(steps))
        (whole,) = store.rows("from v_acceptance")
        assert (whole["low"], whole["high"]) == (None, None)


def test_a_rate_of_one_has_an_interval_that_is_not_a_point() -> None:
    steps = [(s, "x", 3, ["code"] * 3) for s in "abcd" for _ in range(50)]
    with Store.in_memory() as store:
        store.load(_run(steps))
        (cell,) = store.rows(
            "from v_acceptance_by_position where dimension = 'all' and position = 0"
        )
        low = stats.binomtest(200, 200).proportion_ci(method="wilson").low
        assert (cell["rate"], cell["high"]) == (1.0, 1.0)
        assert cell["low"] == pytest.approx(low, rel=1e-4)


@pytest.mark.parametrize("df", [2, 3, 5, 9, 30, 200])
def test_the_t_quantile_is_close(empty: Store, df: int) -> None:
    (row,) = empty.rows("select t975(?) as t", [df])
    assert row["t"] == pytest.approx(stats.t.ppf(0.975, df), rel=0.01)


@pytest.mark.parametrize(("b", "c"), [(0, 0), (1, 0), (5, 0), (3, 9), (40, 22), (300, 301)])
def test_mcnemar_is_exact(empty: Store, b: int, c: int) -> None:
    expected = min(1.0, 2 * stats.binom.cdf(min(b, c), b + c, 0.5))
    (row,) = empty.rows("select mcnemar_p(?, ?) as p", [b, c])
    assert row["p"] == pytest.approx(expected)


def test_sums_equal_the_raw_rows(db: Path) -> None:
    with Store.open(db) as store:
        raw = store.rows(
            "select run, label::varchar as slice, position, count(*) as reached,"
            " count(*) filter (accepted) as accepted from draft_positions where reached"
            " group by all order by all"
        )
        sums = store.rows(
            "select run, slice, position, sum(reached)::bigint as reached,"
            " sum(accepted)::bigint as accepted"
            " from position_sums where dimension = 'boundary' group by all order by all"
        )
        assert raw == sums
        for dimension in ("all", "boundary", "distance", "context", "template", "accepted"):
            (row,) = store.rows(
                "select sum(steps)::bigint as n from step_sums where dimension = ?", [dimension]
            )
            (steps,) = store.rows("select count(*) as n from steps")
            assert row == steps, dimension


def test_steps_that_do_not_reconcile_are_kept_apart() -> None:
    run = _run([("a", "x", 1, ["code"] * 3)] * 100)
    loose = {**run.steps[0], "step": 500, "label": None, "accepted": 3}
    with Store.in_memory() as store:
        store.load(replace(run, steps=[*run.steps, loose]))
        (whole,) = store.rows("from v_acceptance")
        assert (whole["steps"], whole["acceptance_length"]) == (100, 2.0)
        (apart,) = store.rows("from step_sums where dimension = 'unaligned'")
        assert (apart["steps"], apart["accepted"]) == (1, 3)


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


def test_speedup_is_the_geometric_mean_of_pairs(db: Path) -> None:
    with Store.open(db) as store:
        pairs = store.rows("select tpot_ratio from v_latency_pairs where run = 'good'")
        (whole,) = store.rows("from v_speedup where run = 'good' and context_band is null")
        mean = math.exp(sum(math.log(p["tpot_ratio"]) for p in pairs) / len(pairs))
        assert whole["turns"] == len(pairs) == 24
        assert whole["tpot_speedup"] == pytest.approx(mean)
        assert whole["low"] < mean < whole["high"]


def test_the_speedup_per_token_is_that_of_all_time_and_its_interval_covers_sessions() -> None:
    """Against the jackknife of sessions of the same ratio, on a log scale."""
    with Store.in_memory() as store:
        store.load(synthetic_run("r", sessions=12))
        (whole,) = store.rows("from v_speedup where context_band is null")
        sums = store.rows(
            "select session, sum(baseline_tpot_ms * (baseline_tokens - 1)) as a,"
            " sum(baseline_tokens - 1) as b, sum(candidate_tpot_ms * (candidate_tokens - 1)) as c,"
            " sum(candidate_tokens - 1) as d from v_latency_pairs group by session"
        )
    table = np.array([[float(row[name]) for name in "abcd"] for row in sums])
    found = clustered(lambda s: np.log(s[:, 0] / s[:, 1] * s[:, 3] / s[:, 2]), table, 48)
    assert whole["token_speedup"] == pytest.approx(math.exp(found.value))
    assert whole["token_low"] == pytest.approx(math.exp(found.low), rel=0.01)
    assert whole["token_high"] == pytest.approx(math.exp(found.high), rel=0.01)
    assert whole["sessions"] == 12


@pytest.mark.parametrize("path", ["baseline", "candidate"])
def test_a_turn_that_came_in_one_burst_has_no_ratio_and_spoils_no_mean(path: str) -> None:
    run = synthetic_run("r")
    captures = [dict(c) for c in run.captures]
    next(c for c in captures if c["path"] == path and c["arm"] == "main")["tpot_ms"] = 0.0
    with Store.in_memory() as store:
        store.load(replace(run, captures=captures))
        (whole,) = store.rows("from v_speedup where context_band is null")
        ratios = [r["tpot_ratio"] for r in store.rows("select tpot_ratio from v_latency_pairs")]
    assert ratios.count(None) == 1
    measured = [math.log(ratio) for ratio in ratios if ratio is not None]
    assert whole["turns"] == len(measured) == 23
    assert whole["tpot_speedup"] == pytest.approx(math.exp(sum(measured) / len(measured)))
    assert whole["low"] < whole["tpot_speedup"] < whole["high"]


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
    """c_i of the profile is accepted_per_pos[i] / accepted_per_pos[i - 1]."""
    steps = [("a", "x", k, ["code"] * 3) for k in [0] * 5 + [1] * 3 + [3] * 2]
    with Store.in_memory() as store:
        store.load(_run(steps))
        (row,) = store.rows("from v_profile where run = 'r'")
    assert (row["boundary"], row["context_bucket"]) == ("code", "0-8k")
    assert (row["num_drafts"], row["num_draft_tokens"], row["num_accepted_tokens"]) == (10, 30, 9)
    assert row["accepted_per_pos"] == [5, 2, 2]
