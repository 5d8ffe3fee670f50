"""GitHub Copilot CLI event logs (``events.jsonl``).

{"type":"assistant.message","data":{"content":"…","toolRequests":[…],"apiCallId":"…"},"id":"…"}
{"type":"tool.execution_complete","data":{"toolCallId":"…","success":true,"result":{…}}}
"""

from collections.abc import Iterator
from typing import Any, ClassVar

from traces.readers.chat.arguments import tool_call
from traces.readers.chat.builder import SessionBuilder
from traces.readers.chat.content import content_parts
from traces.readers.chat.items import Answer, Result, Said
from traces.readers.chat.log import Log
from traces.readers.chat.shapes import integer, mapping, text, text_or_none
from traces.readers.files.sample import Sample
from traces.readers.intake import Intake
from traces.readers.reader import share
from traces.session.session import Session
from traces.session.turn import Times, Usage


class CopilotCli:
    """Reads one log."""

    format: ClassVar[str] = "copilot-cli"
    unsupported: ClassVar[str | None] = None
    keys: ClassVar[frozenset[str]] = frozenset({"data"})

    def match(self, sample: Sample) -> float:
        """Rows with a dotted type, data and an id."""
        rows = sample.objects
        fits = sum("." in text(r.get("type")) and isinstance(r.get("data"), dict) for r in rows)
        named = any(text(row.get("type")).startswith(("session.", "assistant.")) for row in rows)
        return share(sample, fits) if named else 0.0

    def read(self, intake: Intake) -> Iterator[Session]:
        """The session of the file."""
        yield from _CopilotLog(SessionBuilder(intake, tool="Copilot CLI")).read(
            intake.source.rows()
        )


class _CopilotLog(Log):
    model: str | None = None

    def take(self, number: int, row: dict[str, Any]) -> str | None:
        kind, data = text(row.get("type")), mapping(row.get("data"))
        blobs = self.builder.intake.blobs
        at = text_or_none(row.get("timestamp"))
        if kind == "session.start":
            self.builder.session_id = text_or_none(data.get("sessionId"))
            self.builder.tool_version = text_or_none(data.get("copilotVersion"))
            self.builder.started_at = text_or_none(data.get("startTime"))
            self.model = text_or_none(data.get("selectedModel"))
        elif kind == "session.model_change":
            self.model = text_or_none(data.get("newModel"))
        elif kind in ("system.message", "user.message"):
            sent = text(data.get("transformedContent")) or text(data.get("content"))
            parts = content_parts(sent, blobs)
            system = kind == "system.message"
            role, origin = ("system", "harness") if system else ("user", "human")
            self.transcript.append(Said(role, parts, origin, (number,)))  # type: ignore[arg-type]
        elif kind == "assistant.message":
            self.transcript.append(self._answer(number, data, at))
        elif kind == "tool.execution_complete":
            given = mapping(data.get("result")) or mapping(data.get("error"))
            content = given.get("content", given.get("message"))
            failed = None if not isinstance(data.get("success"), bool) else not data["success"]
            call_id, parts = text(data.get("toolCallId")), content_parts(content, blobs)
            self.transcript.append(Result(call_id, parts, (number,), failed, at=at))
        else:
            return kind or "no_type"
        return None

    def _answer(self, number: int, data: dict[str, Any], at: str | None) -> Answer:
        answer = Answer(content_parts(data.get("content"), self.builder.intake.blobs))
        answer.rows = (number,)
        answer.calls = [
            tool_call(call.get("toolCallId"), call.get("name"), call.get("arguments"))
            for call in self.chat.objects(data.get("toolRequests"))
        ]
        answer.response_id = text_or_none(data.get("apiCallId", data.get("messageId")))
        answer.model = text_or_none(data.get("model")) or self.model
        answer.reasoning = text(data.get("reasoningText"))
        if answer.reasoning:
            answer.state = "visible"
        elif data.get("encryptedContent") or data.get("reasoningOpaque"):
            answer.state = "encrypted"
        completion = integer(data.get("outputTokens"))
        answer.usage = None if completion is None else Usage(completion=completion)
        answer.times = Times(end=at) if at else None
        return answer
