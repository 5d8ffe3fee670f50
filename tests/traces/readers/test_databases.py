"""Sessions in SQLite databases: made-up ones, the smallest that have each irregularity."""

import gzip
import json
import sqlite3
from collections.abc import Iterable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from tests.support.sessions.invariants import check_file
from tests.support.sessions.recordings import texts
from tests.support.spellings import SPELLINGS, conversations
from tests.support.spellings.databases import CRUSH
from traces.importing.importer import ImportedFile, import_files
from traces.readers.formats.opencode.log import CLEARED, SUMMARIZED
from traces.session.render import NO_RESULT, chat_request
from traces.session.session import Session

OPENCODE = """
    create table session (id text primary key, parent_id text, directory text, version text,
        time_created integer);
    create table message (id text primary key, session_id text, time_created integer, data text);
    create table part (id text primary key, message_id text, session_id text, data text);
    create table session_message (id text primary key, session_id text, type text, seq integer,
        time_created integer, data text);
"""
GOOSE = """
    create table sessions (id text primary key, working_dir text, created_at timestamp,
        model_config_json text, parent_session_id text);
    create table messages (id integer primary key, message_id text, session_id text, role text,
        content_json text, created_timestamp integer, metadata_json text);
"""


def database(folder: Path, schema: str, rows: Iterable[tuple[str, dict[str, Any]]]) -> Path:
    """A database with those rows; values that are no scalars are stored as JSON."""
    path = folder / "recording"
    path.unlink(missing_ok=True)
    connection = sqlite3.connect(path)
    connection.executescript(schema)
    for table, row in rows:
        values = [json.dumps(v) if isinstance(v, dict | list) else v for v in row.values()]
        names, marks = ", ".join(row), ", ".join("?" * len(row))
        connection.execute(f"insert into {table} ({names}) values ({marks})", values)
    connection.commit()
    connection.close()
    return path


def read(path: Path) -> tuple[ImportedFile, list[Session]]:
    (file,) = import_files([path])
    sessions = list(file.sessions)
    check_file(file, sessions)
    return file, sessions


def prompts(session: Session) -> list[list[str]]:
    return [texts(chat_request(session, turn)["messages"]) for turn in session.turns]


def message(name: str, role: str, session: str = "ses_1", **more: Any) -> tuple[str, Any]:
    """A row of opencode's older message table."""
    row = {"id": name, "session_id": session, "time_created": 1, "data": {"role": role, **more}}
    return "message", row


def part(name: str, kind: str, session: str = "ses_1", **more: Any) -> tuple[str, Any]:
    """A row of opencode's part table; the name begins with that of its message."""
    row = {"id": name, "message_id": name[:2], "session_id": session}
    return "part", {**row, "data": {"type": kind, **more}}


def tool(name: str, call: str, status: str, **more: Any) -> tuple[str, Any]:
    state = {"status": status, "input": {"command": "ls"}, **more}
    return part(name, "tool", callID=call, tool="bash", state=state)


def session_row(name: str, at: int, parent: str | None = None) -> tuple[str, Any]:
    row = {"id": name, "parent_id": parent, "directory": "/p", "version": "1.2"}
    return "session", {**row, "time_created": at}


def test_opencode_messages_and_parts(tmp_path: Path) -> None:
    file, (first, second) = read(
        database(
            tmp_path,
            OPENCODE,
            [
                session_row("ses_2", 2, parent="ses_1"),
                session_row("ses_1", 1),
                message("m1", "user"),
                part("m1a", "text", text="go"),
                message("m2", "assistant", modelID="m-1", finish="tool-calls"),
                part("m2a", "step-start"),
                part("m2b", "text", text="Look."),
                tool("m2c", "c1", "completed", output="a.txt", time={"start": 5, "end": 9}),
                tool("m2d", "c2", "running"),
                part("m2e", "step-finish", reason="tool-calls", tokens={"input": 7, "output": 3}),
                message("m3", "assistant", error={"name": "MessageAbortedError"}),
                message("m4", "assistant"),
                part("m4a", "text", text="end"),
                message("n1", "user", "ses_2"),
                part("n1a", "text", "ses_2", text="sub"),
                message("n2", "assistant", "ses_2"),
                part("n2a", "text", "ses_2", text="done"),
            ],
        )
    )
    assert file.format == "opencode"
    assert (first.session_id, second.session_id) == ("ses_1", "ses_2")
    assert second.parent is not None
    assert second.parent.session_id == "ses_1"
    assert (first.cwd, first.source.tool_version) == ("/p", "1.2")
    assert file.skipped == {"response_MessageAbortedError": 1}
    assert file.ledger.rows == 6
    assert prompts(first)[1] == [
        "user: go",
        "assistant: Look.",
        "tool: a.txt",
        f"tool: {NO_RESULT}",
    ]
    assert first.turns[0].usage is not None
    assert first.turns[0].usage.completion == 3
    assert first.turns[0].shells[0].duration_ms == 4
    assert first.turns[1].rows == (4,)


def test_opencode_after_a_compaction(tmp_path: Path) -> None:
    file, (session,) = read(
        database(
            tmp_path,
            OPENCODE,
            [
                session_row("ses_1", 1),
                message("m1", "user"),
                part("m1a", "text", text="go"),
                message("m2", "assistant"),
                tool("m2a", "c1", "completed", output="old", time={"compacted": 1}),
                message("m3", "user"),
                part("m3a", "compaction", auto=True),
                message("m4", "assistant", summary=True, finish="stop", parentID="m3"),
                part("m4a", "text", text="So far: go."),
                message("m5", "user"),
                part("m5a", "text", text="more", synthetic=True),
                message("m6", "assistant"),
                part("m6a", "text", text="end"),
            ],
        )
    )
    first, summary, last = session.turns
    assert file.skipped == {"compaction_request": 1}
    assert prompts(session)[1][-1] == f"tool: {CLEARED}"
    assert (summary.replayable, summary.skip_reason) == (False, "summary_prompt_not_recorded")
    assert (last.restart, last.fidelity) == ("compaction", "after_compaction")
    assert prompts(session)[2] == [
        f"user: {SUMMARIZED}",
        "assistant: So far: go.",
        "user: more",
    ]
    assert first.fidelity == "rebuilt"


def newer(seq: int, kind: str, **data: Any) -> tuple[str, Any]:
    """A row of opencode's newer message table."""
    row = {"id": f"msg_{seq}", "session_id": "ses_1", "type": kind, "seq": seq, "time_created": 1}
    return "session_message", {**row, "data": data}


def test_opencode_with_content_in_the_message(tmp_path: Path) -> None:
    done = {"status": "completed", "input": {"d": "."}, "content": [{"type": "text", "text": "a"}]}
    failed = {"status": "error", "input": {}, "error": {"message": "no such tool"}}
    file, (session,) = read(
        database(
            tmp_path,
            OPENCODE,
            [
                newer(1, "agent-switched", agent="build"),
                newer(2, "user", text="go"),
                newer(3, "system", text="be brief"),
                newer(
                    4,
                    "assistant",
                    model={"id": "m-1", "providerID": "p"},
                    content=[
                        {"type": "reasoning", "text": "hm"},
                        {"type": "text", "text": "Look."},
                        {"type": "tool", "id": "c1", "name": "ls", "state": done},
                        {"type": "tool", "id": "c2", "name": "x", "state": failed},
                    ],
                    finish="tool-calls",
                    tokens={"input": 5, "output": 2, "cache": {"read": 1}},
                ),
                newer(5, "shell", command="pwd", output={"output": "/p"}),
                newer(6, "compaction", status="completed", summary="So far.", recent="go"),
                newer(7, "user", text="more"),
                newer(8, "assistant", content=[{"type": "text", "text": "end"}]),
            ],
        )
    )
    assert file.skipped == {"agent-switched": 1}
    first, last = session.turns
    assert (first.model, first.reasoning, first.finish_reason) == ("m-1", "visible", "tool_calls")
    assert first.usage is not None
    assert (first.usage.prompt, first.usage.cached) == (6, 1)
    assert prompts(session)[0] == ["user: go\n\nbe brief"]
    output = session.output(first)
    assert output is not None
    assert [call.name for call in output.tool_calls] == ["ls", "x"]
    results = [m for m in session.messages.values() if m.role == "tool"]
    assert [(m.text, m.is_error) for m in results] == [("a", False), ("no such tool", True)]
    assert any("Ran `pwd`\n/p" in m.text for m in session.messages.values())
    assert last.restart == "compaction"
    assert prompts(session)[1] == ["user: So far.\n\ngo\n\nmore"]


def test_rows_that_are_no_json_or_of_no_session(tmp_path: Path) -> None:
    rows = [
        message("m1", "user", "ses_9"),
        part("m1a", "text", "ses_9", text="go"),
        ("message", {"id": "m2", "session_id": "ses_9", "time_created": 1, "data": "{torn"}),
        ("message", {"id": "m3", "session_id": "ses_9", "time_created": 1, "data": None}),
        message("m4", "assistant", "ses_9"),
        ("part", {"id": "m4a", "message_id": "m4", "session_id": "ses_9", "data": "[1]"}),
        ("part", {"id": "m4b", "message_id": "m4", "session_id": "ses_9",
                  "data": b'{"type": "text", "text": "bad \xff byte"}'}),
        ("message", {"id": "m5", "session_id": None, "time_created": 1, "data": 7}),
    ]  # fmt: skip
    file, (session,) = read(database(tmp_path, OPENCODE, rows))
    assert session.session_id == "ses_9"
    assert file.skipped == {"no_type": 3}
    output = session.output(session.turns[0])
    assert output is not None
    assert output.text == "bad \ufffd byte"


def goose(role: str, *blocks: dict[str, Any], name: str | None = None, **seen: bool) -> Any:
    """A row of Goose's message table."""
    row = {"message_id": name, "session_id": "20260105", "role": role, "content_json": list(blocks)}
    return "messages", {**row, "created_timestamp": 1, "metadata_json": seen}


def goose_torn() -> Any:
    table, row = goose("user")
    return table, {**row, "content_json": "[{torn"}


def said(words: str) -> dict[str, Any]:
    return {"type": "text", "text": words}


def asked(call: str, status: str = "success") -> dict[str, Any]:
    value = {"name": "shell", "arguments": {"command": "ls"}}
    given = {"value": value} if status == "success" else {"error": "no such tool"}
    return {"type": "toolRequest", "id": call, "toolCall": {"status": status, **given}}


def answered(call: str, words: str) -> dict[str, Any]:
    value = {"content": [said(words)], "isError": False}
    return {"type": "toolResponse", "id": call, "toolResult": {"status": "success", "value": value}}


GOOSE_SESSION = (
    "sessions",
    {"id": "20260105", "working_dir": "/p", "created_at": "2026-01-05 09:00:00",
     "model_config_json": {"model_name": "m-1"}, "parent_session_id": "20260104"},
)  # fmt: skip


def test_goose_messages(tmp_path: Path) -> None:
    file, (session,) = read(
        database(
            tmp_path,
            GOOSE,
            [
                GOOSE_SESSION,
                goose("user", said("go")),
                goose("assistant", said("Look."), name="a"),
                goose("assistant", asked("c1"), asked("c2", "error"), name="a"),
                goose("user", answered("c1", "a.txt")),
                goose("assistant", said("not for the model"), agentVisible=False),
                goose("assistant", said("end"), name="b"),
                goose_torn(),
            ],
        )
    )
    assert file.format == "goose"
    assert (session.session_id, session.cwd) == ("20260105", "/p")
    assert session.parent is not None
    assert session.parent.session_id == "20260104"
    assert session.models == ("m-1",)
    assert file.skipped == {"hidden_from_the_model": 1, "no_content": 1}
    first = session.output(session.turns[0])
    assert first is not None
    assert [call.name for call in first.tool_calls] == ["shell", "invalid_call"]
    assert session.turns[0].rows == (2, 3)
    assert prompts(session)[1] == [
        "user: go",
        "assistant: Look.",
        "tool: a.txt",
        f"tool: {NO_RESULT}",
    ]


def test_goose_after_a_compaction(tmp_path: Path) -> None:
    gone = {"agentVisible": False, "userVisible": True}
    kept = {"agentVisible": True, "userVisible": False}
    file, (session,) = read(
        database(
            tmp_path,
            GOOSE,
            [
                goose("user", said("go"), **gone),
                goose("assistant", said("one"), name="a", **gone),
                goose("user", said("Summary: one"), **kept),
                goose("assistant", said("Your context was compacted."), **kept),
                goose("user", said("more")),
                goose("assistant", said("two"), name="b"),
            ],
        )
    )
    assert file.skipped == {}
    assert prompts(session) == [
        ["user: go"],
        ["user: Summary: one", "assistant: Your context was compacted.", "user: more"],
    ]
    assert session.turns[1].fidelity == "after_compaction"


def test_what_is_still_in_the_journal_is_read_and_nothing_is_touched(tmp_path: Path) -> None:
    path = database(tmp_path, OPENCODE, [message("m1", "user"), part("m1a", "text", text="go")])
    writer = sqlite3.connect(path)
    writer.execute("pragma journal_mode = wal")
    row = ("m2", "ses_1", 1, '{"role": "assistant"}')
    writer.execute("insert into message values (?, ?, ?, ?)", row)
    row = ("m2a", "m2", "ses_1", '{"type": "text", "text": "only in the journal"}')
    writer.execute("insert into part values (?, ?, ?, ?)", row)
    writer.commit()
    before = {file.name: file.read_bytes() for file in tmp_path.iterdir()}
    assert b"only in the journal" not in before["recording"]
    _, (session,) = read(path)
    assert {file.name: file.read_bytes() for file in tmp_path.iterdir()} == before
    writer.close()
    output = session.output(session.turns[0])
    assert output is not None
    assert output.text == "only in the journal"


def test_a_read_only_folder_is_enough(tmp_path: Path) -> None:
    path = database(tmp_path, GOOSE, [goose("user", said("go")), goose("assistant", said("x"))])
    path.chmod(0o400)
    tmp_path.chmod(0o500)
    try:
        _, (session,) = read(path)
    finally:
        tmp_path.chmod(0o700)
    assert len(session.turns) == 1
    assert [file.name for file in tmp_path.iterdir()] == ["recording"]


def test_a_compressed_database(tmp_path: Path) -> None:
    path = database(tmp_path, GOOSE, [goose("user", said("go")), goose("assistant", said("x"))])
    packed = tmp_path / "packed"
    packed.write_bytes(gzip.compress(path.read_bytes()))
    _, (session,) = read(packed)
    assert len(session.turns) == 1


@pytest.mark.parametrize("size", [16, 100, 5_000, 12_000, 30_000])
def test_a_torn_database_gives_what_can_be_read(tmp_path: Path, size: int) -> None:
    rows = [row for n in range(40) for row in (message(f"m{n}", "user"), part(f"m{n}a", "text"))]
    path = database(tmp_path, OPENCODE, rows)
    data = path.read_bytes()
    assert len(data) > size
    path.write_bytes(data[:size])
    file, _ = read(path)
    assert file.reason
    assert "Traceback" not in file.reason


def test_names_that_are_no_text(tmp_path: Path) -> None:
    schema = OPENCODE.replace("time_created", "time_cr\u00e9ated")
    path = database(tmp_path, schema, [])
    path.write_bytes(path.read_bytes().replace("\u00e9".encode(), b"\xff\xfe"))
    _, sessions = read(path)
    assert sessions == []


def test_a_view_that_never_ends_is_not_looked_at(tmp_path: Path) -> None:
    endless = "with recursive n(i) as (select 1 union all select i + 1 from n)"
    view = f"create view message as {endless} select i as id, i as session_id, i as data from n;"
    file, sessions = read(database(tmp_path, view, []))
    assert file.format is None
    assert sessions == []


def test_a_database_of_something_else(tmp_path: Path) -> None:
    file, _ = read(database(tmp_path, "create table messages (id, body text);", []))
    assert file.format is None
    assert file.reason == "no known session format matches"


def test_parts_of_a_message_that_is_not_there_are_reported(tmp_path: Path) -> None:
    file, (session,) = read(
        database(
            tmp_path,
            OPENCODE,
            [
                message("m1", "user"),
                part("m1a", "text", text="go"),
                message("m2", "assistant"),
                part("m2a", "text", text="end"),
                part("m9a", "text", text="lost"),
                part("m9b", "text", text="too"),
            ],
        )
    )
    assert len(session.turns) == 1
    assert [(w.code, w.detail) for w in file.warnings] == [("parts_left_out", "2 parts")]


@pytest.mark.parametrize("odd", [None, 7, b"\0\xff", "[]", "{", '{"role": 7}', '[null, 1, "x"]'])
@pytest.mark.parametrize("name", ["crush-db", "opencode-db", "goose-db"])
def test_any_value_in_any_column(tmp_path: Path, name: str, odd: Any) -> None:
    path = tmp_path / "recording"
    path.write_bytes(SPELLINGS[name].write(conversations(3, 2, 2)))
    whole = path.read_bytes()
    rows = read(path)[0].ledger.rows
    for table, column in columns(path):
        path.write_bytes(whole)
        with closing(sqlite3.connect(path)) as connection:
            try:
                connection.execute(f"update {table} set {column} = ? where rowid = 1", (odd,))
                connection.commit()
            except sqlite3.IntegrityError:
                continue
        file, _ = read(path)
        assert file.ledger.rows == rows


def columns(path: Path) -> list[tuple[str, str]]:
    """Every column of the tables that hold sessions."""
    with closing(sqlite3.connect(path)) as connection:
        tables = connection.execute("select name from sqlite_master where sql like 'create%'")
        return [
            (table, row[1])
            for (table,) in tables.fetchall()
            if table != "sqlite_sequence"
            for row in connection.execute(f"pragma table_info({table})")
        ]


CRUSH_ROWS: list[tuple[str, list[dict[str, Any]]]] = [
    ("user", [{"type": "text", "data": {"text": "go"}}]),
    ("assistant", [{"type": "text", "data": {"text": "one"}}]),
    ("assistant", [{"type": "text", "data": {"text": "So far: one"}}]),
    ("user", [{"type": "text", "data": {"text": "more"}}]),
    ("assistant", [{"type": "finish", "data": {"reason": "canceled"}}]),
    ("user", [{"type": "text", "data": {"text": "again"}}]),
    ("assistant", [{"type": "text", "data": {"text": "two"}}]),
]


def test_crush_goes_on_from_its_summary(tmp_path: Path) -> None:
    path = tmp_path / "crush.db"
    with sqlite3.connect(path) as connection:
        connection.executescript(CRUSH)
        values = ("s", None, "x", 0, "m2", 1, 1)
        connection.execute("insert into sessions values (?, ?, ?, ?, ?, ?, ?)", values)
        for n, (role, parts) in enumerate(CRUSH_ROWS):
            row = (f"m{n}", "s", role, json.dumps(parts), "m", "p", n, n, n)
            connection.execute("insert into messages values (?, ?, ?, ?, ?, ?, ?, ?, ?)", row)
    (file,) = import_files([path])
    (session,) = file.sessions
    check_file(file, [session])
    assert file.format == "crush"
    assert [turn.skip_reason for turn in session.turns] == [
        None,
        "summary_prompt_not_recorded",
        "response_canceled",
        None,
    ]
    assert prompts(session)[3] == ["user: So far: one\n\nmore\n\nagain"]
    assert session.turns[3].fidelity == "after_compaction"
