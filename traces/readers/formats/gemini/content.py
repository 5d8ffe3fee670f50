"""Gemini's ``Content`` objects: a role and parts.

{"role":"model","parts":[{"text":"…"},{"functionCall":{"id":"…","name":"…","args":{…}}}]}
{"role":"user","parts":[{"functionResponse":{"id":"…","name":"…","response":{"output":"…"}}}]}
"""

from dataclasses import dataclass, field
from typing import Any

from traces.readers.chat.arguments import Call, tool_call
from traces.readers.chat.content import Parts, content_parts
from traces.readers.chat.items import Answer, Item, Result, Rows, Said
from traces.readers.chat.shapes import integer, mapping, mappings, text
from traces.readers.files.json_text import dump
from traces.session.blobs import BlobStore
from traces.session.turn import Usage


@dataclass(slots=True)
class ContentReader:
    """Reads contents in order; calls without an id are paired by name and position."""

    blobs: BlobStore
    _waiting: list[Call] = field(default_factory=list)
    _made: int = 0

    def read(self, content: dict[str, Any], rows: Rows) -> list[Item]:
        """The items of one content."""
        if content.get("role") == "model":
            return [self.answer(content, rows)]
        results: list[Item] = []
        rest: Parts = []
        for part in mappings(content.get("parts")):
            if isinstance(part.get("functionResponse"), dict):
                results.append(self.result(part["functionResponse"], rows))
            else:
                rest += content_parts(part, self.blobs)
        return [*results, Said("user", rest, "human", rows)] if rest or not results else results

    def answer(self, content: dict[str, Any], rows: Rows) -> Answer:
        """A response; parts marked as thought are summaries of hidden reasoning."""
        answer = Answer(rows=rows)
        for part in mappings(content.get("parts")):
            if isinstance(part.get("functionCall"), dict):
                asked = part["functionCall"]
                self._made += 1
                call_id = text(asked.get("id")) or f"call_{self._made}"
                answer.calls.append(tool_call(call_id, asked.get("name"), asked.get("args")))
            elif part.get("thought") is True:
                answer.reasoning += text(part.get("text"))
                answer.state = "summary"
            else:
                answer.parts += content_parts(part, self.blobs)
        self._waiting = list(answer.calls)
        return answer

    def result(self, response: dict[str, Any], rows: Rows) -> Result:
        """A function response."""
        named, function = text(response.get("id")), text(response.get("name"))
        by_id = (call for call in self._waiting if call.id == named)
        by_name = (call for call in self._waiting if call.name == function and not named)
        call = next(by_id, None) or next(by_name, None)
        if call is not None:
            self._waiting.remove(call)
        content, error = response_content(mapping(response.get("response")))
        return Result(call.id if call else named, content_parts(content, self.blobs), rows, error)


def response_content(response: dict[str, Any]) -> tuple[Any, bool]:
    """What a function response says, and whether it is an error."""
    if response.get("error") is not None:
        return _as_text(response["error"]), True
    return _as_text(response.get("output", response if response else None)), False


def _as_text(value: Any) -> Any:
    return dump(value) if isinstance(value, dict) else value


def gemini_usage(counts: dict[str, Any]) -> Usage | None:
    """Usage of the API (``promptTokenCount``) or of the CLI's logs (``input``)."""
    if not counts:
        return None
    thoughts = integer(counts.get("thoughtsTokenCount", counts.get("thoughts")))
    visible = integer(counts.get("candidatesTokenCount", counts.get("output")))
    total = [count for count in (visible, thoughts) if count is not None]
    return Usage(
        prompt=integer(counts.get("promptTokenCount", counts.get("input"))),
        cached=integer(counts.get("cachedContentTokenCount", counts.get("cached"))),
        completion=sum(total) if total else None,
        reasoning=thoughts,
    )
