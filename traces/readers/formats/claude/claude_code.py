"""Claude Code session logs: native JSON Lines (1.0 to 2.1, subagent files too), the stream of
``claude -p --output-format stream-json``, and web exports with ``loglines``.

Neither system prompt nor tool schemas are in these logs, so prefixes are rebuilt and tools made
from the calls observed.
"""

from collections import defaultdict
from collections.abc import Iterator
from typing import Any, ClassVar

from traces.readers.chat.builder import SessionBuilder
from traces.readers.chat.chat import ChatReader
from traces.readers.chat.shapes import items, mapping, text, text_or_none
from traces.readers.chat.tools import ObservedTools
from traces.readers.files.sample import Sample
from traces.readers.formats.claude.log import ClaudeLog
from traces.readers.formats.claude.rows import IFLOW, ClaudeRow, read_row
from traces.readers.intake import Intake
from traces.readers.reader import share
from traces.session.session import Parent, Session

SIDE_ROWS = frozenset(
    {
        "system", "summary", "progress", "queue-operation", "file-history-snapshot",
        "file-history-delta", "permission-mode", "mode", "last-prompt", "ai-title", "custom-title",
        "agent-name", "agent-setting", "worktree-state", "pr-link", "result", "rate_limit_event",
    }
)  # fmt: skip


def _is_message_row(row: dict[str, Any]) -> bool:
    named = "uuid" in row or "sessionId" in row or "session_id" in row
    if row.get("type") == "attachment":
        return "parentUuid" in row and isinstance(row.get("attachment"), dict)
    return row.get("type") in ("user", "assistant") and "message" in row and named


class ClaudeCode:
    """Reads one log, which can hold several sessions and side threads."""

    format: ClassVar[str] = "claude-code"
    unsupported: ClassVar[str | None] = None
    keys: ClassVar[frozenset[str]] = frozenset({"message", "loglines", "attachment"})

    def match(self, sample: Sample) -> float:
        """Rows ``user`` or ``assistant`` with a message and an id, among rows of known types."""
        lines = items(mapping(sample.document).get("loglines"))[:50]
        if lines:
            rows = [mapping(line) for line in lines]
            return sum(r.get("type") in ("user", "assistant") for r in rows) / len(rows)
        messages = sum(_is_message_row(row) for row in sample.objects)
        beside = sum(text(row.get("type")) in SIDE_ROWS for row in sample.objects)
        return share(sample, messages + beside) if messages else 0.0

    def read(self, intake: Intake) -> Iterator[Session]:
        """The sessions of the log, in order of appearance."""
        rows: list[ClaudeRow] = []
        builders: dict[str | None, SessionBuilder] = {}
        chats: dict[str, ChatReader] = defaultdict(lambda: ChatReader(intake.blobs))
        session: str | None = None
        for number, value in _rows(intake):
            if not isinstance(value, dict):
                intake.ledger.skip(number, "not_an_object")
                continue
            chat = chats[text(value.get("agentId"))]
            before = chat.left_out
            row, reason = read_row(number, value, chat)
            row.left_out = chat.left_out - before
            session = row.session = row.session or session
            if reason:
                intake.ledger.skip(number, reason)
            elif row.boundary:
                intake.ledger.use(number)
            if row.items or row.boundary or row.uuid:
                rows.append(row)
            _describe(builders, row, value, intake)
        for row in rows:
            row.session = row.session or next((r.session for r in rows if r.session), None)
        ClaudeLog(rows, builders).add_turns()
        for row in rows:
            if row.items:
                intake.ledger.skip(row.number, "after_last_response")
        for builder in builders.values():
            if builder.turn_count:
                yield builder.build()


def _rows(intake: Intake) -> Iterator[tuple[int, Any]]:
    lines = items(mapping(intake.source.document).get("loglines"))
    if lines:
        yield from enumerate(lines, 1)
    else:
        yield from intake.source.rows()


def _describe(
    builders: dict[str | None, SessionBuilder],
    row: ClaudeRow,
    value: dict[str, Any],
    intake: Intake,
) -> None:
    """Learn facts about the session a row belongs to."""
    builder = builders.get(row.session)
    if builder is None:
        tool = "iFlow CLI" if (row.session or "").startswith(IFLOW) else "Claude Code"
        builder = SessionBuilder(intake, tool=tool, session_id=row.session)
        builders[row.session] = builder
    elif builder.started_at and builder.cwd and builder.tool_version and "tools" not in value:
        return
    agent = text(value.get("agentId"))
    if agent and row.session and builder.parent is None and not builder.started_at:
        builder.session_id = f"{row.session}:agent-{agent}"
        builder.parent = Parent(session_id=row.session)
    builder.tool_version = builder.tool_version or text_or_none(value.get("version"))
    builder.cwd = builder.cwd or text_or_none(value.get("cwd"))
    builder.started_at = builder.started_at or text_or_none(value.get("timestamp"))
    if value.get("subtype") == "init" and isinstance(value.get("tools"), list):
        builder.observed = ObservedTools([t for t in value["tools"] if isinstance(t, str)])
