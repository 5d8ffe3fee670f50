"""Crush: its database ``crush.db``.

    messages(id, session_id, role, parts, model, provider, created_at)
    parts: [{"type":"text","data":{"text":"…"}},{"type":"tool_call","data":{"id":"…","name":"…",
     "input":"{…}"}},{"type":"tool_result","data":{"tool_call_id":"…","content":"…"}},
     {"type":"finish","data":{"reason":"tool_use"}}]

After a summary the model sees the summary, as a message of the user, and what follows it.
"""

from collections.abc import Iterator
from typing import Any, ClassVar

from traces.readers.chat.arguments import tool_call
from traces.readers.chat.builder import SessionBuilder
from traces.readers.chat.content import content_parts
from traces.readers.chat.items import Answer, Item, Replaced, Result, Said
from traces.readers.chat.log import Log
from traces.readers.chat.shapes import items, mapping, mappings, text, text_or_none
from traces.readers.files.json_text import embedded
from traces.readers.files.sample import Sample
from traces.readers.intake import Intake
from traces.session.message import Note
from traces.session.session import Parent, Session

COLUMNS = frozenset({"id", "session_id", "role", "parts", "model"})
FINISH = {"end_turn": "stop", "tool_use": "tool_calls", "max_tokens": "length"}
ENDED = frozenset({"canceled", "error", "permission_denied"})


class Crush:
    """Reads all sessions of a database."""

    format: ClassVar[str] = "crush"
    unsupported: ClassVar[str | None] = None
    keys: ClassVar[frozenset[str]] = frozenset({"messages"})

    def match(self, sample: Sample) -> float:
        """A table ``messages`` whose rows have parts and a model."""
        return float(set(sample.tables.get("messages", ())) >= COLUMNS)

    def read(self, intake: Intake) -> Iterator[Session]:
        """Every session by its time; its rows are numbered through the whole database."""
        if not intake.source.is_database:
            return
        with intake.source.database() as database:
            known: dict[Any, dict[str, Any]] = {}
            if "id" in database.columns.get("sessions", ()):
                for row in database.rows("sessions", order=("created_at", "id")):
                    known[row["id"]] = row
            for session in database.values("messages", "session_id"):
                known.setdefault(session, {"id": session})
            number = 0
            for session, info in known.items():
                order = ("created_at", "id")
                rows = list(database.rows("messages", order=order, session_id=session))
                log = _CrushLog(_builder(info, intake))
                log.summary = text(info.get("summary_message_id"))
                yield from log.read(enumerate(rows, number + 1))
                number += len(rows)


def _builder(info: dict[str, Any], intake: Intake) -> SessionBuilder:
    builder = SessionBuilder(intake, tool="Crush")
    builder.session_id = text_or_none(info.get("id"))
    parent = text(info.get("parent_session_id"))
    builder.parent = Parent(session_id=parent) if parent else None
    return builder


class _CrushLog(Log):
    summary: str = ""

    def take(self, number: int, row: dict[str, Any]) -> str | None:
        role = text(row.get("role"))
        parts = mappings(embedded(row.get("parts")))
        blobs = self.builder.intake.blobs
        if role not in ("user", "assistant", "tool"):
            return "no_role"
        if not items(embedded(row.get("parts"))):
            return "no_parts"
        said: list[Any] = []
        answer = Answer(rows=(number,), response_id=text_or_none(row.get("id")))
        answer.model = text_or_none(row.get("model"))
        found: list[Item] = []
        for part in parts:
            kind, data = text(part.get("type")), mapping(part.get("data"))
            if kind == "text":
                said += content_parts(text(data.get("text")), blobs)
            elif kind == "reasoning":
                answer.reasoning += text(data.get("thinking"))
                answer.state = "visible" if answer.reasoning else "encrypted"
            elif kind == "tool_call":
                answer.calls.append(tool_call(data.get("id"), data.get("name"), data.get("input")))
            elif kind == "tool_result":
                failed = data.get("is_error")
                shown = content_parts(data.get("content"), blobs)
                known = failed if isinstance(failed, bool) else None
                found.append(Result(text(data.get("tool_call_id")), shown, (number,), known))
            elif kind == "finish":
                self._finish(answer, text(data.get("reason")))
            elif kind in ("image_url", "binary"):
                mime = text(data.get("MIMEType")) or "image/png"
                image = {"type": "image", "mimeType": mime, "data": data.get("Data")}
                said += content_parts(image, blobs)
            else:
                said.append(Note(text=kind or "part"))
        answer.parts = said
        self.transcript += self._items(role, answer, found, row)
        return None

    def _finish(self, answer: Answer, reason: str) -> None:
        answer.finish_reason = FINISH.get(reason)
        if reason in ENDED and not (answer.parts or answer.calls or answer.reasoning):
            answer.skip_reason = f"response_{reason}"

    def _items(
        self, role: str, answer: Answer, found: list[Item], row: dict[str, Any]
    ) -> list[Item]:
        if role == "tool":
            return found
        if self.summary and row.get("id") == self.summary:
            answer.skip_reason = "summary_prompt_not_recorded"
            summary = Said("user", list(answer.parts), "summary", answer.rows)
            return [answer, Replaced([summary])]
        if role == "assistant":
            return [answer, *found]
        return [*found, Said("user", answer.parts, "human", answer.rows)]
