"""The pages in docs/formats keep up with the readers and the schema."""

import json
import re
from pathlib import Path

import jsonschema
import pytest
from recordings import claude, lines, read

from traces.readers.registry import READERS
from traces.session_file import session_lines
from traces.session_schema import json_schema


@pytest.mark.parametrize("name", sorted(reader.format for reader in READERS))
def test_every_format_has_a_page(root: Path, name: str) -> None:
    pages = root / "docs" / "formats"
    if (pages / f"{name}.md").exists():
        return
    assert f"`{name}`" in (pages / "unsupported.md").read_text()


CODE = re.compile(
    r'warn\(\s*"(\w+)"|mended\.append\("(\w+)"|^[A-Z_]+ = "([a-z]+(?:_[a-z0-9]+)+)"$', re.M
)
REASONS = {"no_user_message", "summary_prompt_not_recorded", "response_empty"}
"""Why a turn cannot be replayed: on the page of its format, or above the table."""


def test_every_warning_is_explained(root: Path) -> None:
    page = (root / "docs" / "formats" / "README.md").read_text()
    files = [*(root / "traces" / "readers").glob("*.py"), root / "traces" / "importer.py"]
    codes = {code for file in files for match in CODE.findall(file.read_text()) for code in match}
    assert {"split_record", "glued_records", "second_result_dropped"} <= codes
    assert {code for code in codes - {""} if f"`{code}`" not in page} <= REASONS


def test_the_published_schema_is_the_one_in_use(root: Path) -> None:
    published = json.loads((root / "docs" / "formats" / "session.schema.json").read_text())
    assert published == json_schema()


def test_written_sessions_fit_the_schema(root: Path, tmp_path: Path) -> None:
    _, (session,) = read(
        tmp_path,
        lines(claude("user", "u1", None, "go"), claude("assistant", "a1", "u1", "x", message="m")),
    )
    schema = json.loads((root / "docs" / "formats" / "session.schema.json").read_text())
    validator = jsonschema.Draft202012Validator(schema)
    records = [json.loads(line) for line in session_lines(session)]
    assert len(records) == 4
    for record in records:
        validator.validate(record)
