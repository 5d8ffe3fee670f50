"""Logs of requests, spans, rows of data sets, and text logs."""

import io
from collections.abc import Iterator
from typing import Any

import orjson
import pyarrow
import pyarrow.parquet

from tests.support.spellings.agents import AT, anthropic_blocks, lines
from tests.support.spellings.conversation import Conversation, Exchange
from tests.support.spellings.documents import openai_messages

TOOL = {"type": "function", "function": {"name": "bash", "parameters": {"type": "object"}}}


def requests(talk: Conversation) -> Iterator[tuple[list[dict[str, Any]], dict[str, Any]]]:
    """Every prompt with the answer to it."""
    messages = openai_messages(talk)
    for place, message in enumerate(messages):
        if message["role"] == "assistant":
            yield messages[:place], message


def request_log(talks: list[Conversation]) -> bytes:
    """Pairs of request and answer; every request repeats the prompt before it."""
    rows = []
    for talk in talks:
        for sent, answer in requests(talk):
            response = {"model": "m", "choices": [{"message": answer, "finish_reason": "stop"}]}
            request = {"model": "m", "temperature": 0.5, "messages": sent, "tools": [TOOL]}
            rows.append({"request": request, "response": response})
    return lines(rows)


def litellm(talks: list[Conversation]) -> bytes:
    """Standard logging payloads with a session."""
    rows = []
    for talk in talks:
        for sent, answer in requests(talk):
            rows.append({"call_type": "acompletion", "custom_llm_provider": "openai", "model": "m",
                         "session_id": talk.id, "messages": sent, "startTime": AT,
                         "response": {"choices": [{"message": answer}]}})  # fmt: skip
    return lines(rows)


def har(talks: list[Conversation]) -> bytes:
    """Anthropic Messages in a HAR file."""
    entries = []
    for talk in talks:
        messages: list[dict[str, Any]] = []
        for exchange in talk.exchanges:
            if exchange.user:
                messages.append({"role": "user", "content": exchange.user})
            content = anthropic_blocks(exchange)
            body = {"model": "m", "system": talk.system, "max_tokens": 9, "messages": messages}
            answer = {"model": "m", "content": content, "stop_reason": "end_turn"}
            entries.append({
                "startedDateTime": AT,
                "request": {"postData": {"text": orjson.dumps(body).decode()}},
                "response": {"content": {"text": orjson.dumps(answer).decode()}},
            })  # fmt: skip
            messages.append({"role": "assistant", "content": content})
            messages += [_user_result(exchange, n) for n in range(len(exchange.calls))]
    return orjson.dumps({"log": {"version": "1.2", "entries": entries}})


def _user_result(exchange: Exchange, number: int) -> dict[str, Any]:
    call = exchange.calls[number]
    block = {"type": "tool_result", "tool_use_id": call.id, "content": call.result}
    return {"role": "user", "content": [block]}


def otel(talks: list[Conversation]) -> bytes:
    """OTLP JSON, one span per line, messages as JSON in attributes."""
    return lines(_span(talk, n, sent, answer) for talk in talks
                 for n, (sent, answer) in enumerate(requests(talk)))  # fmt: skip


def _span(
    talk: Conversation, number: int, sent: list[dict[str, Any]], answer: dict[str, Any]
) -> dict[str, Any]:
    given = {
        "gen_ai.operation.name": "chat", "gen_ai.request.model": "m",
        "gen_ai.conversation.id": talk.id,
        "gen_ai.input.messages": orjson.dumps([_genai(m) for m in sent]).decode(),
        "gen_ai.output.messages": orjson.dumps([_genai(answer)]).decode(),
    }  # fmt: skip
    attributes = [{"key": k, "value": {"stringValue": v}} for k, v in given.items()]
    span = {"traceId": talk.id, "spanId": str(number), "name": "chat m",
            "startTimeUnixNano": str(10**18 + number), "attributes": attributes}  # fmt: skip
    return {"resourceSpans": [{"scopeSpans": [{"spans": [span]}]}]}


def _genai(message: dict[str, Any]) -> dict[str, Any]:
    parts: list[dict[str, Any]] = []
    if message["role"] == "tool":
        parts.append({"type": "tool_call_response", "id": message["tool_call_id"],
                      "response": message["content"]})  # fmt: skip
    else:
        parts.append({"type": "text", "content": message["content"]})
    for call in message.get("tool_calls", ()):
        given = orjson.loads(call["function"]["arguments"])
        parts.append({"type": "tool_call", "id": call["id"], "name": call["function"]["name"],
                      "arguments": given})  # fmt: skip
    return {"role": message["role"], "parts": parts}


def open_inference(talks: list[Conversation]) -> bytes:
    """OpenInference: attributes flattened to one per field."""
    rows = []
    for talk in talks:
        for number, (sent, answer) in enumerate(requests(talk)):
            attributes = {"openinference.span.kind": "LLM", "llm.model_name": "m"}
            attributes["session.id"] = talk.id
            for side, messages in (("input", sent), ("output", [answer])):
                for place, message in enumerate(messages):
                    start = f"llm.{side}_messages.{place}.message"
                    attributes[f"{start}.role"] = message["role"]
                    attributes[f"{start}.content"] = message["content"]
                    if "tool_call_id" in message:
                        attributes[f"{start}.tool_call_id"] = message["tool_call_id"]
                    for n, call in enumerate(message.get("tool_calls", ())):
                        called = f"{start}.tool_calls.{n}.tool_call"
                        attributes[f"{called}.id"] = call["id"]
                        attributes[f"{called}.function.name"] = call["function"]["name"]
                        given = call["function"]["arguments"]
                        attributes[f"{called}.function.arguments"] = given
            rows.append({"name": "llm", "context": {"trace_id": talk.id}, "attributes": attributes,
                         "start_time": f"2026-01-05T09:00:00.{number:06}Z"})  # fmt: skip
    return lines(rows)


def chat_messages(talks: list[Conversation]) -> bytes:
    """Rows of a data set."""
    return lines({"id": talk.id, "messages": openai_messages(talk)} for talk in talks)


def chat_parquet(talks: list[Conversation]) -> bytes:
    """The same as Parquet, messages as JSON in a string."""
    rows = [
        {"id": talk.id, "messages": orjson.dumps(openai_messages(talk)).decode()} for talk in talks
    ]
    out = io.BytesIO()
    pyarrow.parquet.write_table(pyarrow.Table.from_pylist(rows), out)
    return out.getvalue()


def prompts(talks: list[Conversation]) -> bytes:
    """One prompt per row."""
    asked = [exchange.user for talk in talks for exchange in talk.exchanges if exchange.user]
    return lines(
        {"question_id": n, "category": "coding", "turns": [said]} for n, said in enumerate(asked)
    )


def aider(talks: list[Conversation]) -> bytes:
    """``.aider.chat.history.md``."""
    shown = []
    for talk in talks:
        shown.append("\n# aider chat started at 2026-01-05 09:00:00\n\n")
        for exchange in talk.exchanges:
            if exchange.user:
                shown.append(f"#### {exchange.user}\n\n")
            code = "".join(f"```python\n{call.result}\n```\n" for call in exchange.calls)
            shown.append(f"{exchange.text}\n{code}\n> Tokens: 1k sent\n\n")
    return "".join(shown).encode()


def aider_llm(talks: list[Conversation]) -> bytes:
    """``--llm-history-file``: every prompt again, each line with its role."""
    shown = []
    for talk in talks:
        for sent, answer in requests(talk):
            shown.append("TO LLM 2026-01-05T09:00:00")
            for message in sent:
                role = message["role"].upper()
                shown += ["-------", *(f"{role} {line}" for line in _lines_of(message))]
            shown.append("LLM RESPONSE 2026-01-05T09:00:05")
            shown += [f"ASSISTANT {line}" for line in _lines_of(answer)]
    return "\n".join([*shown, ""]).encode()


def _lines_of(message: dict[str, Any]) -> list[str]:
    return str(message["content"]).split("\n")


def vllm_log(talks: list[Conversation]) -> bytes:
    """Log lines of a server that logs request bodies."""
    begin = "(APIServer pid=7) {} 01-05 09:00:00 [request_logger.py:74] "
    shown = []
    for talk in talks:
        for number, (sent, _) in enumerate(requests(talk)):
            body = {"model": "m", "messages": sent, "tools": [TOOL], "max_tokens": 400}
            name = f"{talk.id}-{number}"
            written = orjson.dumps(body).decode()
            shown.append(f"{begin.format('DEBUG')}Request {name} JSON body: {written}")
            params = "SamplingParams(n=1, max_tokens=400), lora_request: None."
            shown.append(
                f"{begin.format('INFO')}Received request chatcmpl-{name}: params: {params}"
            )
    return "\n".join([*shown, ""]).encode()
