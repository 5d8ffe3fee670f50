"""Answers that group: rows that differ in a number alone are one row, with totals beside them."""

from collections.abc import Iterator

import pytest

from reports.sql.query import answer
from reports.store.store import Store
from tests.support.synthetic_run import synthetic_run


@pytest.fixture
def store() -> Iterator[Store]:
    with Store.in_memory() as store:
        store.load(synthetic_run("good", tokens=200))
        yield store


def test_turns_left_out_for_like_reasons_are_one_row(store: Store) -> None:
    store.connection.execute(
        "update turns set skip_reason = 'the prompt has ' || context_tokens || ' tokens, the "
        "server''s context 16,384' where not replayable"
    )
    (row,) = answer(store, "skipped").rows.to_pylist()
    assert row["skip_reason"] == "the prompt has N tokens, the server's context N"
    assert row["turns"] == row["sessions"] == 6


def test_failures_of_a_tool_are_grouped_by_reason_beside_all_its_calls(store: Store) -> None:
    calls = "select count(*) from tool_calls where path = ? and name = 'read_file' and arm = 'main'"
    total = {
        path: store.connection.execute(calls, [path]).fetchone()
        for path in ("baseline", "candidate")
    }
    store.connection.execute("update tool_calls set problem = null")
    store.connection.execute(
        "update tool_calls set problem = 'at character ' || rowid || ': Expecting a comma' "
        "where path = 'candidate' and name = 'read_file'"
    )
    store.connection.execute(
        "update tool_calls set problem = '''f' || rowid || '.py'' is not of type ''array''; "
        "''path'' is a required property' where path = 'baseline' and name = 'read_file'"
    )
    first, second = answer(store, "tool_failures").rows.to_pylist()
    assert first["problem"] == "at character N: Expecting a comma"
    assert second["problem"] == "… is not of type 'array'; 'path' is a required property"
    for row in (first, second):
        assert (row["baseline_calls"],) == total["baseline"]
        assert (row["candidate_calls"],) == total["candidate"]
    assert (first["candidate"], first["baseline"]) == (first["candidate_calls"], 0)
    assert (second["candidate"], second["baseline"]) == (0, second["baseline_calls"])
