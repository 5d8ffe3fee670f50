"""OpenHands: ``output.jsonl`` of evaluations, trajectory lists, SDK events.

    {"instance_id":"…","history":[{"id":1,"source":"agent","action":"run","args":{…},
     "tool_call_metadata":{"tool_call_id":"…","model_response":{"id":"…","choices":[…]}}}, …]}

Old histories are pairs of action and observation without ids. There, and where the model wrote
tool calls as text, calls are made from the actions and the prefix is marked ``lossy``.
"""

from collections.abc import Iterator
from typing import Any, ClassVar

from traces.readers.chat.builder import SessionBuilder
from traces.readers.chat.shapes import items, mapping, text_or_none
from traces.readers.files.sample import Sample
from traces.readers.formats.openhands.events import EventLog
from traces.readers.formats.openhands.sdk import SdkLog
from traces.readers.intake import Intake
from traces.readers.reader import share
from traces.readers.tags import scalar_tags
from traces.session.session import Session


def _is_event(row: Any) -> bool:
    """Whether it is one, or, as in old histories, a pair of them."""
    if isinstance(row, list):
        return bool(row) and all(isinstance(event, dict) and _is_event(event) for event in row)
    event = mapping(row)
    acts = "action" in event or "observation" in event
    return acts and ("source" in event or "args" in event or "content" in event)


def _is_sdk_event(row: dict[str, Any]) -> bool:
    return str(row.get("kind", "")).endswith("Event") and "source" in row


class OpenHands:
    """Reads evaluations, one session per row, or the events of one session."""

    format: ClassVar[str] = "openhands"
    unsupported: ClassVar[str | None] = None
    keys: ClassVar[frozenset[str]] = frozenset({"history", "action", "observation", "kind"})

    def match(self, sample: Sample) -> float:
        """Rows with a history of events, or rows that are events."""
        rows = sample.objects
        histories = sum(
            any(_is_event(event) for event in items(row.get("history"))[:5]) for row in rows
        )
        events = sum(_is_event(row) or _is_sdk_event(row) for row in rows)
        return share(sample, max(histories, events))

    def read(self, intake: Intake) -> Iterator[Session]:
        """The sessions of the file."""
        rows = intake.source.sample.objects
        if any(isinstance(row.get("history"), list) for row in rows):
            for number, value in intake.source.rows():
                yield from self._evaluation(number, mapping(value), intake)
        elif any(_is_sdk_event(row) for row in rows):
            yield from SdkLog(SessionBuilder(intake, tool="OpenHands")).read(intake.source.rows())
        else:
            yield from EventLog(SessionBuilder(intake, tool="OpenHands")).read(intake.source.rows())

    def _evaluation(self, number: int, row: dict[str, Any], intake: Intake) -> Iterator[Session]:
        history = items(row.get("history"))
        if not history:
            intake.ledger.skip(number, "no_history")
            return
        intake.ledger.use(number)
        builder = SessionBuilder(intake, tool="OpenHands")
        builder.session_id = text_or_none(row.get("instance_id"))
        test = mapping(row.get("test_result"))
        builder.tags = scalar_tags(
            {"instance_id": row.get("instance_id"), "resolved": test.get("resolved")}
        )
        log = EventLog(builder)
        log.row = number
        yield from log.read_events(history)
