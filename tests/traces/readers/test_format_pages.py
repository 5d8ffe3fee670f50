"""The pages in docs/formats keep up with the readers and the schema."""

import json
from pathlib import Path

import jsonschema
import pytest

from tests.support.sessions.recordings import claude, lines, read
from traces.readers.registry import READERS
from traces.session.file import session_lines
from traces.session.schema import json_schema


@pytest.mark.parametrize("name", sorted(reader.format for reader in READERS))
def test_every_format_has_a_page(root: Path, name: str) -> None:
    pages = root / "docs" / "formats"
    if (pages / f"{name}.md").exists():
        return
    assert f"`{name}`" in (pages / "unsupported.md").read_text()


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
