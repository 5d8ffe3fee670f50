"""What is fed with inputs, and from which examples it starts.

A target takes any bytes. Errors for a user (`DraftgateError`) are answers; every other exception is
a fault, and so is an `AssertionError` of a target that has a rule of its own.
"""

import contextlib
import json
import os
import tempfile
import tomllib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from unittest.mock import patch

import orjson
import zstandard

import traces.importing.importer as importer
from checks.cases.judge import judge_case
from draftgate.config.file import read_config
from reports.sql.sql import ask, open_sealed
from reports.store.store import Store
from tests.support.cases import KINDS, TRIALS
from tests.support.spellings.conversation import conversations
from tests.support.spellings.every import SPELLINGS
from tests.support.synthetic_run import synthetic_run
from traces.boundaries.families import FAMILIES
from traces.boundaries.labeller import LOOK_BACK, Labeller
from traces.cases.case import parse_case
from traces.errors import DraftgateError
from traces.importing.importer import import_files
from traces.journal.exchange import exchange_of
from traces.journal.journal import JournalReader
from traces.readers.registry import READERS
from traces.redaction.redaction import Redactor
from traces.wire.capture import Capture, CaptureKey
from traces.wire.reassembly import response_of

ROOT = Path(__file__).resolve().parents[3]

LONGEST = 1 << 14
"""Bytes of an example at most; longer ones are left out."""

KEY = CaptureKey("run", "candidate", "main", "s", "t")


@dataclass(frozen=True, slots=True)
class Target:
    """`feed` takes one input, `examples` gives some that are sound."""

    feed: Callable[[bytes], object]
    examples: Callable[[], Iterator[bytes]]


def _stream(data: bytes) -> None:
    """A stream, whole and in reads as long as its first byte says: both must say the same."""
    length, body = 1 + (data[0] if data else 0), data[1:]
    cut = [body[at : at + length] for at in range(0, len(body), length)]
    whole, parts = (response_of(_capture(reads)) for reads in ([body], cut))
    for name in ("content", "reasoning", "tool_calls", "finish_reason", "usage", "malformed"):
        assert repr(getattr(whole, name)) == repr(getattr(parts, name)), f"{name} differ"


def _capture(reads: list[bytes]) -> Capture:
    events: list[tuple[float, str | bytes]] = []
    for read in reads:
        try:
            events.append((1.0, read.decode()))
        except UnicodeDecodeError:
            events.append((1.0, read))
    return Capture(KEY, {"messages": []}, 200, 0.0, tuple(events), "closed")


def _streams() -> Iterator[bytes]:
    for file in (*KINDS, *TRIALS):
        for scenario in json.loads(file.read_text("utf-8"))["scenarios"]:
            chunks = (scenario.get("candidate") or {}).get("chunks") or []
            text = "".join(f"data: {json.dumps(chunk)}\n\n" for chunk in chunks)
            yield b"\x10" + f": ping\r\n\r\n{text}data: [DONE]\n\n".encode()


def _recording(data: bytes) -> None:
    """A file in the format that its first byte says; 255: it is recognized."""
    number, body = (data[0] if data else 0), data[1:]
    file = _scratch() / "recording"
    file.write_bytes(body)
    name = None if number == 255 else READERS[number % len(READERS)].format
    with patch.object(importer, "UNFORESEEN", ()):  # caught for a user's sake; must be seen here
        for found in import_files([file], format=name):
            for session in found.sessions:
                assert session.session_id
            json.dumps(found.as_json())


def _recordings() -> Iterator[bytes]:
    numbers = {reader.format: number for number, reader in enumerate(READERS)}
    for file in sorted((ROOT / "tests" / "recordings").rglob("*")):
        if file.is_file() and file.parent.name in numbers:
            yield bytes([numbers[file.parent.name]]) + file.read_bytes()
            yield b"\xff" + file.read_bytes()
    for spelling in SPELLINGS.values():
        yield bytes([numbers[spelling.format]]) + spelling.write(conversations(1, 1, 2))


def _labels(data: bytes) -> None:
    """A model's output of the family that its first byte says: the labels tile the text."""
    number, text = (data[0] if data else 0), data[1:].decode("utf-8", "replace")
    name = sorted(FAMILIES)[number % len(FAMILIES)]
    whole = Labeller(name, TOOLS)
    spans = [*whole.feed(text), *whole.close()]
    places = [0, *(span.end for span in spans)]
    assert [span.start for span in spans] == places[:-1], "labels leave a gap"
    assert places[-1] == len(text), "labels end before the text"
    one = Labeller(name, TOOLS)
    streamed = []
    for character in text[: 4 * LOOK_BACK]:
        streamed += one.feed(character)
        assert one.held <= LOOK_BACK, "more is held back than may be"


def _outputs() -> Iterator[bytes]:
    for number, name in enumerate(sorted(FAMILIES)):
        for text in OUTPUTS:
            yield bytes([number]) + text.encode()
        modes = FAMILIES[name].modes
        tags = [tag for mode in modes.values() for tag in mode.tags]
        yield bytes([number]) + 'ls {"a": 1}'.join(sorted(set(tags))).encode()


def _redacted(data: bytes) -> None:
    """A text, and as JSON where it is some: it must be JSON afterwards."""
    text = data.decode("utf-8", "replace")
    Redactor()(text)
    try:
        orjson.loads(text)
    except orjson.JSONDecodeError:
        return
    orjson.loads(Redactor().json_text(text))


def _secrets() -> Iterator[bytes]:
    folder = ROOT / "tests" / "support" / "sessions"
    for file in sorted(folder.glob("labelled_secrets*.jsonl")):
        yield from file.read_bytes().splitlines()


def _case(data: bytes) -> None:
    for scenario in judge_case(parse_case(data, "x.case.json"), "x.case.json"):
        json.dumps(scenario.judgement.codes)


def _cases() -> Iterator[bytes]:
    for file in (*KINDS, *TRIALS):
        case = json.loads(file.read_text("utf-8"))
        for scenario in case["scenarios"]:
            yield json.dumps({**case, "scenarios": [scenario]}).encode()


def _config(data: bytes) -> None:
    file = _scratch() / "draftgate.toml"
    file.write_bytes(data)
    read_config(file)


def _configs() -> Iterator[bytes]:
    for file in sorted(ROOT.glob("*.toml")):
        if file.name != "pyproject.toml":
            yield file.read_bytes()
    page = (ROOT / "docs" / "configuration.md").read_text("utf-8")
    for block in page.split("```toml\n")[1:]:
        text = block.partition("```")[0]
        tomllib.loads(text)
        yield text.encode()


def _question(data: bytes) -> None:
    """SQL of a user: nothing in the store's folder changes, and no file appears."""
    store, folder = _store(), _scratch() / "sealed"
    try:
        with contextlib.chdir(folder):
            ask(store, data.decode("utf-8", "replace"), limit=20)
    finally:
        assert sorted(os.listdir(folder)) == ["store.duckdb"], "a question wrote a file"


@cache
def _store() -> Store:
    folder = _scratch() / "sealed"
    folder.mkdir()
    with Store.open(folder / "store.duckdb", write=True) as store:
        store.load(synthetic_run("r1", tokens=50))
    return open_sealed(folder / "store.duckdb")


def _questions() -> Iterator[bytes]:
    for file in sorted((ROOT / "reports" / "sql" / "queries").glob("*.sql")):
        yield file.read_bytes().replace(b"$run", b"'r1'")
    yield from (text.encode() for text in ESCAPES)


def _journal(data: bytes) -> None:
    """The bytes of a journal; behind a zero byte, lines that are framed first."""
    file = _scratch() / "candidate-main-0.jsonl.zst"
    if data[:1] == b"\0":
        frames = [zstandard.compress(line) for line in data[1:].splitlines(keepends=True)]
        data = b"".join(frames)
    file.write_bytes(data)
    for capture in JournalReader(file):
        exchange_of(capture)


def _journals() -> Iterator[bytes]:
    from traces.journal.capture_record import encode_record

    for stream in _streams():
        line = encode_record(_capture([stream[1:]]))
        yield b"\0" + line
        yield zstandard.ZstdCompressor(write_checksum=True).compress(line) * 2


@cache
def _scratch() -> Path:
    """A folder in memory where there is one; it goes with the process."""
    memory = Path("/dev/shm")
    folder = tempfile.TemporaryDirectory(prefix="fuzz-", dir=memory if memory.is_dir() else None)
    _KEPT.append(folder)
    return Path(folder.name)


_KEPT: list[tempfile.TemporaryDirectory[str]] = []

TOOLS = [
    {
        "type": "function",
        "function": {
            "name": "ls",
            "parameters": {"type": "object", "properties": {"a": {"type": "integer"}}},
        },
    }
]

OUTPUTS = (
    '<think>hm</think>I look.\n<tool_call>\n{"name": "ls", "arguments": {"a": 12}}\n</tool_call>',
    "```python\nprint(1)\n```\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-1\n+2\n",
    "<function=ls>\n<parameter=a>\n12\n</parameter>\n</function>[ls(a=1, b=[2, 'x'])]",
)

ESCAPES = (
    "copy runs to 'x.csv'",
    "select * from read_csv('/etc/passwd')",
    "select * from 'x.parquet'",
    "install httpfs",
    "attach 'y.duckdb'",
    "select getenv('HOME')",
    "set enable_external_access = true",
    "export database 'z'",
    "pragma database_list",
    "select * from read_text('/etc/hostname')",
    "with a as (select 1) select * from a",
)

TARGETS = {
    "streams": Target(_stream, _streams),
    "recordings": Target(_recording, _recordings),
    "labels": Target(_labels, _outputs),
    "redaction": Target(_redacted, _secrets),
    "cases": Target(_case, _cases),
    "configs": Target(_config, _configs),
    "questions": Target(_question, _questions),
    "journals": Target(_journal, _journals),
}

ALLOWED = (DraftgateError,)
