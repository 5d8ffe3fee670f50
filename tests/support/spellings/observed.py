"""Exports of tools that watch an application, and formats of agents that came later."""

import io
import zipfile
from typing import Any

import orjson

from tests.support.spellings.agents import AT, lines
from tests.support.spellings.conversation import Asked, Conversation, Exchange
from tests.support.spellings.documents import openai_messages
from tests.support.spellings.logs import TOOL, requests

CLASSES = {"system": "SystemMessage", "user": "HumanMessage", "assistant": "AIMessage",
           "tool": "ToolMessage"}  # fmt: skip


def _langchain(message: dict[str, Any]) -> dict[str, Any]:
    kwargs = {key: value for key, value in message.items() if key not in ("role", "tool_calls")}
    kwargs["tool_calls"] = [
        {"id": call["id"], "name": call["function"]["name"], "type": "tool_call",
         "args": orjson.loads(call["function"]["arguments"])}
        for call in message.get("tool_calls", ())
    ]  # fmt: skip
    name = ["langchain", "schema", "messages", CLASSES[message["role"]]]
    return {"lc": 1, "type": "constructor", "id": name, "kwargs": kwargs}


def langsmith(talks: list[Conversation]) -> bytes:
    """Runs of LangChain, the chain's own among them."""
    rows: list[dict[str, Any]] = []
    for talk in talks:
        for sent, answer in requests(talk):
            generation = {
                "message": _langchain(answer),
                "generation_info": {"finish_reason": "stop"},
            }
            rows.append({
                "id": f"r{len(rows)}", "run_type": "llm", "trace_id": talk.id, "start_time": AT,
                "inputs": {"messages": [[_langchain(message) for message in sent]]},
                "outputs": {"generations": [[generation]]},
                "extra": {"invocation_params": {"model": "m", "temperature": 0.5, "tools": [TOOL]}},
            })  # fmt: skip
    return lines(rows)


def langfuse(talks: list[Conversation]) -> bytes:
    """Observations, one a line."""
    rows: list[dict[str, Any]] = []
    for talk in talks:
        for sent, answer in requests(talk):
            rows.append({
                "id": f"o{len(rows)}", "traceId": talk.id, "type": "GENERATION", "startTime": AT,
                "model": "m", "modelParameters": {"temperature": 0.5},
                "input": {"messages": sent, "tools": [TOOL]}, "output": answer,
            })  # fmt: skip
    return lines(rows)


def agents_sdk(talks: list[Conversation]) -> bytes:
    """Spans of generations."""
    rows: list[dict[str, Any]] = []
    for talk in talks:
        for sent, answer in requests(talk):
            data = {"type": "generation", "model": "m", "model_config": {"temperature": 0.5},
                    "input": sent, "output": [answer]}  # fmt: skip
            rows.append({"object": "trace.span", "id": f"s{len(rows)}", "trace_id": talk.id,
                         "started_at": AT, "span_data": data})  # fmt: skip
    return lines(rows)


def _inspect_message(message: dict[str, Any]) -> dict[str, Any]:
    calls = [
        {"id": call["id"], "function": call["function"]["name"], "type": "function",
         "arguments": orjson.loads(call["function"]["arguments"])}
        for call in message.get("tool_calls", ())
    ]  # fmt: skip
    return {**message, **({"tool_calls": calls} if calls else {})}


def _inspect_sample(talk: Conversation) -> dict[str, Any]:
    events = []
    for sent, answer in requests(talk):
        choice = {"message": _inspect_message(answer), "stop_reason": "stop"}
        events.append({
            "event": "model", "timestamp": AT, "model": "m", "config": {"temperature": 0.5},
            "input": [_inspect_message(message) for message in sent], "tools": [TOOL["function"]],
            "tool_choice": "auto", "output": {"model": "m", "choices": [choice]},
        })  # fmt: skip
    return {"id": talk.id, "epoch": 1, "events": [{"event": "state"}, *events]}


def inspect_json(talks: list[Conversation]) -> bytes:
    """A log in one JSON value."""
    samples = [_inspect_sample(talk) for talk in talks]
    return orjson.dumps({"version": 2, "status": "success", "eval": {"model": "m"},
                         "samples": samples})  # fmt: skip


def inspect_eval(talks: list[Conversation]) -> bytes:
    """A log in an archive."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("_journal/start.json", b"{}")
        for talk in talks:
            archive.writestr(f"samples/{talk.id}_epoch_1.json", orjson.dumps(_inspect_sample(talk)))
        archive.writestr("header.json", b"{}")
    return out.getvalue()


def adk(talks: list[Conversation]) -> bytes:
    """A session of ADK."""
    events: list[dict[str, Any]] = []

    def event(author: str, role: str, parts: list[dict[str, Any]]) -> None:
        events.append({"id": f"e{len(events)}", "invocationId": "i", "author": author,
                       "content": {"role": role, "parts": parts}})  # fmt: skip

    for exchange in talks[0].exchanges:
        if exchange.user:
            event("user", "user", [{"text": exchange.user}])
        thought = [{"text": exchange.thought, "thought": True}] if exchange.thought else []
        calls = [
            {"functionCall": {"id": c.id, "name": c.tool, "args": c.arguments}}
            for c in exchange.calls
        ]
        event("agent", "model", [*thought, {"text": exchange.text}, *calls])
        for call in exchange.calls:
            given = {"id": call.id, "name": call.tool, "response": {"result": call.result}}
            event("agent", "user", [{"functionResponse": given}])
    return orjson.dumps({"id": talks[0].id, "appName": "shop", "userId": "u", "events": events})


def _converse(message: dict[str, Any]) -> dict[str, Any]:
    if message["role"] == "tool":
        shown = {"toolUseId": message["tool_call_id"], "content": [{"text": message["content"]}]}
        return {"role": "user", "content": [{"toolResult": {**shown, "status": "success"}}]}
    blocks: list[dict[str, Any]] = [{"text": message["content"]}]
    blocks += [
        {"toolUse": {"toolUseId": call["id"], "name": call["function"]["name"],
                     "input": orjson.loads(call["function"]["arguments"])}}
        for call in message.get("tool_calls", ())
    ]  # fmt: skip
    return {"role": message["role"], "content": blocks}


def converse(talks: list[Conversation]) -> bytes:
    """The log of invocations of Amazon Bedrock."""
    rows = []
    for talk in talks:
        for sent, answer in requests(talk):
            body = {
                "messages": [_converse(m) for m in sent if m["role"] != "system"],
                "system": [{"text": talk.system}],
                "inferenceConfig": {"temperature": 0.5},
            }
            came = {"output": {"message": _converse(answer)}, "stopReason": "end_turn"}
            rows.append({"schemaType": "ModelInvocationLog", "operation": "Converse",
                         "modelId": "m", "timestamp": AT, "input": {"inputBodyJson": body},
                         "output": {"outputBodyJson": came}})  # fmt: skip
    return lines(rows)


def tau_bench(talks: list[Conversation]) -> bytes:
    """Results of tau-bench."""
    return orjson.dumps([
        {"task_id": place, "reward": 1.0, "trial": 0, "info": {}, "traj": openai_messages(talk)}
        for place, talk in enumerate(talks)
    ])  # fmt: skip


def tau2_bench(talks: list[Conversation]) -> bytes:
    """Results of tau2-bench; the user calls a tool too, which the agent does not see."""
    runs = []
    for place, talk in enumerate(talks):
        messages: list[dict[str, Any]] = []
        for exchange in talk.exchanges:
            if exchange.user:
                asked = {"id": "u", "name": "look", "arguments": {}, "requestor": "user"}
                messages.append({"role": "user", "content": None, "tool_calls": [asked]})
                messages.append({"role": "tool", "id": "u", "content": "seen", "requestor": "user"})
                messages.append({"role": "user", "content": exchange.user, "tool_calls": None})
            calls = [
                {"id": c.id, "name": c.tool, "arguments": c.arguments, "requestor": "assistant"}
                for c in exchange.calls
            ]
            said = {"role": "assistant", "content": exchange.text, "tool_calls": calls or None}
            messages.append({**said, "cost": 0.1, "raw_data": None})
            messages += [
                {"role": "tool", "id": c.id, "content": c.result, "requestor": "assistant",
                 "error": False}
                for c in exchange.calls
            ]  # fmt: skip
        runs.append({"id": talk.id, "task_id": str(place), "trial": 0, "messages": messages})
    info = {
        "agent_info": {"implementation": "llm_agent", "llm": "m-1"},
        "environment_info": {"domain_name": "retail", "policy": talks[0].system},
    }
    return orjson.dumps({"timestamp": AT, "info": info, "tasks": [], "simulations": runs})


def cursor(talks: list[Conversation]) -> bytes:
    """A transcript of Cursor's agent."""
    rows = []
    for exchange in talks[0].exchanges:
        if exchange.user:
            content = [{"type": "text", "text": exchange.user}]
            rows.append({"role": "user", "message": {"content": content}})
        rows.append({"role": "assistant", "message": {"content": _cursor_blocks(exchange)}})
    return lines(rows)


def _cursor_blocks(exchange: Exchange) -> list[dict[str, Any]]:
    calls = [{"type": "tool_use", "name": c.tool, "input": c.arguments} for c in exchange.calls]
    thought = [{"type": "text", "text": exchange.thought}] if exchange.thought else []
    return [*thought, {"type": "text", "text": exchange.text}, *calls]


def crush_parts(exchange: Exchange) -> list[dict[str, Any]]:
    """The parts of an answer."""
    parts: list[dict[str, Any]] = []
    if exchange.thought:
        parts.append({"type": "reasoning", "data": {"thinking": exchange.thought}})
    parts.append({"type": "text", "data": {"text": exchange.text}})
    parts += [
        {"type": "tool_call", "data": {"id": c.id, "name": c.tool, "finished": True,
                                       "input": orjson.dumps(c.arguments).decode()}}
        for c in exchange.calls
    ]  # fmt: skip
    reason = "tool_use" if exchange.calls else "end_turn"
    return [*parts, {"type": "finish", "data": {"reason": reason, "time": 1}}]


def crush_results(calls: list[Asked]) -> list[dict[str, Any]]:
    """The parts of a message with results."""
    return [
        {"type": "tool_result", "data": {"tool_call_id": c.id, "name": c.tool,
                                         "content": c.result, "is_error": False}}
        for c in calls
    ]  # fmt: skip
