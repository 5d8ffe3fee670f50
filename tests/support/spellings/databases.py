"""SQLite databases, as bytes."""

import sqlite3
from collections.abc import Iterable, Sequence
from typing import Any

import orjson

from tests.support.spellings.agents import goose_blocks, goose_result
from tests.support.spellings.conversation import Conversation
from tests.support.spellings.documents import opencode_messages
from tests.support.spellings.observed import crush_parts, crush_results

OPENCODE = """
    create table session (id text primary key, project_id text, parent_id text, directory text,
        title text, version text, time_created integer, time_updated integer);
    create table message (id text primary key, session_id text, time_created integer,
        time_updated integer, data text);
    create table part (id text primary key, message_id text, session_id text,
        time_created integer, time_updated integer, data text);
"""
GOOSE = """
    create table sessions (id text primary key, name text, working_dir text, created_at timestamp,
        model_config_json text);
    create table messages (id integer primary key autoincrement, message_id text, session_id text,
        role text, content_json text, created_timestamp integer, metadata_json text);
"""


def _database(schema: str, rows: Iterable[tuple[str, Sequence[Any]]]) -> bytes:
    with sqlite3.connect(":memory:") as connection:
        connection.executescript(schema)
        for statement, values in rows:
            connection.execute(statement, values)
        connection.commit()
        return connection.serialize()


def _inserted(table: str, *values: Any) -> tuple[str, Sequence[Any]]:
    return f"insert into {table} values ({', '.join('?' * len(values))})", values


def opencode(talks: list[Conversation]) -> bytes:
    """``opencode.db`` with sessions, messages and parts."""
    rows = []
    for n, talk in enumerate(talks):
        name = f"ses_{talk.id}"
        rows.append(_inserted("session", name, "p", None, "/home/dev/project", "x", "1.1", n, n))
        for info, parts in opencode_messages(talk):
            message = f"{info['id']}_{n}"
            data = orjson.dumps(info).decode()
            rows.append(_inserted("message", message, name, n, n, data))
            for place, part in enumerate(parts):
                data = orjson.dumps(part).decode()
                key = f"prt_{message}_{place:04}"
                rows.append(_inserted("part", key, message, name, n, n, data))
    return _database(OPENCODE, rows)


def goose(talks: list[Conversation]) -> bytes:
    """``sessions.db``."""
    rows = []
    model = '{"model_name": "m-1"}'
    for talk in talks:
        rows.append(_inserted("sessions", talk.id, "x", "/home/dev/project", "2026-01-05", model))
        messages: list[tuple[str, list[dict[str, Any]]]] = []
        for exchange in talk.exchanges:
            if exchange.user:
                messages.append(("user", [{"type": "text", "text": exchange.user}]))
            messages.append(("assistant", goose_blocks(exchange)))
            messages += [("user", [goose_result(c.id, c.result)]) for c in exchange.calls]
        for role, blocks in messages:
            content = orjson.dumps(blocks).decode()
            rows.append(_inserted("messages", None, None, talk.id, role, content, 1, "{}"))
    return _database(GOOSE, rows)


CRUSH = """
    create table sessions (id text primary key, parent_session_id text, title text,
        message_count integer, summary_message_id text, updated_at integer, created_at integer);
    create table messages (id text primary key, session_id text, role text, parts text,
        model text, provider text, created_at integer, updated_at integer, finished_at integer);
"""


def crush(talks: list[Conversation]) -> bytes:
    """``crush.db``."""
    rows = []
    for n, talk in enumerate(talks):
        rows.append(_inserted("sessions", talk.id, None, "x", 0, None, n, n))
        number = 0

        def message(role: str, parts: list[dict[str, Any]], session: str = talk.id) -> None:
            nonlocal number
            number += 1
            name, data = f"{session}-{number:04}", orjson.dumps(parts).decode()
            model = "m-1" if role == "assistant" else None
            values = (name, session, role, data, model, "p", number, number, number)
            rows.append(_inserted("messages", *values))

        for exchange in talk.exchanges:
            if exchange.user:
                message("user", [{"type": "text", "data": {"text": exchange.user}}])
            message("assistant", crush_parts(exchange))
            if exchange.calls:
                message("tool", crush_results(exchange.calls))
    return _database(CRUSH, rows)
