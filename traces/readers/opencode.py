"""opencode: exports, message lists, and the event stream of ``opencode run --format json``.

    {"info":{"id":"ses_…"},"messages":[{"info":{"role":"assistant",…},"parts":[
     {"type":"step-start"},{"type":"tool","callID":"…","tool":"bash","state":{…}},
     {"type":"step-finish","tokens":{…}}]}]}

A message is normally one step, that is one response; it is split where a step starts. Old outputs
that opencode cleared (``time.compacted``) are marked.
"""

from collections.abc import Iterator
from typing import Any, ClassVar

from traces.readers.arguments import tool_call
from traces.readers.builder import SessionBuilder
from traces.readers.content import attachment, content_parts
from traces.readers.intake import Intake
from traces.readers.items import Answer, Item, Result, Said
from traces.readers.json_text import embedded
from traces.readers.log import Log, entries
from traces.readers.payloads import Outcome
from traces.readers.reader import share
from traces.readers.shapes import integer, items, mapping, mappings, number, text, text_or_none
from traces.readers.source import Sample
from traces.session import Parent, Session
from traces.turn import Usage

EVENTS = frozenset({"step_start", "step_finish", "tool_use", "text", "reasoning", "error"})
FINISH = {"stop": "stop", "tool-calls": "tool_calls", "length": "length"}
CLEARED = "[Old tool result content cleared]"


class Opencode:
    """Reads one session."""

    format: ClassVar[str] = "opencode"
    unsupported: ClassVar[str | None] = None

    def match(self, sample: Sample) -> float:
        """An export, a list of messages with parts, rows of the message table, or the stream."""
        document = mapping(sample.document)
        if "messages" in document and text(mapping(document.get("info")).get("id")).startswith(
            "ses"
        ):
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
        """The session of the file."""
        builder = SessionBuilder(intake, tool="opencode")
        document = mapping(intake.source.document)
        info = mapping(document.get("info"))
        builder.session_id = text_or_none(info.get("id"))
        builder.tool_version = text_or_none(info.get("version"))
        builder.cwd = text_or_none(info.get("directory"))
        parent = text(info.get("parentID"))
        builder.parent = Parent(session_id=parent) if parent else None
        log = _OpencodeLog(builder)
        if "messages" in document:
            yield from log.read(entries(intake, items(document["messages"])))
        else:
            yield from log.read(intake.source.rows())


class _OpencodeLog(Log):
    _open: Answer | None = None

    def take(self, number: int, row: dict[str, Any]) -> str | None:
        self.builder.session_id = self.builder.session_id or text_or_none(
            row.get("sessionID", row.get("session_id"))
        )
        if isinstance(row.get("part"), dict):
            if row.get("type") == "step_start":
                self._open = None
            return self._part(number, row["part"], {})
        if isinstance(row.get("data"), str):
            kind = text(row.get("type"))
            if kind not in ("user", "assistant", "message"):
                return kind or "no_type"
            row = {"info": {"role": kind, **mapping(embedded(row["data"]))}, "parts": []}
            row["parts"] = items(row["info"].get("parts", row["info"].get("content")))
        info = mapping(row.get("info"))
        if info.get("role") == "user":
            return self._user(number, mappings(row.get("parts")))
        if info.get("role") != "assistant":
            return "no_role"
        self._open = None
        reasons = [self._part(number, part, info) for part in mappings(row.get("parts"))]
        if self._open is None:
            aborted = text(mapping(info.get("error")).get("name")) or "no_parts"
            return f"response_{aborted}"
        return None if None in reasons else "no_content"

    def _user(self, number: int, parts: list[dict[str, Any]]) -> str | None:
        blobs = self.builder.intake.blobs
        said = Said("user", [], "human", (number,))
        for part in parts:
            if part.get("type") == "text":
                said.parts += content_parts(text(part.get("text")), blobs)
            elif part.get("type") == "file":
                said.parts.append(attachment({**part, "mimeType": part.get("mime")}, blobs))
        synthetic = [part.get("synthetic") is True for part in parts if part.get("type") == "text"]
        said.origin = "harness" if synthetic and all(synthetic) else "human"
        self.transcript.append(said)
        return None

    def _part(self, row: int, part: dict[str, Any], info: dict[str, Any]) -> str | None:
        kind = text(part.get("type"))
        blobs = self.builder.intake.blobs
        if kind == "step-start":
            self._open = None
            self._answer(row, info)
        elif kind == "step-finish":
            answer = self._answer(row, info)
            answer.usage = _usage(mapping(part.get("tokens"))) or answer.usage
            reason = text(part.get("reason"))
            answer.finish_reason = FINISH.get(reason, reason) or answer.finish_reason
        elif kind == "text":
            self._answer(row, info).parts += content_parts(text(part.get("text")), blobs)
        elif kind == "reasoning":
            answer = self._answer(row, info)
            answer.reasoning += text(part.get("text"))
            answer.state = "visible" if answer.reasoning else "encrypted"
        elif kind == "tool":
            self._tool(row, part, info)
        elif kind == "compaction":
            self.builder.warn("compaction_without_history", row)
        else:
            return f"part_{kind or 'of_no_type'}"
        return None

    def _answer(self, row: int, info: dict[str, Any]) -> Answer:
        if self._open is None:
            self._open = Answer()
            model = text(info.get("modelID"))
            self._open.model = model or text_or_none(mapping(info.get("model")).get("modelID"))
            self._open.response_id = text_or_none(info.get("id"))
            self._open.usage = _usage(mapping(info.get("tokens")))
            self._open.finish_reason = FINISH.get(text(info.get("finish")))
            self.transcript.append(self._open)
        if row not in self._open.rows:
            self._open.rows += (row,)
        return self._open

    def _tool(self, row: int, part: dict[str, Any], info: dict[str, Any]) -> None:
        state = mapping(part.get("state"))
        call = tool_call(part.get("callID"), part.get("tool"), state.get("input"))
        self._answer(row, info).calls.append(call)
        status = state.get("status")
        if status not in ("completed", "error"):
            return
        error = status == "error"
        content = state.get("output", state.get("error")) if error else state.get("output")
        times = mapping(state.get("time"))
        if times.get("compacted"):
            content = CLEARED
            self.builder.warn("result_cleared", row)
        begin, end = number(times.get("start")), number(times.get("end"))
        code = integer(mapping(state.get("metadata")).get("exit"))
        took = end - begin if begin is not None and end is not None else None
        parts = content_parts(content, self.builder.intake.blobs)
        result: Item = Result(call.id, parts, (row,), error, Outcome(code, took))
        self.transcript.append(result)


def _usage(tokens: dict[str, Any]) -> Usage | None:
    if not tokens:
        return None
    cache = mapping(tokens.get("cache"))
    prompt = [integer(tokens.get("input")), integer(cache.get("read")), integer(cache.get("write"))]
    return Usage(
        prompt=sum(part for part in prompt if part is not None),
        cached=integer(cache.get("read")),
        completion=integer(tokens.get("output")),
        reasoning=integer(tokens.get("reasoning")),
    )
