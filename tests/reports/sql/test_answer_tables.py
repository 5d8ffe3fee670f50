"""Columns of a terminal table: never wider than it; text is wrapped before rows are split."""

import io

import pyarrow as pa
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from rich.console import Console

from reports.sql.answer import as_table
from reports.sql.sql import Answer

VALUES = st.text("ab_ ", max_size=60)
TABLES = st.integers(1, 6).flatmap(
    lambda rows: st.lists(st.lists(VALUES, min_size=rows, max_size=rows), min_size=1, max_size=8)
)


@given(TABLES, st.integers(20, 160))
@example([[""], [""], ["_____________a"]], 20)
def test_an_answer_is_never_wider_than_its_terminal_and_loses_nothing(
    columns: list[list[str]], width: int
) -> None:
    table = pa.table({f"c{i}": column for i, column in enumerate(columns)})
    out = io.StringIO()
    Console(file=out, width=width).print(as_table(Answer(table), width))
    assert max(map(len, out.getvalue().splitlines()), default=0) <= width
    for letter in "ab":
        assert out.getvalue().count(letter) == sum(v.count(letter) for c in columns for v in c)


NAMES = ("code", "severity", "session", "turn", "message", "baseline", "candidate", "n")
ROW = (
    "FINISH_REASON_WRONG",
    "error",
    "c5bd2926-71d5-5954-9842-3a2b0eedf35f",
    "t0002",
    "finish_reason is stop for the output of the baseline; the baseline has tool_calls",
    "tool_calls",
    "stop",
    3,
)


def shown(columns: int, width: int) -> str:
    rows = pa.table(
        {name: [value] for name, value in list(zip(NAMES, ROW, strict=True))[-columns:]}
    )
    out = io.StringIO()
    Console(file=out, width=width).print(as_table(Answer(rows), width))
    return out.getvalue()


@pytest.mark.parametrize(("columns", "width"), [(6, 100), (8, 100), (8, 120), (4, 60)])
def test_wide_answers_stay_tables_on_usual_terminals(columns: int, width: int) -> None:
    text = shown(columns, width)
    head = next(line for line in text.splitlines() if line.strip())
    assert [word in head for word in NAMES[-columns:]] == [True] * columns
    assert max(map(len, text.splitlines())) <= width
    assert "…" not in text


def test_where_columns_cannot_stand_side_by_side_rows_are_blocks() -> None:
    lines = [line.split() for line in shown(8, 50).splitlines() if line.strip()]
    assert ["severity", "error"] in lines
    assert ["n", "3"] in lines
