"""Blocks of rows become one Arrow table, whatever of a column each block holds."""

import numpy as np
import pyarrow as pa

from reports.rows.columns import Columns
from reports.schema import TABLE
from traces.coded import Coded
from traces.partial import Partial

KEY = {"run": "r", "path": "candidate", "arm": "main", "session": "s", "turn": "t", "attempt": 0}


def test_blocks_follow_each_other() -> None:
    columns = Columns("tokens")
    columns.add(
        2,
        KEY,
        {
            "token_index": np.arange(2),
            "id": Partial(np.array([7, 0]), np.array([True, False])),
            "text": ["a", None],
            "label": Coded(np.array([1, -1], np.int8), ("code", "prose")),
        },
    )
    columns.add(1, {**KEY, "turn": "u"}, {"token_index": np.arange(1), "text": ["a"]})
    columns.add(1, KEY, {"token_index": np.arange(1), "label": Coded(np.array([0]), ("prose",))})
    found = columns.table().to_pydict()
    assert found["turn"] == ["t", "t", "u", "t"]
    assert found["attempt"] == [0, 0, 0, 0]
    assert found["token_index"] == [0, 1, 0, 0]
    assert found["id"] == [7, None, None, None]
    assert found["text"] == ["a", None, "a", None]
    assert found["label"] == ["prose", None, None, "prose"]
    assert found["logprob"] == [None] * 4


def test_a_table_without_rows_has_every_column() -> None:
    found = Columns("draft_positions").table()
    assert (found.num_rows, found.column_names) == (0, list(TABLE["draft_positions"].names))


def test_numbers_have_the_types_of_the_store() -> None:
    columns = Columns("steps")
    columns.add(1, KEY, {"step": np.array([1]), "drafted": np.array([3], np.int32)})
    kinds = columns.table().schema
    assert (kinds.field("step").type, kinds.field("drafted").type) == (pa.int32(), pa.uint8())
