"""Charts: every mark lies where its number says, and every number is text too."""

from collections.abc import Iterator

import pytest

from reports.formats.charts import (
    acceptance_charts,
    differing_tools,
    latency_charts,
    linear,
    logarithmic,
    speed_chart,
    tool_chart,
)
from reports.store.store import Store
from reports.store.summary import Row, Summary, main_acceptance, read_summary
from tests.support.synthetic_run import synthetic_run


@pytest.fixture(scope="module")
def summary() -> Iterator[Summary]:
    with Store.in_memory() as store:
        store.load(synthetic_run("r", sessions=12, tokens=100))
        yield read_summary(store, "r")


def changed(summary: Summary, **sections: list[Row]) -> Summary:
    return Summary(summary.run, {**summary.sections, **sections})


def test_scales_place_values_and_keep_them_inside() -> None:
    assert [linear(1, 4)(v) for v in (1, 2.5, 4, 9, -3)] == [0, 50, 100, 100, 0]
    assert [logarithmic(0.5, 2)(v) for v in (0.5, 1, 2, 0)] == [0, 50, 100, 0]


def test_a_boundary_lies_where_its_length_says(summary: Summary) -> None:
    chart = acceptance_charts(summary)[0]
    rows = main_acceptance(summary, "boundaries")
    assert [line.label for line in chart.lines] == ["all", *(str(r["boundary"]) for r in rows)]
    assert chart.ticks == ("1", "2", "3", "4")
    for line, row in zip(chart.lines[1:], rows, strict=True):
        (mark,) = line.marks
        assert mark.place == pytest.approx(100 * (row["acceptance_length"] - 1) / 3, abs=0.06)
        assert mark.low == pytest.approx(100 * (row["low"] - 1) / 3, abs=0.06)
        assert line.value == f"{row['acceptance_length']:.3f}"
    (whole,) = summary["acceptance"]
    assert chart.reference == linear(1, 4)(whole["acceptance_length"])


def test_few_sessions_draw_the_value_alone(summary: Summary) -> None:
    rows = [{**r, "enough": False} for r in summary["boundaries"]]
    chart = acceptance_charts(changed(summary, boundaries=rows))[0]
    assert {line.note for line in chart.lines[1:]} == {"few sessions"}
    assert {(m.low, m.high) for line in chart.lines[1:] for m in line.marks} == {(None, None)}


def test_a_boundary_with_too_few_drafts_has_no_mark(summary: Summary) -> None:
    bare = {**summary["boundaries"][0], "acceptance_length": None, "enough": False}
    line = acceptance_charts(changed(summary, boundaries=[bare, *summary["boundaries"]]))[0].lines[
        1
    ]
    assert (line.marks, line.value, line.note) == ((), "n/a", "too few drafts")


def test_positions_are_those_of_the_whole_run(summary: Summary) -> None:
    chart = next(c for c in acceptance_charts(summary) if "position" in c.title)
    (whole,) = summary["acceptance"]
    rates = whole["per_position_acceptance_rates"]
    assert [line.value for line in chart.lines] == [f"{100 * rate:.1f}%" for rate in rates]
    assert [m.place for line in chart.lines for m in line.marks] == [
        pytest.approx(100 * rate, abs=0.06) for rate in rates
    ]


def test_the_speed_of_each_concurrency_lies_around_one(summary: Summary) -> None:
    chart = speed_chart(summary)
    assert chart is not None
    assert chart.reference == 50
    by_label = {line.label: line for line in chart.lines}
    assert by_label["4 sessions"].marks[0].place > 50 > by_label["16 sessions (c16)"].marks[0].place
    assert by_label["16 sessions (c16)"].value == "0.50×"
    assert by_label["16 sessions (c16)"].note == "0.45 … 0.55"
    alone = speed_chart(changed(summary, curve=[]))
    assert alone is not None
    assert [line.label for line in alone.lines] == ["this run"]
    assert speed_chart(changed(summary, speedup=[])) is None


def test_histograms_hold_every_turn_of_both_paths(summary: Summary) -> None:
    for chart, metric in zip(latency_charts(summary), ("ttft_ms", "tpot_ms"), strict=True):
        rows = [r for r in summary["latencies"] if r["metric"] == metric]
        assert sum(r["turns"] for r in rows if r["path"] == "baseline") == 48
        assert all(r["from_ms"] < r["to_ms"] <= 1.2 * r["from_ms"] for r in rows)
        assert max(max(baseline, candidate) for *_, baseline, candidate in chart.bars) == 100
        assert sum(width for _, width, *_ in chart.bars) == pytest.approx(100, abs=0.1)
        assert "baseline" in chart.summary


def test_tools_that_differ_stand_apart() -> None:
    rows = [
        {"tool": tool, "path": path, "calls": calls, "usable": usable}
        for tool, path, calls, usable in (
            ("bash", "baseline", 10, 10),
            ("bash", "candidate", 10, 9),
            ("read", "baseline", 4, 4),
            ("read", "candidate", 4, 4),
            ("write", "baseline", 2, 1),
        )
    ]
    differing, alike = differing_tools(rows)
    assert {row["tool"] for row in differing} == {"bash", "write"}
    chart = tool_chart(differing)
    assert chart is not None
    bash, write = chart.lines
    assert (bash.value, bash.note) == ("9 of 10", "baseline 10 of 10")
    assert [(m.kind, m.place) for m in bash.marks] == [("baseline", 100), ("candidate", 90)]
    assert (write.value, write.note) == ("not called", "baseline 1 of 2")
    other = tool_chart(alike)
    assert other is not None
    assert [line.label for line in other.lines] == ["read"]
    assert tool_chart([]) is None
