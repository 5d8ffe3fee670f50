"""Goose: JSON Lines up to 1.9, the database since 1.10, and the untagged blocks of 2024.

{"working_dir":"…","description":"…","message_count":14}
{"role":"assistant","created":1747178334,"content":[{"type":"toolRequest","id":"…",
 "toolCall":{"status":"success","value":{"name":"…","arguments":{…}}}}]}

``sessions.db`` has the same in tables: sessions, and messages with ``content_json``.
"""

from collections.abc import Iterable, Iterator
from typing import Any, ClassVar

from traces.readers.chat.builder import SessionBuilder
from traces.readers.chat.shapes import mapping, mappings, text, text_or_none
from traces.readers.files.database import Database
from traces.readers.files.json_text import embedded
from traces.readers.files.sample import Sample
from traces.readers.formats.goose.log import GooseLog, is_agent_only, message_of
from traces.readers.intake import Intake
from traces.readers.reader import share
from traces.session.session import Parent, Session

COLUMNS = frozenset({"session_id", "role", "content_json"})
BLOCKS = frozenset(
    {"toolRequest", "toolResponse", "toolConfirmationRequest", "frontendToolRequest"}
)


class Goose:
    """Reads one log."""

    format: ClassVar[str] = "goose"
    unsupported: ClassVar[str | None] = None
    keys: ClassVar[frozenset[str]] = frozenset({"created", "message", "messages"})

    def match(self, sample: Sample) -> float:
        """Messages with a creation time and a list of Goose's blocks; a table of such messages."""
        if sample.tables:
            return float(set(sample.tables.get("messages", ())) >= COLUMNS)
        rows = [message_of(row) for row in sample.objects]
        messages = [
            row for row in rows if "created" in row and isinstance(row.get("content"), list)
        ]
        blocks = [b for message in messages for b in mappings(message["content"])]
        particular = any(
            text(block.get("type")) in BLOCKS or "tool_name" in block or "tool_result" in block
            for block in blocks
        )
        header = any("working_dir" in row for row in sample.objects)
        fits = share(sample, len(messages))
        return fits if particular or header else 0.5 * fits

    def read(self, intake: Intake) -> Iterator[Session]:
        """The session of the file, or all sessions of the database."""
        if intake.source.is_database:
            with intake.source.database() as database:
                yield from _database_sessions(database, intake)
        else:
            builder = SessionBuilder(intake, tool="goose")
            yield from _log(builder, intake.source.rows(), None)


def _log(
    builder: SessionBuilder, rows: Iterable[tuple[int, Any]], model: str | None
) -> Iterator[Session]:
    kept = list(rows)
    log = GooseLog(builder)
    log.model = model
    agent_only = [number for number, row in kept if is_agent_only(mapping(row))]
    log.last_compaction = agent_only[-1] if agent_only else 0
    yield from log.read(kept)


def _database_sessions(database: Database, intake: Intake) -> Iterator[Session]:
    """Every session by its time; its rows are numbered through the whole database."""
    known: dict[Any, dict[str, Any]] = {}
    if "id" in database.columns.get("sessions", ()):
        for row in database.rows("sessions", order=("created_at", "id")):
            known[row["id"]] = row
    for session in database.values("messages", "session_id"):
        known.setdefault(session, {"id": session})
    number = 0
    for session, info in known.items():
        rows = [_message(row) for row in _rows(database, session)]
        model = text_or_none(mapping(embedded(info.get("model_config_json"))).get("model_name"))
        yield from _log(_builder(info, intake), enumerate(rows, number + 1), model)
        number += len(rows)


def _rows(database: Database, session: Any) -> Iterator[dict[str, Any]]:
    order = ("created_timestamp", "id")
    return database.rows("messages", order=order, session_id=session)


def _builder(info: dict[str, Any], intake: Intake) -> SessionBuilder:
    builder = SessionBuilder(intake, tool="goose")
    builder.session_id = text_or_none(info.get("id"))
    builder.cwd = text_or_none(info.get("working_dir"))
    builder.started_at = text_or_none(info.get("created_at"))
    parent = text(info.get("parent_session_id"))
    builder.parent = Parent(session_id=parent) if parent else None
    return builder


def _message(row: dict[str, Any]) -> dict[str, Any]:
    """A row of the table as a message of the log."""
    return {
        "id": row.get("message_id"),
        "role": row.get("role"),
        "content": embedded(row.get("content_json")),
        "metadata": embedded(row.get("metadata_json")),
    }
