"""Events of OpenHands before its SDK: actions of user and agent, observations of the runtime."""

from collections.abc import Iterator
from typing import Any

from traces.readers.chat.arguments import tool_call
from traces.readers.chat.chat import ChatReader
from traces.readers.chat.content import content_parts
from traces.readers.chat.items import Answer, Item, Replaced, Result, Said
from traces.readers.chat.log import Log
from traces.readers.chat.payloads import Outcome
from traces.readers.chat.shapes import integer, items, mapping, mappings, text, text_or_none
from traces.readers.chat.tools import recorded_tools
from traces.readers.chat.transcript import add_thread
from traces.readers.formats.requests.openai_answer import openai_usage
from traces.session.session import Session

NOT_IN_PROMPT = frozenset(
    {"recall", "change_agent_state", "agent_state_changed", "null", "condensation_request"}
)
NO_EVENT = "no_event"
CALL_ARGUMENTS = {
    "run": ("command",),
    "run_ipython": ("code",),
    "edit": ("path", "content", "command", "old_str", "new_str", "start", "end"),
    "read": ("path", "start", "end"),
    "write": ("path", "content"),
    "browse": ("url",),
    "browse_interactive": ("browser_actions",),
    "think": ("thought",),
    "delegate": ("agent", "inputs"),
}
"""Arguments of an action that the model gave; the rest is the harness's."""


class EventLog(Log):
    """Takes events; `row` is set where all of them stand in one row."""

    row: int | None = None
    toolset: str | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        self._answers: dict[str, Answer] = {}
        self._entries: list[tuple[int | None, Item]] = []
        self._forgotten: set[int | None] = set()
        self._made = 0
        self._waiting: list[str] = []

    def read_events(self, events: list[Any]) -> Iterator[Session]:
        """The session of a history that is one cell of a row."""
        flat = [e for event in events for e in (event if isinstance(event, list) else [event])]
        row = self.row or 1
        reasons = [self.take(row, mapping(event)) for event in flat]
        if NO_EVENT in reasons:
            self.builder.left_out(row, reasons.count(NO_EVENT))
            self.fidelity = "lossy"
        self.finish()
        add_thread(self.builder, self.transcript, fidelity=self.fidelity)
        if self.builder.turn_count:
            yield self.builder.build()

    def finish(self) -> None:
        self.transcript = [item for _, item in self._entries]

    def take(self, number: int, row: dict[str, Any]) -> str | None:
        event = integer(row.get("id"))
        if "action" in row:
            kind = text(row.get("action"))
            reason = (
                f"action_{kind}"
                if kind in NOT_IN_PROMPT
                else self._action(number, event, kind, row)
            )
        elif "observation" in row:
            kind = text(row.get("observation"))
            reason = self._observation(number, event, kind, row)
        else:
            return NO_EVENT
        return reason

    def _add(self, event: int | None, item: Item) -> None:
        self._entries.append((event, item))

    def _action(self, number: int, event: int | None, kind: str, row: dict[str, Any]) -> str | None:
        arguments = mapping(row.get("args")) or row
        blobs, rows = self.builder.intake.blobs, (number,)
        metadata = mapping(row.get("tool_call_metadata"))
        if kind == "system":
            self.builder.tool_version = text_or_none(arguments.get("openhands_version"))
            self._add(
                event,
                Said("system", content_parts(arguments.get("content"), blobs), "harness", rows),
            )
            if items(arguments.get("tools")):
                self.toolset = self.builder.toolset(recorded_tools(arguments["tools"]))
            return None
        if kind == "condensation":
            self._condense(number, arguments)
            return None
        if (
            kind == "message"
            and row.get("source", "user" if not self._answers else "agent") == "user"
        ):
            said = content_parts(arguments.get("content"), blobs)
            self._add(event, Said("user", said, "human", rows))
            return None
        response = mapping(metadata.get("model_response"))
        if response:
            self._recorded(event, response, rows)
            return None
        self._made_up(event, kind, arguments, rows)
        return None

    def _recorded(self, event: int | None, response: dict[str, Any], rows: tuple[int, ...]) -> None:
        """A response as the API gave it; parallel calls share it, so it is added once."""
        key = text(response.get("id"))
        if key and key in self._answers:
            return
        choice = next(iter(mappings(response.get("choices"))), {})
        message = {**mapping(choice.get("message")), "role": "assistant"}
        answer = ChatReader(self.builder.intake.blobs).message(message, rows)[0]
        assert isinstance(answer, Answer)
        answer.response_id = key or None
        answer.model = text_or_none(response.get("model"))
        answer.finish_reason = text_or_none(choice.get("finish_reason"))
        answer.usage = openai_usage(response.get("usage"))
        answer.toolset = self.toolset
        self._answers[key or f"event {event}"] = answer
        self._add(event, answer)

    def _made_up(
        self, event: int | None, kind: str, arguments: dict[str, Any], rows: tuple[int, ...]
    ) -> None:
        """A response rebuilt from its action, where the API's answer was not kept."""
        self.fidelity = "lossy"
        said = arguments.get("content") if kind == "message" else arguments.get("thought")
        answer = Answer(rows=rows, toolset=self.toolset)
        answer.parts = content_parts(said, self.builder.intake.blobs) if kind != "think" else []
        if kind in CALL_ARGUMENTS:
            self._made += 1
            given = {k: arguments[k] for k in CALL_ARGUMENTS[kind] if arguments.get(k) is not None}
            answer.calls.append(tool_call(f"call_{self._made}", kind, given))
            self._waiting.append(answer.calls[0].id)
        self._answers[f"event {len(self._entries)}"] = answer
        self._add(event, answer)

    def _observation(
        self, number: int, event: int | None, kind: str, row: dict[str, Any]
    ) -> str | None:
        metadata = mapping(row.get("tool_call_metadata"))
        call_id = text(metadata.get("tool_call_id"))
        if kind in NOT_IN_PROMPT and not call_id:
            return f"observation_{kind}"
        parts = content_parts(row.get("content"), self.builder.intake.blobs)
        extras = mapping(row.get("extras")) or row
        code = integer(extras.get("exit_code", mapping(extras.get("metadata")).get("exit_code")))
        outcome = None if code is None else Outcome(code)
        if not call_id and self._waiting:
            call_id = self._waiting.pop(0)
        if call_id:
            self._add(event, Result(call_id, parts, (number,), outcome=outcome))
        else:
            self._add(event, Said("user", parts, "tool", (number,)))
        return None

    def _condense(self, number: int, arguments: dict[str, Any]) -> None:
        """Drop the events a condensation forgot, and put its summary in their place."""
        forgotten = {integer(e) for e in items(arguments.get("forgotten_event_ids"))}
        first = integer(arguments.get("forgotten_events_start_id"))
        last = integer(arguments.get("forgotten_events_end_id"))
        if first is not None and last is not None:
            forgotten |= set(range(first, last + 1))
        self._forgotten |= forgotten
        kept = [(event, item) for event, item in self._entries if not isinstance(item, Replaced)]
        left: list[Item] = [
            item for event, item in kept if event is None or event not in self._forgotten
        ]
        asked = {call.id for item in left if isinstance(item, Answer) for call in item.calls}
        left = [item for item in left if not isinstance(item, Result) or item.call_id in asked]
        summary = text(arguments.get("summary"))
        if summary:
            said = Said(
                "user", content_parts(summary, self.builder.intake.blobs), "summary", (number,)
            )
            left.insert(min(integer(arguments.get("summary_offset")) or 0, len(left)), said)
        self._add(None, Replaced(left, keep_system=False))
