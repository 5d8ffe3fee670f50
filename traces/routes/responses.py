"""Requests of ``POST /v1/responses``, from chat requests and back.

    {"model": "m", "max_output_tokens": 256, "stream": true, "store": false,
     "instructions": "You are …",
     "input": [{"type": "message", "role": "user",
                "content": [{"type": "input_text", "text": "ls?"}]},
               {"type": "function_call", "call_id": "c1", "name": "ls", "arguments": "{}"},
               {"type": "function_call_output", "call_id": "c1", "output": "a.py"}]}

Source: vLLM 0.32, `entrypoints/openai/responses/protocol.py` (the request) and `utils.py`
(`construct_input_messages`, its way into a chat request). Nothing is stored on the server: every
turn brings its whole history, as Codex does.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from traces.routes.messages import chosen_function

SAMPLING = (
    "model",
    "temperature",
    "top_p",
    "top_k",
    "min_p",
    "repetition_penalty",
    "presence_penalty",
    "frequency_penalty",
    "seed",
    "stop",
    "cache_salt",
    "stream",
)
"""Fields of the same name and meaning on this route, of completions and of chats."""


def asked(chat: Mapping[str, Any]) -> dict[str, Any]:
    """The body. Raises ValueError for an output format that the route has no words for."""
    body: dict[str, Any] = {key: chat[key] for key in SAMPLING if chat.get(key) is not None}
    body |= {"store": False, "max_output_tokens": chat.get("max_tokens")}
    rest = list(chat.get("messages") or ())
    if rest and rest[0].get("role") == "system":
        body["instructions"] = rest.pop(0)["content"]
    body["input"] = list(_items(rest))
    if tools := chat.get("tools"):
        body["tools"] = [{"type": "function", **tool["function"]} for tool in tools]
        body["tool_choice"] = _choice(chat.get("tool_choice"))
        if chat.get("parallel_tool_calls") is not None:
            body["parallel_tool_calls"] = chat["parallel_tool_calls"]
    if (wanted := chat.get("response_format")) is not None:
        body["text"] = {"format": _format(wanted)}
    return body


def _items(rest: Iterable[Mapping[str, Any]]) -> Iterator[dict[str, Any]]:
    for place, message in enumerate(rest):
        role, content = message.get("role"), message.get("content") or ""
        if role == "tool":
            output = {"type": "function_call_output", "call_id": message.get("tool_call_id")}
            yield {**output, "output": content}
        elif role == "assistant":
            yield from _answer(message, place)
        else:
            part = {"type": "input_text", "text": content}
            yield {"type": "message", "role": role, "content": [part]}


def _answer(message: Mapping[str, Any], place: int) -> Iterator[dict[str, Any]]:
    thought, text = message.get("reasoning"), message.get("content") or ""
    calls = message.get("tool_calls") or ()
    if thought:
        part = {"type": "reasoning_text", "text": thought}
        yield {"type": "reasoning", "id": f"rs_{place}", "summary": [], "content": [part]}
    if text or not (thought or calls):
        said: dict[str, Any] = {"type": "output_text", "text": text, "annotations": []}
        yield {"type": "message", "role": "assistant", "content": [said]}
    for call in calls:
        yield {"type": "function_call", "call_id": call["id"], **call["function"]}


def _choice(choice: Any) -> Any:
    if isinstance(choice, Mapping):
        return {"type": "function", "name": chosen_function(choice)}
    return choice or "auto"


def _format(wanted: Mapping[str, Any]) -> dict[str, Any]:
    if wanted.get("type") == "json_schema":
        schema = wanted.get("json_schema") or {}
        return {
            "type": "json_schema",
            "name": schema.get("name") or "answer",
            "schema": schema.get("schema") or {},
        }
    if wanted.get("type") in ("json_object", "text"):
        return {"type": wanted["type"]}
    raise ValueError(f"an output format of type {wanted.get('type')} has no words on this route")


def chat_view(body: Mapping[str, Any]) -> dict[str, Any]:
    """The chat request of a body; usage comes unasked on this route."""
    view = {key: body[key] for key in SAMPLING if body.get(key) is not None}
    view["messages"] = list(_chat_messages(body))
    view["stream_options"] = {"include_usage": True}
    if body.get("max_output_tokens") is not None:
        view["max_tokens"] = body["max_output_tokens"]
    if isinstance(tools := body.get("tools"), list) and tools:
        view["tools"] = [_chat_tool(tool) for tool in tools if isinstance(tool, Mapping)]
        view |= _chat_choice(body)
    text = body.get("text")
    wanted = text.get("format") if isinstance(text, Mapping) else None
    if isinstance(wanted, Mapping) and wanted.get("type") == "json_schema":
        schema = {"name": wanted.get("name"), "schema": wanted.get("schema")}
        view["response_format"] = {"type": "json_schema", "json_schema": schema}
    elif isinstance(wanted, Mapping) and wanted.get("type") == "json_object":
        view["response_format"] = {"type": "json_object"}
    return view


def _chat_messages(body: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    if isinstance(instructions := body.get("instructions"), str) and instructions:
        yield {"role": "system", "content": instructions}
    items = body.get("input")
    if isinstance(items, str):
        yield {"role": "user", "content": items}
        return
    answer: dict[str, Any] | None = None
    for item in items if isinstance(items, list) else ():
        if not isinstance(item, Mapping):
            continue
        kind = item.get("type", "message")
        if kind in ("reasoning", "function_call") or item.get("role") == "assistant":
            answer = answer or {"role": "assistant", "content": ""}
            _add(answer, item, kind)
            continue
        if answer is not None:
            yield answer
            answer = None
        if kind == "function_call_output":
            call = item.get("call_id")
            yield {"role": "tool", "tool_call_id": call, "content": _text(item.get("output"))}
        elif kind == "message":
            yield {"role": item.get("role"), "content": _text(item.get("content"))}
    if answer is not None:
        yield answer


def _add(answer: dict[str, Any], item: Mapping[str, Any], kind: Any) -> None:
    if kind == "reasoning":
        answer["reasoning"] = answer.get("reasoning", "") + _text(item.get("content"))
    elif kind == "function_call":
        function = {"name": item.get("name"), "arguments": item.get("arguments")}
        call = {"id": item.get("call_id"), "type": "function", "function": function}
        answer.setdefault("tool_calls", []).append(call)
    else:
        answer["content"] += _text(item.get("content"))


def _text(content: Any) -> str:
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else ()
    texts = (part.get("text") for part in parts if isinstance(part, Mapping))
    return "\n".join(text for text in texts if isinstance(text, str))


def _chat_tool(tool: Mapping[str, Any]) -> dict[str, Any]:
    function = {key: value for key, value in tool.items() if key != "type"}
    return {"type": "function", "function": function}


def _chat_choice(body: Mapping[str, Any]) -> dict[str, Any]:
    choice, view = body.get("tool_choice"), {}
    if isinstance(choice, Mapping):
        view["tool_choice"] = {"type": "function", "function": {"name": choice.get("name")}}
    elif choice is not None:
        view["tool_choice"] = choice
    if body.get("parallel_tool_calls") is not None:
        view["parallel_tool_calls"] = body["parallel_tool_calls"]
    return view
