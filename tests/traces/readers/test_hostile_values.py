"""One value of a recording replaced by another one, of whatever type, at any level: nothing breaks,
every row stays accounted for, and what is left can be written, redacted and inspected."""

import json
import tempfile
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.support.sessions.at_hand import recordings
from tests.support.sessions.invariants import check_file
from tests.support.spellings import SPELLINGS, conversations
from traces.importing.importer import ImportedFile, import_files
from traces.importing.inspection import inspect_file
from traces.redaction.redaction import Redactor
from traces.redaction.session import redacted_session
from traces.session.file import session_lines

MAX_BYTES = 40_000
NO_JSON = {
    "chat-parquet",
    "crush-db",
    "goose-db",
    "inspect-eval",
    "opencode-db",
    "aider",
    "aider-llm",
    "vllm-log",
}

Place = tuple[str | int, ...]


def nested(depth: int) -> Any:
    value: Any = "x"
    for level in range(depth):
        value = [value] if level % 2 else {"input": value}
    return value


ODD: tuple[Any, ...] = (
    None, 7, -1, 1.5, 10**30, True, "", "odd", "nul \0", "half \ud800", [], {}, [[["a"]]],
    ["a", None, 1, {"b": []}], {"a": {"b": [1]}}, nested(25), nested(150), nested(400),
)  # fmt: skip


def parsed(data: bytes) -> list[Any] | None:
    """The rows of JSON Lines, or the one value of a document; None if it is neither."""
    try:
        return [json.loads(data)]
    except ValueError:
        pass
    try:
        return [json.loads(row) for row in data.split(b"\n") if row.strip()]
    except ValueError:
        return None


@cache
def samples() -> dict[str, list[Any]]:
    """Made-up conversations in every spelling, and the smaller recordings at hand."""
    found = {
        name: SPELLINGS[name].write(conversations(3, 1, 3)) for name in SPELLINGS.keys() - NO_JSON
    }
    for file in recordings("*/**/*"):
        if file.stat().st_size < MAX_BYTES:
            found[str(file)] = file.read_bytes()
    rows = {name: parsed(data) for name, data in sorted(found.items())}
    return {name: values for name, values in rows.items() if values}


def places(value: Any, before: Place = ()) -> Iterator[Place]:
    yield before
    inside = value.items() if isinstance(value, dict) else ()
    for key, inner in enumerate(value) if isinstance(value, list) else inside:
        yield from places(inner, (*before, key))


@cache
def kinds_of_places(name: str) -> list[Place]:
    """A place of each kind: those that differ in their numbers alone are one kind."""
    found = {
        tuple("*" if isinstance(step, int) else step for step in place): place
        for row, value in enumerate(samples()[name])
        for place in places(value, (row,))
    }
    return list(found.values())


def put(value: Any, place: Place, new: Any) -> Any:
    if not place:
        return new
    pairs = value.items() if isinstance(value, dict) else enumerate(value)
    changed = {k: put(v, place[1:], new) if k == place[0] else v for k, v in pairs}
    return changed if isinstance(value, dict) else list(changed.values())


def check(rows: list[Any]) -> ImportedFile:
    redact = Redactor()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "recording"
        path.write_bytes(b"".join(json.dumps(row).encode() + b"\n" for row in rows))
        (file,) = import_files([path])
        sessions = list(file.sessions)
        if file.format is not None:
            check_file(file, sessions)
        for session in sessions:
            assert list(session_lines(session))
            assert list(session_lines(redacted_session(session, redact)))
        (again,) = import_files([path])
        json.dumps(inspect_file(again).as_json())
    return file


@settings(max_examples=120, deadline=None, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_any_value_anywhere(data: st.DataObject) -> None:
    name = data.draw(st.sampled_from(list(samples())))
    place = data.draw(st.sampled_from(kinds_of_places(name)))
    rows = samples()[name]
    file = check(put(rows, place, data.draw(st.sampled_from(ODD))))
    if len(rows) > 1 and file.format is not None and file.format != "otel":
        assert file.ledger.rows == len(rows)


@pytest.mark.parametrize("depth", [150, 400])
@pytest.mark.parametrize("key", ["history", "messages", "trajectory", "events", "steps", "content"])
def test_a_list_nested_deep_in_any_place_is_a_file_of_no_format(
    tmp_path: Path, key: str, depth: int
) -> None:
    """No reader follows it to the end of Python's stack while formats are compared."""
    file = tmp_path / "recording.json"
    file.write_text(f'{{"{key}": [{"[" * depth}{"]" * depth}]}}')
    (found,) = import_files([file])
    assert list(found.sessions) == []
    assert found.reason is not None
    assert "no reader foresaw" not in found.reason
