"""Sessions of Google's Agent Development Kit (ADK), as its web interface and its services export.

    {"id":"…","appName":"…","userId":"…","events":[{"author":"user","content":{"role":"user",
     "parts":[{"text":"…"}]}},{"author":"agent","content":{"role":"model","parts":[…]},
     "usageMetadata":{…}}]}

Events of a stream that are parts of a later one (``partial``) are left out. Instructions and tools
of an agent are in its code, not in its session.
"""

from collections.abc import Iterator
from typing import Any, ClassVar

from traces.readers.chat.builder import SessionBuilder
from traces.readers.chat.items import Answer
from traces.readers.chat.log import Log, entries
from traces.readers.chat.shapes import items, mapping, mappings, text, text_or_none
from traces.readers.files.sample import Sample
from traces.readers.formats.gemini.content import ContentReader, gemini_usage
from traces.readers.intake import Intake
from traces.session.session import Session

FINISH = {"STOP": "stop", "MAX_TOKENS": "length"}


def _value(row: dict[str, Any], name: str, other: str) -> Any:
    """A field in the spelling of JSON, or of Python."""
    return row.get(name, row.get(other))


class Adk:
    """Reads one session."""

    format: ClassVar[str] = "adk"
    unsupported: ClassVar[str | None] = None
    keys: ClassVar[frozenset[str]] = frozenset({"events", "author"})

    def match(self, sample: Sample) -> float:
        """An object whose events, or rows that are events, have an author and a content."""
        events = mappings(mapping(sample.document).get("events"))[:50] or sample.objects
        fits = sum("author" in event and _is_event(event) for event in events)
        return fits / len(events) if events else 0.0

    def read(self, intake: Intake) -> Iterator[Session]:
        """The session of the file."""
        document = mapping(intake.source.document)
        builder = SessionBuilder(intake, tool="ADK")
        builder.session_id = text_or_none(document.get("id"))
        app = text(_value(document, "appName", "app_name"))
        builder.tags = {"app": app} if app and len(app) < 100 else {}
        events = items(document.get("events"))
        rows = entries(intake, events) if events else intake.source.rows()
        yield from _AdkLog(builder).read(rows)


def _is_event(event: dict[str, Any]) -> bool:
    known = {"invocationId", "invocation_id", "actions", "content"}
    return not known.isdisjoint(event) and "parts" in mapping(event.get("content"))


class _AdkLog(Log):
    def __post_init__(self) -> None:
        super().__post_init__()
        self.contents = ContentReader(self.builder.intake.blobs)

    def take(self, number: int, row: dict[str, Any]) -> str | None:
        content = mapping(row.get("content"))
        if row.get("partial") is True:
            return "superseded"
        if not mappings(content.get("parts")):
            return "no_parts"
        called = any("functionCall" in p or "function_call" in p for p in content["parts"])
        by_model = called or content.get("role") == "model"
        answered = any("functionResponse" in mapping(p) for p in content["parts"])
        role = "model" if by_model and not answered else "user"
        for item in self.contents.read({"role": role, "parts": content["parts"]}, (number,)):
            if isinstance(item, Answer):
                counts = mapping(_value(row, "usageMetadata", "usage_metadata"))
                item.usage = gemini_usage(counts)
                item.model = text_or_none(_value(row, "modelVersion", "model_version"))
                item.response_id = text_or_none(row.get("id"))
                reason = text(_value(row, "finishReason", "finish_reason"))
                item.finish_reason = "tool_calls" if item.calls else FINISH.get(reason)
            self.transcript.append(item)
        return None
