"""Read a stream of ``POST /v1/messages`` as a strict client would.

    event: message_start
    data: {"type":"message_start","message":{"type":"message","role":"assistant","content":[],…}}
    event: content_block_start
    data: {"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}
    event: content_block_delta
    data: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"ok"}}
    event: content_block_stop
    data: {"type":"content_block_stop","index":0}
    event: message_delta
    data: {"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":1}}
    event: message_stop
    data: {"type":"message_stop"}

Sources: Anthropic, "Streaming messages" (order and nesting of events, `ping`, `error`); vLLM 0.32,
`entrypoints/anthropic/serving.py`, `message_stream_converter`. Unknown types of events are passed
over, as the standard asks of clients.
"""

import json
from typing import Any

from msgspec import Struct

from traces.routes.assembly import Assembly, Block, Kind, assembled
from traces.wire.capture import Capture
from traces.wire.response import Response, Usage
from traces.wire.sse import ServerEvent


class _Usage(Struct):
    input_tokens: int | None = None
    output_tokens: int | None = None
    cache_read_input_tokens: int | None = None
    cache_creation_input_tokens: int | None = None


class _Message(Struct):
    id: str | None = None
    type: str | None = None
    role: str | None = None
    content: list[Any] | None = None
    model: str | None = None
    usage: _Usage | None = None


class _Block(Struct):
    type: str
    text: str | None = None
    thinking: str | None = None
    id: str | None = None
    name: str | None = None
    input: dict[str, Any] | None = None


class _Delta(Struct):
    type: str | None = None
    text: str | None = None
    thinking: str | None = None
    partial_json: str | None = None
    signature: str | None = None
    stop_reason: str | None = None
    stop_sequence: str | None = None


class _Event(Struct):
    type: str
    index: int | None = None
    message: _Message | None = None
    content_block: _Block | None = None
    delta: _Delta | None = None
    usage: _Usage | None = None
    error: Any = None


_KINDS: dict[str, Kind] = {"text": "text", "thinking": "thinking", "tool_use": "call"}

_DELTAS = {"text_delta": "text", "thinking_delta": "thinking", "input_json_delta": "call"}

_FINISHES = {
    "end_turn": "stop",
    "stop_sequence": "stop",
    "max_tokens": "length",
    "tool_use": "tool_calls",
}
"""Stop reasons in the words of chat completions; others stay as they are."""


def _fields(kind: Kind, block: _Block) -> tuple[Any, ...]:
    """What clients read of a block as it starts."""
    if kind == "call":
        return block.id, block.name, block.input
    return {"text": (block.text,), "thinking": (block.thinking,)}.get(kind, ())


def read_messages(capture: Capture) -> Response:
    """The response a capture holds. Never raises (`traces.wire.reassembly.response_of`)."""
    stream = _Stream()
    return assembled(capture, stream.answer, stream.take)


class _Stream:
    def __init__(self) -> None:
        self.answer = Assembly()
        self.started = False
        self.delta_seen = False
        self.places: dict[int, Block] = {}
        self.current: int | None = None
        self.next = 0
        self.prompt: _Usage | None = None

    def take(self, number: int, event: ServerEvent) -> None:
        answer = self.answer
        read = answer.read(number, event, _Event)
        if read is None:
            return
        if read.type == "ping":
            return
        answer.arrived(event.at_ms, delta=read.type.startswith("content_block_"))
        if answer.done:
            answer.breach(number, f"{read.type} behind message_stop")
        handler = _HANDLERS.get(read.type)
        if handler is None:
            answer.irregular[f"events of type {read.type[:40]}"] = None
        else:
            if not self.started and read.type not in ("message_start", "error"):
                answer.breach(number, f"{read.type} before message_start")
                self.started = True
            handler(self, number, read)

    def begin(self, number: int, read: _Event) -> None:
        if self.started:
            self.answer.breach(number, "a second message_start")
        self.started = True
        message = read.message or _Message()
        if message.type != "message" or message.role != "assistant":
            self.answer.breach(number, "message_start without type message or role assistant")
        if None in (message.id, message.content, message.model, message.usage):
            self.answer.breach(number, "message_start without id, content, model or usage")
        self.answer.model, self.prompt = message.model, message.usage

    def open(self, number: int, read: _Event) -> None:
        block, index = read.content_block, read.index
        if block is None or index is None:
            self.answer.breach(number, "content_block_start without its block or its index")
            return
        if self.current is not None:
            self.answer.breach(number, f"block {index} starts inside block {self.current}")
        if index != self.next:
            self.answer.breach(number, f"block {index} starts, {self.next} is the next one")
        kind = _KINDS.get(block.type, "other")
        if kind == "other":
            self.answer.irregular[f"blocks of type {block.type[:40]}"] = None
        if None in _fields(kind, block):
            self.answer.breach(number, f"a {block.type} block starts without its fields")
        made = Block(kind, block.id, block.name, without="{}")
        self.places[index] = made
        self.current, self.next = index, index + 1
        self.answer.open(number, made)
        first = block.text or block.thinking or (json.dumps(block.input) if block.input else "")
        if first:
            self.answer.add(made, first)

    def add(self, number: int, read: _Event) -> None:
        delta, index = read.delta or _Delta(), read.index
        block = None if index is None else self.places.get(index)
        if block is None or index != self.current:
            self.answer.breach(number, f"a delta of block {index}, which is not open")
            if block is None:
                return
        if delta.type == "signature_delta":
            block.signed = True
            return
        kind = _DELTAS.get(delta.type or "")
        if kind is None:
            self.answer.irregular[f"deltas of type {str(delta.type)[:40]}"] = None
        elif kind != block.kind and block.kind != "other":
            self.answer.breach(number, f"a {delta.type} in a block of another type")
        piece = delta.text or delta.thinking or delta.partial_json
        if piece:
            self.answer.add(block, piece)

    def close(self, number: int, read: _Event) -> None:
        block = None if read.index is None else self.places.get(read.index)
        if block is None or read.index != self.current:
            self.answer.breach(number, f"block {read.index} stops, and is not open")
            return
        if block.kind == "thinking" and not block.signed:
            self.answer.breach(number, f"block {read.index} is thinking without a signature")
        self.current = None

    def finish(self, number: int, read: _Event) -> None:
        if self.current is not None:
            self.answer.breach(number, f"message_delta inside block {self.current}")
        self._use(read.usage)
        reason = read.delta.stop_reason if read.delta else None
        if reason is not None:
            self.answer.reasons.append(_FINISHES.get(reason, reason))
            self.answer.stop = read.delta.stop_sequence if read.delta else None
        self.delta_seen = True

    def stop(self, number: int, read: _Event) -> None:
        if self.current is not None:
            self.answer.breach(number, f"message_stop inside block {self.current}")
        if not self.delta_seen:
            self.answer.breach(number, "message_stop without a message_delta before it")
        self.answer.done = True

    def fail(self, number: int, read: _Event) -> None:
        self.answer.failed({"error": read.error})

    def _use(self, last: _Usage | None) -> None:
        """Usage as `message_delta` gives it; of the prompt `message_start` may have said it."""
        first, spent = self.prompt or _Usage(), last or _Usage()
        whole = spent if spent.input_tokens is not None else first
        prompt, cached = whole.input_tokens, whole.cache_read_input_tokens
        if prompt is not None:
            prompt += (cached or 0) + (whole.cache_creation_input_tokens or 0)
        if prompt is not None or spent.output_tokens is not None:
            self.answer.usage = Usage(prompt, spent.output_tokens, cached)


_HANDLERS = {
    "message_start": _Stream.begin,
    "content_block_start": _Stream.open,
    "content_block_delta": _Stream.add,
    "content_block_stop": _Stream.close,
    "message_delta": _Stream.finish,
    "message_stop": _Stream.stop,
    "error": _Stream.fail,
}
