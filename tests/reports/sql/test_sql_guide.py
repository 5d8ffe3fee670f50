"""docs/sql.md says what the store holds."""

import re
from pathlib import Path

import pytest

from reports.schema import TABLES
from reports.sql.query import queries
from reports.store.view import views
from tests.support.sample_guide import sample_guide


@pytest.fixture(scope="module")
def guide(root: Path) -> str:
    return (root / "docs" / "sql.md").read_text(encoding="utf-8")


def test_the_guide_is_up_to_date(guide: str) -> None:
    assert guide == sample_guide(), "write it again: python tools/sql_guide.py"


def test_every_table_view_column_and_query_is_in_the_guide(guide: str) -> None:
    found = re.findall(r"^### (\w+)\n(.*?)(?=^##|\Z)", guide, re.DOTALL | re.MULTILINE)
    parts: dict[str, str] = {}
    for name, text in found:
        parts[name] = parts.get(name, "") + text
    for table in TABLES:
        assert table.comment in parts[table.name]
        for column in table.columns:
            assert f"| {column.name} | {column.type}" in parts[table.name], column.name
    for item in (*views(), *queries().values()):
        assert item.comment in parts[item.name]
        for name, meaning in item.columns.items():
            assert f"| {name} | {meaning} |" in parts[item.name], (item.name, name)
