"""Requests and answers of Amazon Bedrock's Converse API, with the names that other APIs have."""

from typing import Any

from traces.readers.chat.shapes import items, mapping


def chat_body(body: dict[str, Any]) -> dict[str, Any]:
    """A request of Converse with the names that chat completions give its settings."""
    given = mapping(body.get("inferenceConfig"))
    settings = {
        "max_tokens": given.get("maxTokens"),
        "temperature": given.get("temperature"),
        "top_p": given.get("topP"),
        "stop": given.get("stopSequences"),
    }
    configured = mapping(body.get("toolConfig"))
    tools = [_tool(mapping(tool).get("toolSpec")) for tool in items(configured.get("tools"))]
    more = {"tools": tools} if tools else {}
    model = {"model": body["modelId"]} if "modelId" in body else {}
    return {**body, **model, **{k: v for k, v in settings.items() if v is not None}, **more}


def _tool(spec: Any) -> dict[str, Any]:
    given = mapping(spec)
    schema = mapping(given.get("inputSchema")).get("json")
    return {
        "name": given.get("name"),
        "description": given.get("description"),
        "input_schema": schema,
    }


def chat_answer(answer: dict[str, Any]) -> dict[str, Any]:
    """An answer of Converse as one of Messages."""
    message = mapping(mapping(answer.get("output")).get("message"))
    if not message:
        return answer
    counts = mapping(answer.get("usage"))
    usage = {
        "input_tokens": counts.get("inputTokens"),
        "output_tokens": counts.get("outputTokens"),
        "cache_read_input_tokens": counts.get("cacheReadInputTokens"),
        "cache_creation_input_tokens": counts.get("cacheWriteInputTokens"),
    }
    return {**answer, "content": message.get("content"), "stop_reason": answer.get("stopReason"),
            "usage": usage}  # fmt: skip
