"""Answers made up, and the events in which each route streams them.

    blocks = [("thinking", "Read it."), ("text", "I look."), ("call", ("c1", "ls", "{}"))]
    wire(messages_events(blocks, cut))        # the bytes of a sound stream of /v1/messages

`cut` takes a text apart into the pieces of its deltas.
"""

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from traces.wire.capture import Capture, CaptureKey
from traces.wire.route import Route

Event = dict[str, Any]
Block = tuple[str, Any]
Cut = Callable[[str], Sequence[str]]


def wire(events: Iterable[Event], newline: str = "\n") -> bytes:
    """The bytes of a stream; chat events have no name and end with ``[DONE]``."""
    lines = []
    for event in events:
        name = event.get("type")
        lines += [f"event: {name}"] if name else []
        lines += [f"data: {json.dumps(event, ensure_ascii=False)}", ""]
    if events and not any("type" in event for event in events):
        lines += ["data: [DONE]", ""]
    return newline.join([*lines, ""]).encode()


def captured(route: Route, reads: Iterable[bytes], status: int = 200) -> Capture:
    """A capture of these network reads, a millisecond apart."""
    key = CaptureKey("r", "candidate", "a", "s", "t")
    events = tuple((float(at), read) for at, read in enumerate(reads))
    return Capture(key, {}, status, 0.0, events, "closed", route=route)


def messages_events(
    blocks: Sequence[Block], cut: Cut, stop_reason: str = "end_turn", prompt: int = 9
) -> list[Event]:
    """As vLLM's `message_stream_converter` sends them."""
    usage = {"input_tokens": prompt, "output_tokens": 0}
    message = {"id": "m1", "type": "message", "role": "assistant", "content": [], "model": "m"}
    events: list[Event] = [{"type": "message_start", "message": {**message, "usage": usage}}]
    for index, block in enumerate(blocks):
        events += _message_block(index, block, cut)
    delta = {"stop_reason": stop_reason, "stop_sequence": None}
    spent = {"input_tokens": prompt, "output_tokens": 5}
    events.append({"type": "message_delta", "delta": delta, "usage": spent})
    return [*events, {"type": "message_stop"}]


def _message_block(index: int, block: Block, cut: Cut) -> Iterator[Event]:
    kind, value = block
    starts = {
        "text": {"type": "text", "text": ""},
        "thinking": {"type": "thinking", "thinking": ""},
    }
    start = starts.get(kind)
    text = value
    if start is None:
        identifier, name, text = value
        start = {"type": "tool_use", "id": identifier, "name": name, "input": {}}
    yield {"type": "content_block_start", "index": index, "content_block": start}
    field = {"text": "text", "thinking": "thinking"}.get(kind, "partial_json")
    delta = {"text": "text_delta", "thinking": "thinking_delta"}.get(kind, "input_json_delta")
    for piece in cut(text):
        yield {
            "type": "content_block_delta",
            "index": index,
            "delta": {"type": delta, field: piece},
        }
    if kind == "thinking":
        signature = {"type": "signature_delta", "signature": "5c8a"}
        yield {"type": "content_block_delta", "index": index, "delta": signature}
    yield {"type": "content_block_stop", "index": index}


def responses_events(
    blocks: Sequence[Block], cut: Cut, status: str = "completed", prompt: int = 9
) -> list[Event]:
    """As vLLM's `SimpleStreamingEventProcessor` sends them."""
    made: Event = {
        "id": "r1",
        "object": "response",
        "created_at": 0,
        "model": "m",
        "parallel_tool_calls": True,
        "tool_choice": "auto",
        "tools": [],
    }
    begun = {**made, "status": "in_progress", "output": []}
    events: list[Event] = [
        {"type": "response.created", "response": begun},
        {"type": "response.in_progress", "response": begun},
    ]
    items = []
    for index, block in enumerate(blocks):
        item, of_item = _response_item(index, block, cut)
        items.append(item)
        events += of_item
    usage = {
        "input_tokens": prompt,
        "input_tokens_details": {"cached_tokens": 0, "cache_write_tokens": 0},
        "output_tokens": 5,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": prompt + 5,
    }
    details = None if status == "completed" else {"reason": "max_output_tokens"}
    end = {**made, "status": status, "output": items, "usage": usage, "incomplete_details": details}
    events.append({"type": "response.completed", "response": end})
    return [{**event, "sequence_number": number} for number, event in enumerate(events)]


def _response_item(index: int, block: Block, cut: Cut) -> tuple[Event, list[Event]]:
    kind, value = block
    if kind == "call":
        return _response_call(index, *value, cut)
    names = ("reasoning_text", "rs") if kind == "thinking" else ("output_text", "msg")
    part_type, prefix = names
    item_id = f"{prefix}_{index}"
    part: Event = {"type": part_type, "text": value}
    if kind == "text":
        part["annotations"] = []
    item: Event = {"id": item_id, "status": "completed", "content": [part]}
    item |= (
        {"type": "reasoning", "summary": []}
        if kind == "thinking"
        else {"type": "message", "role": "assistant"}
    )
    place = {"output_index": index, "item_id": item_id, "content_index": 0}
    begun = {**item, "status": "in_progress", "content": []}
    events: list[Event] = [
        {"type": "response.output_item.added", "output_index": index, "item": begun},
        {"type": "response.content_part.added", **place, "part": {**part, "text": ""}},
        *(
            {"type": f"response.{part_type}.delta", **place, "delta": piece, "logprobs": []}
            for piece in cut(value)
        ),
        {"type": f"response.{part_type}.done", **place, "text": value, "logprobs": []},
        {"type": "response.content_part.done", **place, "part": part},
        {"type": "response.output_item.done", "output_index": index, "item": item},
    ]
    return item, events


def _response_call(
    index: int, identifier: str, name: str, arguments: str, cut: Cut
) -> tuple[Event, list[Event]]:
    item_id = f"fc_{index}"
    item = {
        "id": item_id,
        "type": "function_call",
        "call_id": identifier,
        "name": name,
        "arguments": arguments,
        "status": "completed",
    }
    place = {"output_index": index, "item_id": item_id}
    begun = {**item, "arguments": "", "status": "in_progress"}
    kind = "response.function_call_arguments"
    events: list[Event] = [
        {"type": "response.output_item.added", "output_index": index, "item": begun},
        *({"type": f"{kind}.delta", **place, "delta": piece} for piece in cut(arguments)),
        {"type": f"{kind}.done", **place, "name": name, "arguments": arguments},
        {"type": "response.output_item.done", "output_index": index, "item": item},
    ]
    return item, events


def completion_events(text: str, cut: Cut, prompt: int = 9) -> list[Event]:
    """As vLLM's `/v1/completions` streams a text."""
    pieces = [
        {"id": "c", "choices": [{"index": 0, "text": piece, "finish_reason": None}]}
        for piece in cut(text)
    ]
    end = {"id": "c", "choices": [{"index": 0, "text": "", "finish_reason": "stop"}]}
    usage = {"prompt_tokens": prompt, "completion_tokens": 5, "total_tokens": prompt + 5}
    return [*pieces, end, {"id": "c", "choices": [], "usage": usage}]
