"""Messages and parts of opencode as a transcript.

A message is normally one step, that is one response; it is split where a step starts. Old outputs
that opencode cleared (``time.compacted``) are marked. After a compaction the model sees the summary
and what follows it.
"""

from typing import Any

from traces.readers.chat.arguments import tool_call
from traces.readers.chat.content import attachment, content_parts
from traces.readers.chat.items import Answer, Replaced, Result, Said
from traces.readers.chat.log import Log
from traces.readers.chat.payloads import Outcome
from traces.readers.chat.shapes import integer, mapping, mappings, number, text, text_or_none
from traces.readers.formats.opencode.rows import as_message
from traces.session.turn import Usage

FINISH = {"stop": "stop", "tool-calls": "tool_calls", "length": "length"}
CLEARED = "[Old tool result content cleared]"
SUMMARIZED = "What did we do so far?"
"""What opencode puts before the summary of a compaction."""

SUMMARY_PROMPT = "summary_prompt_not_recorded"


class OpencodeLog(Log):
    """Takes messages with their parts, rows of either message table, or events of the stream."""

    _open: Answer | None = None

    def take(self, number: int, row: dict[str, Any]) -> str | None:
        self.builder.session_id = self.builder.session_id or text_or_none(
            row.get("sessionID", row.get("session_id"))
        )
        if isinstance(row.get("part"), dict):
            if row.get("type") == "step_start":
                self._open = None
            return self._part(number, row["part"], {})
        if "data" in row:
            kind = text(row.get("type"))
            row = as_message(row)
            if not row:
                return kind or "no_type"
        info = mapping(row.get("info"))
        parts = mappings(row.get("parts"))
        if info.get("role") == "user":
            return self._user(number, parts, harness=info.get("synthetic") is True)
        if info.get("role") == "summary":
            self._replace([Said("user", self._parts(parts), "summary", (number,))])
            return None
        if info.get("role") != "assistant":
            return "no_role"
        return self._assistant(number, parts, info)

    def _assistant(
        self, number: int, parts: list[dict[str, Any]], info: dict[str, Any]
    ) -> str | None:
        self._open = None
        reasons = [self._part(number, part, info) for part in parts]
        if self._open is None:
            aborted = text(mapping(info.get("error")).get("name")) or "no_parts"
            return f"response_{aborted}"
        if info.get("summary") is True:
            self._summarized(number, self._open, info)
        return None if None in reasons else "no_content"

    def _summarized(self, number: int, answer: Answer, info: dict[str, Any]) -> None:
        """The answer to a request for a summary, which is not recorded itself."""
        answer.skip_reason = SUMMARY_PROMPT
        if info.get("finish") and answer.parts:
            asked = content_parts(SUMMARIZED, self.builder.intake.blobs)
            shown = Answer(list(answer.parts), rows=(number,), target=False)
            self._replace([Said("user", asked, "harness", (number,)), shown])

    def _replace(self, history: list[Any]) -> None:
        self.transcript.append(Replaced(history))
        self._open = None

    def _parts(self, parts: list[dict[str, Any]]) -> list[Any]:
        blobs = self.builder.intake.blobs
        return [p for part in parts for p in content_parts(text(part.get("text")), blobs)]

    def _user(self, number: int, parts: list[dict[str, Any]], *, harness: bool) -> str | None:
        if any(part.get("type") == "compaction" for part in parts):
            return "compaction_request"
        if not parts:
            return "no_parts"
        said = Said("user", [], "human", (number,))
        for part in parts:
            if part.get("type") == "text":
                said.parts += self._parts([part])
            elif part.get("type") == "file":
                shown = {**part, "mimeType": part.get("mime")}
                said.parts.append(attachment(shown, self.builder.intake.blobs))
        synthetic = [part.get("synthetic") is True for part in parts if part.get("type") == "text"]
        said.origin = "harness" if harness or (synthetic and all(synthetic)) else "human"
        self.transcript.append(said)
        return None

    def _part(self, row: int, part: dict[str, Any], info: dict[str, Any]) -> str | None:
        kind = text(part.get("type"))
        if kind == "step-start":
            self._open = None
            self._answer(row, info)
        elif kind == "step-finish":
            answer = self._answer(row, info)
            answer.usage = _usage(mapping(part.get("tokens"))) or answer.usage
            reason = text(part.get("reason"))
            answer.finish_reason = FINISH.get(reason, reason) or answer.finish_reason
        elif kind == "text":
            self._answer(row, info).parts += self._parts([part])
        elif kind == "reasoning":
            answer = self._answer(row, info)
            answer.reasoning += text(part.get("text"))
            answer.state = "visible" if answer.reasoning else "encrypted"
        elif kind == "tool":
            self._tool(row, part, info)
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
        self.transcript.append(Result(call.id, parts, (row,), error, Outcome(code, took)))


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
