"""Recordings that are one JSON value, or one per session."""

from typing import Any

import orjson

from tests.support.spellings.agents import AT, anthropic_blocks, lines
from tests.support.spellings.conversation import Asked, Conversation, Exchange


def openai_calls(exchange: Exchange) -> list[dict[str, Any]]:
    """The calls of an answer in the form of chat completions."""
    return [
        {"id": c.id, "type": "function",
         "function": {"name": c.tool, "arguments": orjson.dumps(c.arguments).decode()}}
        for c in exchange.calls
    ]  # fmt: skip


def openai_messages(talk: Conversation) -> list[dict[str, Any]]:
    """A whole conversation in the form of chat completions."""
    messages: list[dict[str, Any]] = [{"role": "system", "content": talk.system}]
    for exchange in talk.exchanges:
        if exchange.user:
            messages.append({"role": "user", "content": exchange.user})
        answer: dict[str, Any] = {"role": "assistant", "content": exchange.text}
        if exchange.calls:
            answer["tool_calls"] = openai_calls(exchange)
        messages.append(answer)
        messages += [_result(call) for call in exchange.calls]
    return messages


def _result(call: Asked) -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": call.id, "content": call.result}


def shown_as_text(talk: Conversation) -> list[dict[str, Any]]:
    """A conversation without tools: commands in the answer, results as user text."""
    messages: list[dict[str, Any]] = [{"role": "system", "content": talk.system}]
    for exchange in talk.exchanges:
        if exchange.user:
            messages.append({"role": "user", "content": exchange.user})
        ran = "".join(f"\n\n```bash\n{call.arguments}\n```" for call in exchange.calls)
        messages.append({"role": "assistant", "content": exchange.text + ran})
        messages += [{"role": "user", "content": call.result} for call in exchange.calls]
    return messages


def swe_agent(talks: list[Conversation]) -> bytes:
    """A ``.traj`` of 1.x: every step repeats the history up to its own answer and result."""
    history = [{**m, "agent": "main", "message_type": "x"} for m in shown_as_text(talks[0])]
    steps = []
    own = [place for place, message in enumerate(history) if message["role"] == "assistant"]
    for place, following in zip(own, [*own[1:], len(history)], strict=True):
        steps.append({"action": "ls", "observation": "", "response": history[place]["content"],
                      "thought": "", "messages": history[:following]})  # fmt: skip
    return orjson.dumps({"trajectory": steps, "history": history, "info": {}, "environment": "e"})


def mini_swe_agent(talks: list[Conversation]) -> bytes:
    """``.traj.json``: every answer keeps the whole API response."""
    messages = shown_as_text(talks[0])
    for message in messages:
        if message["role"] == "assistant":
            choice = {"message": {"role": "assistant", "content": message["content"]}}
            message["extra"] = {"response": {"id": "r", "model": "m-1", "choices": [choice]}}
    info = {"mini_version": "1.15.0", "exit_status": "Submitted"}
    return orjson.dumps(
        {"trajectory_format": "mini-swe-agent-1", "info": info, "messages": messages}
    )


def openhands(talks: list[Conversation]) -> bytes:
    """``output.jsonl``: one history of events per row."""
    return lines({"instance_id": talk.id, "history": openhands_events(talk)} for talk in talks)


def openhands_events(talk: Conversation) -> list[dict[str, Any]]:
    """Actions with the API response they came from, and observations."""
    events: list[dict[str, Any]] = []

    def event(source: str, **more: Any) -> None:
        events.append({"id": len(events), "timestamp": AT, "source": source, **more})

    event("agent", action="system", args={"content": talk.system, "tools": []})
    for place, exchange in enumerate(talk.exchanges):
        if exchange.user:
            event("user", action="message", args={"content": exchange.user})
        message = {"role": "assistant", "content": exchange.text}
        message |= {"tool_calls": openai_calls(exchange)} if exchange.calls else {}
        response = {"id": f"r-{talk.id}-{place}", "model": "m-1", "choices": [{"message": message}]}
        for call in exchange.calls:
            made = {"tool_call_id": call.id, "model_response": response}
            event("agent", action="run", args=call.arguments, tool_call_metadata=made)
            event("environment", observation="run", content=call.result,
                  tool_call_metadata=made)  # fmt: skip
        if not exchange.calls:
            made = {"tool_call_id": "", "model_response": response}
            event("agent", action="message", args={"content": exchange.text},
                  tool_call_metadata=made)  # fmt: skip
    return events


def openhands_sdk(talks: list[Conversation]) -> bytes:
    """Events of the SDK."""
    talk = talks[0]
    rows: list[dict[str, Any]] = []

    def row(kind: str, source: str, **more: Any) -> None:
        rows.append(
            {"id": f"e{len(rows)}", "timestamp": AT, "source": source, "kind": kind, **more}
        )

    row("SystemPromptEvent", "agent", system_prompt={"type": "text", "text": talk.system}, tools=[])
    for place, exchange in enumerate(talk.exchanges):
        if exchange.user:
            said = {"role": "user", "content": [{"type": "text", "text": exchange.user}]}
            row("MessageEvent", "user", llm_message=said)
        for call, made in zip(exchange.calls, openai_calls(exchange), strict=True):
            row("ActionEvent", "agent", thought=[{"type": "text", "text": exchange.text}],
                tool_call_id=call.id, tool_call={"id": call.id, **made["function"]},
                llm_response_id=f"r{place}")  # fmt: skip
            seen = {"content": [{"type": "text", "text": call.result}], "is_error": False}
            row("ObservationEvent", "environment", tool_call_id=call.id, observation=seen)
        if not exchange.calls:
            said = {"role": "assistant", "content": [{"type": "text", "text": exchange.text}]}
            row("MessageEvent", "agent", llm_message=said, llm_response_id=f"r{place}")
    return lines(rows)


def atif(talks: list[Conversation]) -> bytes:
    """One trajectory per row."""
    rows = []
    for talk in talks:
        steps: list[dict[str, Any]] = [{"source": "system", "message": talk.system}]
        for exchange in talk.exchanges:
            if exchange.user:
                steps.append({"source": "user", "message": exchange.user})
            calls = [
                {"tool_call_id": c.id, "function_name": c.tool, "arguments": c.arguments}
                for c in exchange.calls
            ]
            results = [{"source_call_id": c.id, "content": c.result} for c in exchange.calls]
            steps.append({"source": "agent", "message": exchange.text, "tool_calls": calls,
                          "observation": {"results": results}, "timestamp": AT})  # fmt: skip
        numbered = [{"step_id": n, **step} for n, step in enumerate(steps, 1)]
        rows.append({"schema_version": "ATIF-v1.7", "session_id": talk.id,
                     "agent": {"name": "made-up", "version": "1"}, "steps": numbered})  # fmt: skip
    return lines(rows)


def gemini(talks: list[Conversation]) -> bytes:
    """A chat with the results inside the rows of their calls."""
    messages: list[dict[str, Any]] = []
    for exchange in talks[0].exchanges:
        if exchange.user:
            messages.append({"id": f"m{len(messages)}", "type": "user", "content": exchange.user})
        calls = [
            {"id": c.id, "name": c.tool, "args": c.arguments, "status": "success",
             "result": [{"functionResponse": {"response": {"output": c.result}}}],
             "resultDisplay": c.result}
            for c in exchange.calls
        ]  # fmt: skip
        messages.append({"id": f"m{len(messages)}", "type": "gemini", "content": exchange.text,
                         "thoughts": [], "toolCalls": calls, "model": "m-1", "timestamp": AT,
                         "tokens": {"input": exchange.prompt, "output": 250}})  # fmt: skip
    return orjson.dumps({"sessionId": talks[0].id, "projectHash": "h", "messages": messages})


def opencode(talks: list[Conversation]) -> bytes:
    """What ``opencode export`` gives."""
    messages = [{"info": info, "parts": parts} for info, parts in opencode_messages(talks[0])]
    return orjson.dumps(
        {"info": {"id": f"ses_{talks[0].id}", "version": "1.1"}, "messages": messages}
    )


def opencode_messages(talk: Conversation) -> list[tuple[dict[str, Any], list[dict[str, Any]]]]:
    """Messages with their parts."""
    made: list[tuple[dict[str, Any], list[dict[str, Any]]]] = []
    for exchange in talk.exchanges:
        if exchange.user:
            info = {"id": f"msg_{len(made):06}", "role": "user"}
            made.append((info, [{"type": "text", "text": exchange.user}]))
        parts: list[dict[str, Any]] = [{"type": "step-start"}]
        parts.append({"type": "text", "text": exchange.text})
        for call in exchange.calls:
            state = {"status": "completed", "input": call.arguments, "output": call.result}
            parts.append({"type": "tool", "callID": call.id, "tool": call.tool, "state": state})
        tokens = {"input": exchange.prompt, "output": 250}
        parts.append({"type": "step-finish", "reason": "stop", "tokens": tokens})
        info = {"id": f"msg_{len(made):06}", "role": "assistant", "modelID": "m-1"}
        made.append((info, parts))
    return made


def cline(talks: list[Conversation]) -> bytes:
    """``api_conversation_history.json``."""
    messages: list[dict[str, Any]] = []
    for exchange in talks[0].exchanges:
        if exchange.user:
            said = [{"type": "text", "text": f"<task>\n{exchange.user}\n</task>"}]
            messages.append({"role": "user", "content": said, "ts": 1})
        messages.append({"role": "assistant", "content": anthropic_blocks(exchange), "ts": 2})
        for call in exchange.calls:
            block = {"type": "tool_result", "tool_use_id": call.id, "content": call.result}
            messages.append({"role": "user", "content": [block], "ts": 3})
    return orjson.dumps(messages)


def adp(talks: list[Conversation]) -> bytes:
    """Agent Data Protocol."""
    rows = []
    for talk in talks:
        content: list[dict[str, Any]] = []
        for exchange in talk.exchanges:
            if exchange.user:
                content.append({"class_": "text_observation", "source": "user",
                                "content": exchange.user})  # fmt: skip
            for call in exchange.calls:
                made = {"function": call.tool, "kwargs": call.arguments}
                content.append({"class_": "api_action", "description": exchange.text, **made})
                content.append({"class_": "text_observation", "source": "environment",
                                "content": call.result})  # fmt: skip
            if not exchange.calls:
                content.append({"class_": "message_action", "content": exchange.text})
        rows.append({"id": talk.id, "content": content, "details": {}})
    return lines(rows)
