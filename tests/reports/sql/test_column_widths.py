"""Columns of a terminal table: never wider than it; text is wrapped before rows are split."""

import io

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from reports.sql.answer import as_table
from reports.sql.column_widths import fitting
from reports.sql.sql import Answer

VALUES = st.text("ab_ ", max_size=60)
TABLES = st.integers(1, 6).flatmap(
    lambda rows: st.lists(
        st.tuples(st.lists(VALUES, min_size=rows + 1, max_size=rows + 1), st.booleans()),
        min_size=1,
        max_size=8,
    )
)


@given(TABLES, st.integers(0, 160))
def test_what_fits_is_inside_the_room_and_fixed_columns_are_whole(
    table: list[tuple[list[str], bool]], room: int
) -> None:
    columns, wraps = [column for column, _ in table], [may for _, may in table]
    widest = [max(map(len, column)) for column in columns]
    widths = fitting(columns, wraps, room)
    if sum(widest) <= room and max(map(len, columns[0])) > 0:
        assert widths == widest
    if widths is None:
        return
    assert sum(widths) <= room
    for width, wide, may in zip(widths, widest, wraps, strict=True):
        assert width == wide or (may and width < wide)


def test_the_widest_column_gives_way_first() -> None:
    columns = [["code", "NO_DRAFTS"], ["n", "12"], ["message", "word " * 20]]
    assert fitting(columns, [True, False, True], 40) == [9, 2, 29]
    assert fitting(columns, [True, False, True], 36) == [9, 2, 25]
    # A row of twelve lines is longer than a block of three.
    assert fitting(columns, [True, False, True], 20) is None


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
