"""Read a stream of ``POST /v1/responses`` as a strict client would.

    event: response.created
    data: {"type":"response.created","sequence_number":0,"response":{"status":"in_progress",…}}
    event: response.output_item.added
    data: {"type":"response.output_item.added","output_index":0,
           "item":{"id":"fc_1","type":"function_call","call_id":"c1","name":"ls","arguments":""},…}
    event: response.function_call_arguments.delta
    data: {"type":"response.function_call_arguments.delta","item_id":"fc_1","delta":"{}",…}
    event: response.output_item.done
    data: {"type":"response.output_item.done","item":{"id":"fc_1","arguments":"{}",…},…}
    event: response.completed
    data: {"type":"response.completed","response":{"status":"completed","output":[…],"usage":…}}

Sources: the OpenAI API reference, "Streaming events" of responses; vLLM 0.32,
`entrypoints/openai/responses/streaming_events.py`. Three accounts of one answer are compared with
each other: the deltas, the ``….done`` events, and the output of the last event. Unknown types of
events are passed over.
"""

from typing import Any

from msgspec import Struct

from traces.routes.assembly import Assembly, Block, Kind, assembled
from traces.wire.capture import Capture
from traces.wire.chunk import read_chunk
from traces.wire.reassembly import speculation_of
from traces.wire.response import Response, Usage
from traces.wire.route import RESPONSES_ENDS
from traces.wire.sse import ServerEvent


class _Part(Struct):
    type: str | None = None
    text: str | None = None


class _Item(Struct):
    type: str = ""
    id: str | None = None
    content: list[_Part] | None = None
    name: str | None = None
    call_id: str | None = None
    arguments: str | None = None
    input: str | None = None


class _Details(Struct):
    cached_tokens: int | None = None


class _Usage(Struct):
    input_tokens: int | None = None
    output_tokens: int | None = None
    input_tokens_details: _Details | None = None


class _Incomplete(Struct):
    reason: str | None = None


class _Response(Struct):
    status: str | None = None
    model: str | None = None
    output: list[_Item] | None = None
    usage: _Usage | None = None
    incomplete_details: _Incomplete | None = None
    error: Any = None
    metrics: dict[str, Any] | None = None


class _Event(Struct):
    type: str
    sequence_number: int | None = None
    output_index: int | None = None
    content_index: int | None = None
    item_id: str | None = None
    item: _Item | None = None
    part: _Part | None = None
    delta: str | None = None
    text: str | None = None
    arguments: str | None = None
    input: str | None = None
    response: _Response | None = None
    error: Any = None
    message: str | None = None


_KINDS: dict[str, Kind] = {
    "message": "text",
    "reasoning": "thinking",
    "function_call": "call",
    "custom_tool_call": "call",
}

_DELTAS: dict[str, Kind] = {
    "response.output_text.delta": "text",
    "response.reasoning_text.delta": "thinking",
    "response.function_call_arguments.delta": "call",
    "response.custom_tool_call_input.delta": "call",
}

_DONE: dict[str, Kind] = {
    "response.output_text.done": "text",
    "response.reasoning_text.done": "thinking",
    "response.function_call_arguments.done": "call",
    "response.custom_tool_call_input.done": "call",
}

_PASSED = ("response.in_progress", "response.queued", "response.content_part.added")


def read_responses(capture: Capture) -> Response:
    """The response a capture holds. Never raises (`traces.wire.reassembly.response_of`)."""
    stream = _Stream()
    return assembled(capture, stream.answer, stream.take)


class _Stream:
    def __init__(self) -> None:
        self.answer = Assembly()
        self.items: dict[int, tuple[str, Block]] = {}
        self.unclosed: set[int] = set()
        self.following = 0
        self.sequence = 0
        self.started = False

    def take(self, number: int, event: ServerEvent) -> None:
        answer = self.answer
        read = answer.read(number, event, _Event)
        if read is None:
            return
        self._order(number, event, read)
        answer.arrived(event.at_ms, delta=read.type in _DELTAS)
        if read.type == "response.created":
            answer.model = read.response.model if read.response else None
        elif read.type == "response.output_item.added":
            self._open(number, read)
        elif read.type in _DELTAS:
            self._add(number, read, _DELTAS[read.type])
        elif read.type in _DONE:
            self._repeated(number, read, _DONE[read.type])
        elif read.type == "response.content_part.done":
            self._part(number, read)
        elif read.type == "response.output_item.done":
            self._close(number, read)
        elif read.type in RESPONSES_ENDS:
            self._end(number, read)
        elif read.type == "error":
            answer.failed({"error": read.error or {"message": read.message}})
        elif read.type not in _PASSED:
            answer.irregular[f"events of type {read.type[:60]}"] = None

    def _order(self, number: int, event: ServerEvent, read: _Event) -> None:
        answer = self.answer
        if answer.done:
            answer.breach(number, f"{read.type} behind the end of the response")
        if not self.started and read.type not in ("response.created", "error"):
            answer.breach(number, f"{read.type} before response.created")
        elif self.started and read.type == "response.created":
            answer.breach(number, "a second response.created")
        self.started = True
        if read.sequence_number is not None:
            if read.sequence_number != self.sequence:
                answer.breach(
                    number, f"sequence_number {read.sequence_number}, {self.sequence} is the next"
                )
            self.sequence = read.sequence_number + 1

    def _open(self, number: int, read: _Event) -> None:
        item = read.item
        if item is None:
            self.answer.breach(number, "response.output_item.added without its item")
            return
        place = self.following if read.output_index is None else read.output_index
        if place != self.following:
            self.answer.breach(number, f"item {place} is added, {self.following} is the next one")
        if self.unclosed:
            self.answer.breach(number, f"item {place} is added inside another")
        self.following = max(self.following, place + 1)
        self.unclosed.add(place)
        kind = _KINDS.get(item.type, "other")
        if kind == "other":
            self.answer.irregular[f"items of type {item.type[:40]}"] = None
        block = Block(kind, item.call_id if kind == "call" else item.id, item.name)
        self.items[place] = (item.id or "", block)
        self.answer.open(number, block)

    def _find(self, number: int, read: _Event, item_id: str | None) -> Block | None:
        """The open item an event is of; a breach where there is none such."""
        place = read.output_index
        if place is None or place not in self.items:
            self.answer.breach(number, f"{read.type} of item {place}, which was not added")
            return None
        known, block = self.items[place]
        if item_id is not None and item_id != known:
            self.answer.breach(number, f"{read.type} of item {place} under another id")
        if not block.open:
            self.answer.breach(number, f"{read.type} of item {place}, which is done")
        return block

    def _add(self, number: int, read: _Event, kind: Kind) -> None:
        block = self._find(number, read, read.item_id)
        if block is None:
            return
        if block.kind not in (kind, "other"):
            self.answer.breach(number, f"{read.type} in an item of another type")
        if read.delta:
            self.answer.add(block, read.delta)

    def _repeated(self, number: int, read: _Event, kind: Kind) -> None:
        block = self._find(number, read, read.item_id)
        said = {"text": read.text, "thinking": read.text}.get(kind, read.arguments)
        if kind == "call" and said is None:
            said = read.input
        if block is not None and said is not None and said != block.text:
            self.answer.breach(number, f"{read.type} repeats other text than its deltas")

    def _part(self, number: int, read: _Event) -> None:
        block = self._find(number, read, read.item_id)
        said = read.part.text if read.part else None
        if block is not None and said is not None and said != block.text:
            self.answer.breach(number, f"{read.type} repeats other text than its deltas")

    def _close(self, number: int, read: _Event) -> None:
        item = read.item or _Item()
        block = self._find(number, read, item.id)
        if block is None:
            return
        block.open = False
        self.unclosed.discard(read.output_index or 0)
        if read.item is None:
            self.answer.breach(number, f"{read.type} without its item")
        if difference := _difference(block, item):
            self.answer.breach(number, f"{read.type} shows another {difference} than its deltas")

    def _end(self, number: int, read: _Event) -> None:
        answer, response = self.answer, read.response or _Response()
        answer.done = True
        if self.unclosed:
            answer.breach(number, f"{read.type} inside an item")
        if response.error:
            answer.failed({"error": response.error})
        if response.usage is not None:
            details = response.usage.input_tokens_details
            answer.usage = Usage(
                response.usage.input_tokens,
                response.usage.output_tokens,
                details.cached_tokens if details else None,
            )
        if response.metrics:
            self._steps(number, response.metrics)
        answer.reasons.append(self._reason(response))
        if response.output is not None:
            self._compare(number, response.output)
        elif response.status in ("completed", "incomplete"):
            answer.breach(number, f"{read.type} without its output")

    def _reason(self, response: _Response) -> str:
        """The finish reason, in the words of chat completions."""
        if response.status == "completed":
            return "tool_calls" if self.answer.calls else "stop"
        if response.status == "incomplete" and not self.items:
            # vLLM says so of an answer without any item, however short it was.
            self.answer.irregular["an empty response that is called incomplete"] = None
            return "stop"
        if response.status == "incomplete":
            details = response.incomplete_details
            reason = details.reason if details else None
            return "length" if reason in (None, "max_output_tokens") else str(reason)
        return response.status or "unknown"

    def _compare(self, number: int, output: list[_Item]) -> None:
        """The last event's output against the items that were streamed."""
        streamed = list(self.items.values())
        others = any(block.kind == "other" for _, block in streamed)
        if others or any(item.type not in _KINDS for item in output):
            return  # built-in tools, whose items change their type between the two accounts
        if len(output) != len(streamed):
            self.answer.breach(
                number, f"the response holds {len(output)} items, {len(streamed)} were streamed"
            )
            return
        for place, (item, (known, block)) in enumerate(zip(output, streamed, strict=True)):
            difference = _difference(block, item) or ("id" if (item.id or "") != known else None)
            if difference:
                self.answer.breach(
                    number, f"item {place} of the response has another {difference} than its deltas"
                )

    def _steps(self, number: int, metrics: dict[str, Any]) -> None:
        raw = {"choices": [], "metrics": metrics}
        try:
            self.answer.speculation = speculation_of(read_chunk(raw), raw)
        except ValueError as error:
            self.answer.broken.note(number, f"no event of this route: {error}")


def _difference(block: Block, item: _Item) -> str | None:
    """In what a whole item differs from what was streamed of it; `None` where it does not."""
    if block.kind == "other":
        return None
    if _KINDS.get(item.type, "other") != block.kind:
        return "type"
    if block.kind == "call":
        if item.name != block.name:
            return "name"
        if item.call_id != block.id:
            return "call_id"
        said = item.arguments if item.arguments is not None else item.input
        return None if said == block.text else "argument text"
    text = "".join(part.text or "" for part in item.content or ())
    return None if text == block.text else "text"
