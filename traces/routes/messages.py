"""Requests of ``POST /v1/messages``, from chat requests and back.

    {"model": "m", "max_tokens": 256, "stream": true, "system": "You are …",
     "messages": [{"role": "user", "content": "ls?"},
                  {"role": "assistant", "content": [
                      {"type": "tool_use", "id": "c1", "name": "ls", "input": {}}]},
                  {"role": "user", "content": [
                      {"type": "tool_result", "tool_use_id": "c1", "content": "a.py"}]}]}

Source: vLLM 0.32, `entrypoints/anthropic/protocol.py` (the request) and `serving.py`
(`_convert_messages`, its way into a chat request).
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from traces.json_bytes import encode_json

_KEPT = ("model", "max_tokens", "temperature", "top_p", "top_k", "cache_salt", "stream")
"""Fields of the same name and meaning on both routes."""


def asked(chat: Mapping[str, Any]) -> dict[str, Any]:
    """The body. Raises ValueError for an output format other than a JSON schema."""
    body = {key: chat[key] for key in _KEPT if chat.get(key) is not None}
    rest = list(chat.get("messages") or ())
    if rest and rest[0].get("role") == "system":
        body["system"] = rest.pop(0)["content"]
    body["messages"] = list(_turns(rest))
    if (stop := chat.get("stop")) is not None:
        body["stop_sequences"] = [stop] if isinstance(stop, str) else list(stop)
    if tools := chat.get("tools"):
        body["tools"] = [_tool(tool["function"]) for tool in tools]
        body["tool_choice"] = _choice(chat.get("tool_choice"), chat.get("parallel_tool_calls"))
    if (wanted := chat.get("response_format")) is not None:
        body["output_config"] = {"format": {"type": "json_schema", "schema": _schema(wanted)}}
    return body


def _turns(rest: Iterable[Mapping[str, Any]]) -> Iterator[dict[str, Any]]:
    """Messages whose roles alternate: results and what a user adds to them are one message."""
    pending: list[dict[str, Any]] = []
    for message in rest:
        role, content = message.get("role"), message.get("content") or ""
        if role == "assistant":
            if pending:
                yield {"role": "user", "content": _user(pending)}
                pending = []
            yield {"role": "assistant", "content": _blocks(message)}
        elif role == "tool":
            result = {"type": "tool_result", "tool_use_id": message.get("tool_call_id") or ""}
            pending.append({**result, "content": content})
        else:
            pending.append({"type": "text", "text": content})
    if pending:
        yield {"role": "user", "content": _user(pending)}


def _user(blocks: list[dict[str, Any]]) -> list[dict[str, Any]] | str:
    """The content of a user message; an empty text alone goes as such, for vLLM drops the block."""
    return "" if blocks == [{"type": "text", "text": ""}] else blocks


def _blocks(message: Mapping[str, Any]) -> list[dict[str, Any]]:
    blocks: list[dict[str, Any]] = []
    if thought := message.get("reasoning"):
        blocks.append({"type": "thinking", "thinking": thought, "signature": ""})
    if text := message.get("content"):
        blocks.append({"type": "text", "text": text})
    for call in message.get("tool_calls") or ():
        function = call["function"]
        block = {"type": "tool_use", "id": call["id"], "name": function["name"]}
        blocks.append({**block, "input": json.loads(function["arguments"])})
    return blocks or [{"type": "text", "text": ""}]


def _tool(function: Mapping[str, Any]) -> dict[str, Any]:
    tool = {"name": function["name"], "input_schema": function.get("parameters") or {}}
    if function.get("description") is not None:
        tool["description"] = function["description"]
    return tool


def chosen_function(choice: Mapping[str, Any]) -> str:
    """The function that a tool choice names. Raises ValueError for any other kind of choice."""
    function = choice.get("function")
    if not isinstance(function, Mapping) or not isinstance(function.get("name"), str):
        raise ValueError(f"a tool choice of type {choice.get('type')} has no words on this route")
    name: str = function["name"]
    return name


def _choice(choice: Any, parallel: Any) -> dict[str, Any]:
    kind: dict[str, Any] = {"type": "any" if choice == "required" else choice or "auto"}
    if isinstance(choice, Mapping):
        kind = {"type": "tool", "name": chosen_function(choice)}
    return kind if parallel is not False else {**kind, "disable_parallel_tool_use": True}


def _schema(wanted: Mapping[str, Any]) -> Any:
    if wanted.get("type") != "json_schema":
        raise ValueError(
            f"an output format of type {wanted.get('type')} has no words on this route"
        )
    return (wanted.get("json_schema") or {}).get("schema") or {}


def chat_view(body: Mapping[str, Any]) -> dict[str, Any]:
    """The chat request of a body; usage comes unasked on this route."""
    view = {key: body[key] for key in _KEPT if body.get(key) is not None}
    view["messages"] = [*_system(body.get("system")), *_chat_messages(body.get("messages"))]
    view["stream_options"] = {"include_usage": True}
    if body.get("stop_sequences"):
        view["stop"] = body["stop_sequences"]
    if isinstance(tools := body.get("tools"), list) and tools:
        view["tools"] = [_chat_tool(tool) for tool in tools if isinstance(tool, Mapping)]
        view |= _chat_choice(body.get("tool_choice"))
    config = body.get("output_config")
    wanted = config.get("format") if isinstance(config, Mapping) else None
    if isinstance(wanted, Mapping) and wanted.get("schema") is not None:
        schema = {"name": "json_schema", "schema": wanted["schema"]}
        view["response_format"] = {"type": "json_schema", "json_schema": schema}
    return view


def _system(system: Any) -> Iterator[dict[str, Any]]:
    text = system if isinstance(system, str) else _joined(system, "")
    if text:
        yield {"role": "system", "content": text}


def _joined(blocks: Any, between: str) -> str:
    """The text blocks among `blocks`."""
    texts = (block.get("text") for block in _mappings(blocks) if block.get("type") == "text")
    return between.join(text for text in texts if isinstance(text, str))


def _mappings(values: Any) -> Iterator[Mapping[str, Any]]:
    if isinstance(values, list):
        yield from (value for value in values if isinstance(value, Mapping))


def _chat_messages(messages: Any) -> Iterator[dict[str, Any]]:
    for message in _mappings(messages):
        role, content = message.get("role"), message.get("content")
        if isinstance(content, str):
            yield {"role": role, "content": content}
        elif role == "assistant":
            yield _chat_assistant(content)
        else:
            yield from _chat_results(content)
            if text := _joined(content, "\n"):
                yield {"role": role, "content": text}


def _chat_assistant(content: Any) -> dict[str, Any]:
    blocks = list(_mappings(content))
    message: dict[str, Any] = {"role": "assistant", "content": _joined(content, "\n")}
    thoughts = [block.get("thinking") for block in blocks if block.get("type") == "thinking"]
    if reasoning := "".join(thought for thought in thoughts if isinstance(thought, str)):
        message["reasoning"] = reasoning
    calls = [
        {
            "id": block.get("id"),
            "type": "function",
            "function": {
                "name": block.get("name"),
                "arguments": encode_json(block.get("input") or {}).decode(),
            },
        }
        for block in blocks
        if block.get("type") == "tool_use"
    ]
    return {**message, "tool_calls": calls} if calls else message


def _chat_results(content: Any) -> Iterator[dict[str, Any]]:
    for block in _mappings(content):
        if block.get("type") == "tool_result":
            inner = block.get("content")
            text = inner if isinstance(inner, str) else _joined(inner, "\n")
            yield {"role": "tool", "tool_call_id": block.get("tool_use_id"), "content": text}


def _chat_tool(tool: Mapping[str, Any]) -> dict[str, Any]:
    function = {"name": tool.get("name"), "parameters": tool.get("input_schema") or {}}
    if tool.get("description") is not None:
        function["description"] = tool["description"]
    return {"type": "function", "function": function}


def _chat_choice(choice: Any) -> dict[str, Any]:
    if not isinstance(choice, Mapping):
        return {}
    kind = choice.get("type")
    view: dict[str, Any] = {"tool_choice": "required" if kind == "any" else kind}
    if kind == "tool":
        view["tool_choice"] = {"type": "function", "function": {"name": choice.get("name")}}
    if choice.get("disable_parallel_tool_use"):
        view["parallel_tool_calls"] = False
    return view
