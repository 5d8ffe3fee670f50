"""Hostile and damaged files of every format: no traceback, no endless loop, no row lost."""

import gzip
import json
import random
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import zstandard

from tests.support.sessions.invariants import check_file
from tests.support.spellings import SPELLINGS, conversations
from traces.importing.importer import ImportedFile, import_files
from traces.readers.files import bounded_lines
from traces.redaction.redaction import Redactor
from traces.redaction.session import redacted_session
from traces.session.file import session_lines
from traces.session.session import Session

BINARY = {"chat-parquet", "crush-db", "goose-db", "inspect-eval", "opencode-db"}
TEXT = {"aider", "aider-llm", "vllm-log"}


@cache
def spelled(name: str) -> bytes:
    """A small recording in a format."""
    return SPELLINGS[name].write(conversations(3, 2, 5))


def imported(folder: Path, content: bytes) -> tuple[ImportedFile, list[Session]]:
    """What is read of a file with that content, checked, written and redacted."""
    path = folder / "recording"
    path.write_bytes(content)
    (file,) = import_files([path])
    sessions = list(file.sessions)
    if file.format is not None:
        check_file(file, sessions)
    redact = Redactor()
    for session in sessions:
        assert all(line.endswith(b"\n") for line in session_lines(session))
        redacted_session(session, redact)
    return file, sessions


def changed(data: bytes, change: Callable[[Any], Any]) -> bytes:
    """Every JSON value of a file changed; text between them is left as it is."""
    try:
        return json.dumps(change(json.loads(data))).encode()
    except ValueError:
        rows = data.split(b"\n")
    return b"\n".join(_changed_row(row, change) for row in rows)


def _changed_row(row: bytes, change: Callable[[Any], Any]) -> bytes:
    start = row.find(b"{")
    try:
        value = json.loads(row[start:])
    except ValueError:
        return row
    return row[:start] + json.dumps(change(value)).encode()


def strings(value: Any, change: Callable[[str], Any]) -> Any:
    """A value with its longer strings changed."""
    if isinstance(value, dict):
        return {key: strings(inner, change) for key, inner in value.items()}
    if isinstance(value, list):
        return [strings(inner, change) for inner in value]
    return change(value) if isinstance(value, str) and len(value) > 40 else value


def nested(depth: int) -> Any:
    value: Any = "x"
    for level in range(depth):
        value = [value] if level % 2 else {"text": value, "content": value, "type": "text"}
    return value if depth < 30 else [value]


def chain(depth: int) -> Any:
    value: Any = "x"
    for level in range(depth):
        value = [value] if level % 2 else {"input": value}
    return value


def same_ids(value: Any) -> Any:
    """Every id is the same, so that parents lead in a circle."""
    if isinstance(value, dict):
        return {
            key: "one" if key.lower().endswith(("id", "uuid")) and inner else same_ids(inner)
            for key, inner in value.items()
        }
    return [same_ids(inner) for inner in value] if isinstance(value, list) else value


def numbers(value: Any) -> Any:
    """Numbers too large for any counter, and some that are none."""
    if isinstance(value, dict):
        return {key: numbers(inner) for key, inner in value.items()} | {"tokens": 10**400}
    if isinstance(value, list):
        return [numbers(inner) for inner in value]
    if isinstance(value, bool) or not isinstance(value, int):
        return value
    return 10**30 if value % 2 else float("nan")


DAMAGES: dict[str, Callable[[bytes], bytes]] = {
    "torn in the middle": lambda data: data[: len(data) // 2],
    "torn tail": lambda data: data[:-7],
    "a NUL byte": lambda data: data[:900] + b"\0" + data[900:],
    "NUL bytes at the end": lambda data: data + b"\0" * 4096,
    "invalid UTF-8": lambda data: data.replace(b"the", b"\xff\xfe"),
    "everything twice": lambda data: data + b"\n" + data,
    "glued without a newline": lambda data: data + data,
    "a byte order mark": lambda data: b"\xef\xbb\xbf" + data,
    "carriage returns": lambda data: data.replace(b"\n", b"\r\n"),
    "garbage before": lambda data: b"not json at all {\n" + data,
    "deep nesting in a row": lambda data: data + b"\n" + b"[" * 100_000 + b"\n" + data,
    "deep nesting first": lambda data: b'{"a":' * 100_000 + b"\n" + data,
    "line separators": lambda data: changed(
        data, lambda v: strings(v, lambda s: s.replace(" ", "\u2028"))
    ),
    "half a surrogate": lambda data: changed(data, lambda v: strings(v, lambda s: s + "\ud800")),
    "objects for strings": lambda data: changed(data, lambda v: strings(v, lambda s: {"x": s})),
    "lists for strings": lambda data: changed(data, lambda v: strings(v, lambda s: [s, None, 1])),
    "nothing for strings": lambda data: changed(data, lambda v: strings(v, lambda s: None)),
    "strings nested 25 deep": lambda data: changed(
        data, lambda v: strings(v, lambda s: nested(12))
    ),
    "strings nested 300 deep": lambda data: changed(
        data, lambda v: strings(v, lambda s: chain(300))
    ),
    "strings nested 900 deep": lambda data: changed(
        data, lambda v: strings(v, lambda s: chain(900))
    ),
    "one id for all": lambda data: changed(data, same_ids),
    "impossible numbers": lambda data: changed(data, numbers),
}  # fmt: skip


OF_BYTES = ("torn in the middle", "torn tail", "a NUL byte")
"""Damages that any file can have; the others are of text."""


@pytest.mark.parametrize(
    ("name", "damage"),
    [(n, d) for n in SPELLINGS for d in DAMAGES if n not in BINARY or d in OF_BYTES],
)
def test_damage(tmp_path: Path, name: str, damage: str) -> None:
    imported(tmp_path, DAMAGES[damage](spelled(name)))


@pytest.mark.parametrize("name", SPELLINGS)
def test_an_undamaged_file_is_read_whole_and_the_same_way_again(tmp_path: Path, name: str) -> None:
    file, sessions = imported(tmp_path, spelled(name))
    assert file.format == SPELLINGS[name].format
    assert sessions
    assert file.skipped.keys().isdisjoint({"not_json", "torn_tail", "unaccounted"})
    written = [line for session in sessions for line in session_lines(session)]
    _, again = imported(tmp_path, spelled(name))
    assert [line for session in again for line in session_lines(session)] == written
    _, copied = imported(tmp_path, b"".join(written))
    assert [line for session in copied for line in session_lines(session)] == written


OF_LINES = [
    name
    for name in sorted(SPELLINGS.keys() - BINARY - TEXT)
    if len(spelled(name).rstrip(b"\n").split(b"\n")) > 1
]
"""Formats that are more than one JSON value."""


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("name", OF_LINES)
def test_a_bad_line_costs_one_row(tmp_path: Path, name: str, seed: int) -> None:
    rows = spelled(name).rstrip(b"\n").split(b"\n")
    whole, sessions = imported(tmp_path, spelled(name))
    place = random.Random(seed).randrange(1, len(rows))
    bad = [*rows[:place], rows[place][: len(rows[place]) // 2] + b"\\", *rows[place:]]
    file, more = imported(tmp_path, b"\n".join(bad))
    own = name == "draftgate"
    assert file.ledger.rows == whole.ledger.rows + 1
    assert file.skipped == {**whole.skipped, "not_canonical" if own else "not_json": 1}
    assert [len(session.turns) for session in more] == [len(s.turns) for s in sessions]
    torn, _ = imported(tmp_path, b"\n".join([*rows, rows[-1][:-9]]))
    assert torn.ledger.rows == whole.ledger.rows + 1
    assert torn.skipped == {**whole.skipped, "not_canonical" if own else "torn_tail": 1}


def twice(value: Any) -> str:
    """JSON in which every key of an object stands twice, first with another value."""
    if isinstance(value, dict):
        pairs = (f"{json.dumps(k)}: 7, {json.dumps(k)}: {twice(v)}" for k, v in value.items())
        return "{" + ", ".join(pairs) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(twice, value)) + "]"
    return json.dumps(value)


@pytest.mark.parametrize("name", sorted(SPELLINGS.keys() - BINARY - TEXT - {"draftgate"}))
def test_of_a_key_that_stands_twice_the_last_counts(tmp_path: Path, name: str) -> None:
    rows = [row for row in spelled(name).split(b"\n") if row]
    whole, sessions = imported(tmp_path, spelled(name))
    doubled = "\n".join(twice(json.loads(row)) for row in rows)
    file, more = imported(tmp_path, doubled.encode())
    assert file.counts == whole.counts
    assert [list(session.messages) for session in more] == [list(s.messages) for s in sessions]


@pytest.mark.parametrize("name", SPELLINGS)
def test_a_torn_archive_gives_what_comes_before_the_damage(tmp_path: Path, name: str) -> None:
    noise = random.Random(1).randbytes(300_000).hex().encode()
    for packed in (
        gzip.compress(spelled(name)),
        zstandard.ZstdCompressor().compress(spelled(name)),
        gzip.compress(spelled(name) + b"\n" + noise),
    ):
        for size in (0, 1, 5, len(packed) // 2, len(packed) - 3):
            imported(tmp_path, packed[:size])


def test_a_line_longer_than_memory_costs_one_row(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bounded_lines, "MAX_LINE_BYTES", 50_000)
    rows = spelled("claude-code").rstrip(b"\n").split(b"\n")
    bomb = b'{"type":"' + b"x" * 1_000_000 + b'"}'
    whole, _ = imported(tmp_path, b"\n".join(rows))
    file, _ = imported(tmp_path, gzip.compress(b"\n".join([rows[0], bomb, *rows[1:]])))
    assert file.counts == whole.counts
    assert file.skipped == {**whole.skipped, "too_long": 1}


@pytest.mark.parametrize("name", sorted(SPELLINGS.keys() - BINARY))
def test_a_text_of_two_megabytes(tmp_path: Path, name: str) -> None:
    first = iter([True])

    def longer(text: str) -> str:
        return "long words " * 200_000 if next(first, False) else text

    data = changed(spelled(name), lambda value: strings(value, longer))
    imported(tmp_path, data if len(data) > 2_000_000 else data + b"x " * 1_000_000)


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\n\n\n",
        b"\0" * 10_000,
        b"{",
        b"[",
        b"[]",
        b"{}",
        b"null",
        b'""',
        b"[" * 200_000,
        b'{"messages":' * 5_000,
        b"[[],[],[]]",
        b"1 " * 100_000,
        b'{"a":1}' * 20_000,
        b"SQLite format 3\0",
        b"PAR1",
        b"PAR1" + b"\xff" * 5_000 + b"PAR1",
        b"\x1f\x8b",
        b"\x28\xb5\x2f\xfd",
        b"\xff\xfe" + "{}".encode("utf-16-le"),
        random.Random(0).randbytes(100_000),
        b'{"llm.input_messages.%s.message.role":"user"}' % (b"9" * 5_000),
        b'{"name":"x","attributes":{"llm.input_messages.%s.message.role":"user"}}' % (b"9" * 5_000),
    ],
)
def test_files_of_nothing_in_particular(tmp_path: Path, content: bytes) -> None:
    file, sessions = imported(tmp_path, content)
    assert sessions == []
    assert file.reason


@pytest.mark.parametrize("depth", [100, 300, 900, 5_000])
def test_depth_in_the_corners_of_a_request(tmp_path: Path, depth: int) -> None:
    deep = "{" + '"a":{' * depth + "}" * depth + "}"
    tool = f'{{"type":"function","function":{{"name":"f","parameters":{deep}}}}}'
    call = json.dumps([{"id": "c", "function": {"name": "f", "arguments": deep}}])
    said = f'[{{"role":"user","content":"x"}},{{"role":"assistant","tool_calls":{call}}}]'
    row = (
        f'{{"request":{{"model":"m","messages":{said},"tools":[{tool}],"tool_choice":{deep},'
        f'"response_format":{deep}}},"response":{{"choices":[{{"message":{{"content":"y"}}}}]}}}}'
    )
    file, sessions = imported(tmp_path, row.encode() + b"\n" + row.encode())
    assert sum(len(session.turns) for session in sessions) == (0 if depth > 1_000 else 2)
    assert file.ledger.rows == (0 if depth > 1_000 else 2)
