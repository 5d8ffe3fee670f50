"""Streamed API answers, as proxies and HAR files keep them, folded into whole ones.

data: {"choices":[{"delta":{"content":"Hi"}}]}            chat completions
data: {"type":"content_block_delta","index":0,"delta":{…}} Anthropic Messages
data: {"type":"response.completed","response":{…}}         Responses
"""

from typing import Any

from traces.readers.chat.shapes import integer, mapping, mappings, text
from traces.readers.files.json_text import embedded


def folded(body: str) -> dict[str, Any]:
    """The answer a body holds: JSON as it is, a stream of events put together; empty if neither."""
    whole = embedded(body)
    if isinstance(whole, dict):
        return whole
    events = []
    for line in body.split("\n"):
        if line.startswith("data:"):
            event = embedded(line[5:].strip())
            if isinstance(event, dict):
                events.append(event)
    if any("choices" in event for event in events):
        return _fold_chat(events)
    if any(text(event.get("type")).startswith("response.") for event in events):
        return _fold_responses(events)
    return _fold_anthropic(events)


def _fold_chat(events: list[dict[str, Any]]) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": ""}
    calls: dict[int, dict[str, Any]] = {}
    answer: dict[str, Any] = {}
    finish = None
    for event in events:
        answer |= {k: event[k] for k in ("id", "model", "usage") if event.get(k)}
        for choice in mappings(event.get("choices"))[:1]:
            delta = mapping(choice.get("delta"))
            message["content"] += text(delta.get("content")) + text(choice.get("text"))
            reasoning = text(delta.get("reasoning")) or text(delta.get("reasoning_content"))
            if reasoning:
                message["reasoning"] = message.get("reasoning", "") + reasoning
            finish = choice.get("finish_reason") or finish
            for piece in mappings(delta.get("tool_calls")):
                call = calls.setdefault(
                    integer(piece.get("index")) or 0, {"name": "", "arguments": ""}
                )
                function = mapping(piece.get("function"))
                call["id"] = text(piece.get("id")) or call.get("id")
                call["name"] = text(function.get("name")) or call["name"]
                call["arguments"] += text(function.get("arguments"))
    if calls:
        message["tool_calls"] = [{"id": c["id"], "function": c} for _, c in sorted(calls.items())]
    return {**answer, "choices": [{"message": message, "finish_reason": finish}]}


def _fold_responses(events: list[dict[str, Any]]) -> dict[str, Any]:
    for event in reversed(events):
        if event.get("type") in ("response.completed", "response.incomplete"):
            done = mapping(event.get("response"))
            if done.get("output"):
                return done
    output = [
        e["item"] for e in events if e.get("type") == "response.output_item.done" and "item" in e
    ]
    if not output:
        said = "".join(
            text(e.get("delta")) for e in events if e.get("type") == "response.output_text.delta"
        )
        output = [{"type": "message", "role": "assistant", "content": said}]
    final = mapping(mapping(events[-1]).get("response")) if events else {}
    return {**final, "output": output}


def _fold_anthropic(events: list[dict[str, Any]]) -> dict[str, Any]:
    message: dict[str, Any] = {}
    blocks: dict[int, dict[str, Any]] = {}
    for event in events:
        kind = event.get("type")
        if kind == "message_start":
            message = {**mapping(event.get("message"))}
        elif kind == "content_block_start":
            block = mapping(event.get("content_block"))
            blocks[integer(event.get("index")) or 0] = {**block, "_json": ""}
        elif kind == "content_block_delta":
            _add_delta(blocks.setdefault(integer(event.get("index")) or 0, {"_json": ""}), event)
        elif kind == "message_delta":
            message |= mapping(event.get("delta"))
            message["usage"] = {**mapping(message.get("usage")), **mapping(event.get("usage"))}
    content = []
    for _, block in sorted(blocks.items()):
        streamed = block.pop("_json")
        if streamed:
            block["input"] = embedded(streamed) if embedded(streamed) is not None else streamed
        content.append(block)
    return {**message, "content": content} if content else message


def _add_delta(block: dict[str, Any], event: dict[str, Any]) -> None:
    delta = mapping(event.get("delta"))
    for key in ("text", "thinking", "signature"):
        if isinstance(delta.get(key), str):
            block[key] = text(block.get(key)) + delta[key]
            block.setdefault("type", "text" if key == "text" else "thinking")
    block["_json"] = block.get("_json", "") + text(delta.get("partial_json"))


def as_body(value: Any) -> dict[str, Any]:
    """A request or response that may be an object, JSON in a string, or a stream of events."""
    if isinstance(value, bytes):
        value = value.decode("utf-8", errors="replace")
    if isinstance(value, str):
        return folded(value)
    return mapping(value)
