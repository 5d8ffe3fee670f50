"""Gemini CLI chats: JSON, JSON Lines with ``$set`` patches, ``/chat save`` checkpoints, streams.

    {"sessionId":"…","projectHash":"…","messages":[{"id":"…","type":"gemini","content":"…",
     "thoughts":[…],"tokens":{…},"toolCalls":[{"id","name","args","result":[…],"status"}]}]}

A result stands inside the row of its call. A later row with the same id replaces an earlier one.
"""

from collections.abc import Iterable, Iterator
from typing import Any, ClassVar

from traces.readers.chat.arguments import tool_call
from traces.readers.chat.builder import SessionBuilder
from traces.readers.chat.content import content_parts
from traces.readers.chat.items import Answer, Item, Result, Said
from traces.readers.chat.log import Log, entries, runs
from traces.readers.chat.shapes import items, mapping, mappings, text, text_or_none
from traces.readers.files.sample import Sample
from traces.readers.formats.gemini.content import ContentReader, gemini_usage, response_content
from traces.readers.intake import Intake
from traces.readers.reader import share
from traces.session.session import Session
from traces.session.turn import Times

SAID = frozenset({"user", "gemini", "info", "error", "warning"})


class Gemini:
    """Reads one chat."""

    format: ClassVar[str] = "gemini-cli"
    unsupported: ClassVar[str | None] = None
    keys: ClassVar[frozenset[str]] = frozenset({"projectHash", "session_id", "parts"})

    def match(self, sample: Sample) -> float:
        """A chat by its header, a list of contents with parts, or a stream by its first row."""
        if "projectHash" in mapping(sample.document) and "sessionId" in mapping(sample.document):
            return 1.0
        rows = sample.objects
        if any("projectHash" in row and "sessionId" in row for row in rows):
            fits = sum(
                text(row.get("type")) in SAID or "$set" in row or "projectHash" in row
                for row in rows
            )
            return share(sample, fits)
        if _is_stream(rows):
            kinds = {"init", "message", "tool_use", "tool_result", "result", "error"}
            return share(sample, sum(row.get("type") in kinds for row in rows))
        contents = sum(r.get("role") in ("user", "model") and "parts" in r for r in rows)
        return share(sample, contents)

    def read(self, intake: Intake) -> Iterator[Session]:
        """The sessions of the file: one, or one for each run that was streamed into it."""
        builder = SessionBuilder(intake, tool="Gemini CLI")
        document = mapping(intake.source.document)
        if "messages" in document:
            log = _ChatLog(builder)
            log.describe(document)
            yield from log.read(entries(intake, items(document["messages"])))
        elif _is_stream(intake.source.sample.objects):
            for run in runs(intake.source.rows(), _run_of):
                yield from _StreamLog(SessionBuilder(intake, tool="Gemini CLI")).read(run)
        elif any("parts" in row for row in intake.source.sample.objects):
            yield from _ContentLog(builder, fidelity="exact").read(intake.source.rows())
        else:
            yield from _ChatLog(builder).read(_latest(intake))


def _is_stream(rows: list[dict[str, Any]]) -> bool:
    return any(row.get("type") == "init" and "session_id" in row for row in rows[:5])


def _run_of(row: dict[str, Any]) -> str:
    return text(row.get("session_id")) if row.get("type") == "init" else ""


def _latest(intake: Intake) -> Iterable[tuple[int, Any]]:
    """Rows in order of their first appearance, each in its latest version."""
    latest: dict[str, tuple[int, Any]] = {}
    for number, row in intake.source.rows():
        key = text(mapping(row).get("id")) or f"row {number}"
        if key in latest:
            intake.ledger.skip(latest[key][0], "superseded")
        latest[key] = number, row
    return latest.values()


class _ChatLog(Log):
    def describe(self, header: dict[str, Any]) -> None:
        """Facts from the header of a chat."""
        self.builder.session_id = text_or_none(header.get("sessionId"))
        self.builder.started_at = text_or_none(header.get("startTime"))

    def take(self, number: int, row: dict[str, Any]) -> str | None:
        if "projectHash" in row:
            self.describe(row)
            return None
        if "$set" in row:
            return "patch_of_header"
        kind = text(row.get("type"))
        blobs = self.builder.intake.blobs
        if kind == "user":
            parts = content_parts(row.get("content"), blobs)
            self.transcript.append(Said("user", parts, "human", (number,)))
            return None
        if kind == "gemini":
            self.transcript += self._answer(number, row)
            return None
        return f"row_{kind or 'of_no_type'}"

    def _answer(self, number: int, row: dict[str, Any]) -> list[Item]:
        blobs = self.builder.intake.blobs
        at = text_or_none(row.get("timestamp"))
        answer = Answer(content_parts(row.get("content"), blobs), rows=(number,))
        answer.response_id = text_or_none(row.get("id"))
        answer.model = text_or_none(row.get("model"))
        answer.usage = gemini_usage(mapping(row.get("tokens")))
        answer.times = Times(end=at) if at else None
        thoughts = [
            f"**{text(thought.get('subject'))}** {text(thought.get('description'))}".strip()
            for thought in mappings(row.get("thoughts"))
        ]
        if thoughts:
            answer.reasoning, answer.state = "\n".join(thoughts), "summary"
        found: list[Item] = [answer]
        for call in self.chat.objects(row.get("toolCalls")):
            answer.calls.append(tool_call(call.get("id"), call.get("name"), call.get("args")))
            call_id = answer.calls[-1].id
            for part in mappings(call.get("result")):
                response = mapping(mapping(part.get("functionResponse")).get("response"))
                content, error = response_content(response)
                error = error or call.get("status") in ("error", "cancelled")
                found.append(Result(call_id, content_parts(content, blobs), (number,), error))
                break
        answer.finish_reason = "tool_calls" if answer.calls else None
        return found


class _ContentLog(Log):
    """A checkpoint: the history as the API saw it."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self.contents = ContentReader(self.builder.intake.blobs)

    def take(self, number: int, row: dict[str, Any]) -> str | None:
        if row.get("role") not in ("user", "model"):
            return "no_role"
        self.transcript += self.contents.read(row, (number,))
        return None


class _StreamLog(Log):
    """``--output-format stream-json``: text comes in deltas, calls and results as events."""

    def take(self, number: int, row: dict[str, Any]) -> str | None:
        kind = text(row.get("type"))
        blobs = self.builder.intake.blobs
        if kind == "init":
            self.builder.session_id = text_or_none(row.get("session_id"))
            self._model = text_or_none(row.get("model"))
        elif kind == "message" and row.get("role") == "user":
            parts = content_parts(row.get("content"), blobs)
            self.transcript.append(Said("user", parts, "human", (number,)))
        elif kind == "message":
            answer = self._open(number)
            answer.parts = content_parts(
                "".join(p.text for p in answer.parts if p.type == "text")
                + text(row.get("content")),
                blobs,
            )
        elif kind == "tool_use":
            call = tool_call(row.get("tool_id"), row.get("tool_name"), row.get("parameters"))
            self._open(number).calls.append(call)
        elif kind == "tool_result":
            output = row.get("output", mapping(row.get("error")).get("message"))
            error = row.get("status") == "error"
            parts = content_parts(output, blobs)
            self.transcript.append(Result(text(row.get("tool_id")), parts, (number,), error))
        else:
            return kind or "no_type"
        return None

    def _open(self, number: int) -> Answer:
        last = self.transcript[-1] if self.transcript else None
        if not isinstance(last, Answer):
            last = Answer(model=self._model)
            self.transcript.append(last)
        last.rows += (number,)
        return last

    _model: str | None = None
