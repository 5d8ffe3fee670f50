"""opencode: its database, its older tree of files, exports, message lists, and
``opencode run --format json``.

    {"info":{"id":"ses_…"},"messages":[{"info":{"role":"assistant",…},"parts":[
     {"type":"step-start"},{"type":"tool","callID":"…","tool":"bash","state":{…}},
     {"type":"step-finish","tokens":{…}}]}]}

``opencode.db`` has the same in tables: session, message, part; newer ones session_message too.
"""

from collections.abc import Iterator
from typing import Any, ClassVar

from traces.readers.chat.builder import SessionBuilder
from traces.readers.chat.log import entries, runs
from traces.readers.chat.shapes import items, mapping, text, text_or_none
from traces.readers.files.database import Database
from traces.readers.files.json_text import embedded
from traces.readers.files.sample import Sample
from traces.readers.formats.opencode.log import OpencodeLog
from traces.readers.formats.opencode.tree import SESSION_KEYS, is_session, messages_of
from traces.readers.intake import Intake
from traces.readers.reader import share
from traces.session.session import Parent, Session

EVENTS = frozenset({"step_start", "step_finish", "tool_use", "text", "reasoning", "error"})
TABLES = ("message", "session_message")
COLUMNS = frozenset({"id", "session_id", "data"})


class Opencode:
    """Reads one session, or all sessions of a database."""

    format: ClassVar[str] = "opencode"
    unsupported: ClassVar[str | None] = None
    keys: ClassVar[frozenset[str]] = frozenset(
        {"info", "session_id", "sessionID", *SESSION_KEYS, *TABLES}
    )

    def match(self, sample: Sample) -> float:
        """An export, a list of messages with parts, the stream, or the tables of its database."""
        if sample.tables:
            return float(any(set(sample.tables.get(table, ())) >= COLUMNS for table in TABLES))
        document = mapping(sample.document)
        if "messages" in document and text(mapping(document.get("info")).get("id")).startswith(
            "ses"
        ):
            return 1.0
        if is_session(sample):
            return 1.0
        rows = sample.objects
        lists = sum("info" in row and isinstance(row.get("parts"), list) for row in rows)
        table = sum(
            text(row.get("session_id")).startswith("ses_") and "data" in row for row in rows
        )
        events = sum(
            text(row.get("type")) in EVENTS and "sessionID" in row and "part" in row for row in rows
        )
        return share(sample, max(lists, table, events))

    def read(self, intake: Intake) -> Iterator[Session]:
        """The sessions of the file."""
        if intake.source.is_database:
            with intake.source.database() as database:
                yield from _database_sessions(database, intake)
            return
        document = mapping(intake.source.document)
        if is_session(intake.source.sample):
            name = text(document.get("id"))
            log = OpencodeLog(_builder(document, intake))
            yield from log.read(messages_of(intake.source.path, name, log))
            return
        if "messages" in document:
            log = OpencodeLog(_builder(mapping(document.get("info")), intake))
            yield from log.read(entries(intake, items(document["messages"])))
            return
        for run in runs(intake.source.rows(), _session_of):
            yield from OpencodeLog(_builder({}, intake)).read(run)


def _session_of(row: dict[str, Any]) -> str:
    named = row.get("sessionID", row.get("session_id"))
    return text(named) or text(mapping(row.get("info")).get("sessionID"))


def _builder(info: dict[str, Any], intake: Intake) -> SessionBuilder:
    """A builder for the session that `info`, or a row of its table, describes."""
    builder = SessionBuilder(intake, tool="opencode")
    builder.session_id = text_or_none(info.get("id"))
    builder.tool_version = text_or_none(info.get("version"))
    builder.cwd = text_or_none(info.get("directory"))
    parent = text(info.get("parentID")) or text(info.get("parent_id"))
    builder.parent = Parent(session_id=parent) if parent else None
    return builder


def _database_sessions(database: Database, intake: Intake) -> Iterator[Session]:
    """Every session by its time; its rows are numbered through the whole database."""
    tables = [name for name in TABLES if set(database.columns.get(name, ())) >= COLUMNS]
    known: dict[Any, dict[str, Any]] = {}
    if "id" in database.columns.get("session", ()):
        for row in database.rows("session", order=("time_created", "id")):
            known[row["id"]] = row
    for table in tables:
        for session in database.values(table, "session_id"):
            known.setdefault(session, {"id": session})
    number = 0
    for session, info in known.items():
        log = OpencodeLog(_builder(info, intake))
        rows = [row for table in tables for row in _messages(database, table, session, log.builder)]
        yield from log.read(enumerate(rows, number + 1))
        number += len(rows)


def _messages(
    database: Database, table: str, session: Any, builder: SessionBuilder
) -> Iterator[dict[str, Any]]:
    """Rows of one session, those of the older table with their parts."""
    parts: dict[Any, list[dict[str, Any]]] = {}
    if table == "message" and "message_id" in database.columns.get("part", ()):
        for row in database.rows("part", order=("message_id", "id"), session_id=session):
            parts.setdefault(row["message_id"], []).append(mapping(embedded(row.get("data"))))
    for row in database.rows(table, order=("seq", "time_created", "id"), session_id=session):
        yield {**row, "parts": parts.pop(row["id"], [])}
    if parts:
        builder.left_out(None, sum(map(len, parts.values())))
