"""Logs of coding agents that write a row per message or event."""

from collections.abc import Iterable
from typing import Any

import orjson

from tests.support.spellings.conversation import Conversation, Exchange

AT = "2026-01-05T09:00:00.000Z"


def lines(rows: Iterable[Any]) -> bytes:
    """JSON Lines."""
    return b"".join(orjson.dumps(row) + b"\n" for row in rows)


def anthropic_blocks(exchange: Exchange) -> list[dict[str, Any]]:
    """The content of an answer in Anthropic's form."""
    blocks: list[dict[str, Any]] = []
    if exchange.thought:
        blocks.append({"type": "thinking", "thinking": exchange.thought, "signature": "Er" * 40})
    blocks.append({"type": "text", "text": exchange.text})
    blocks += [
        {"type": "tool_use", "id": c.id, "name": c.tool, "input": c.arguments}
        for c in exchange.calls
    ]
    return blocks


def anthropic_usage(exchange: Exchange) -> dict[str, int]:
    """What an answer cost, in Anthropic's form."""
    new = exchange.prompt - exchange.cached
    return {"input_tokens": new, "cache_read_input_tokens": exchange.cached, "output_tokens": 250}


class _ClaudeRows:
    """Rows of one session, each linked to the one before."""

    def __init__(self, session: str) -> None:
        self.session = session
        self.rows: list[dict[str, Any]] = []

    def add(self, kind: str, message: dict[str, Any], **more: Any) -> None:
        """One more row."""
        last = self.rows[-1]["uuid"] if self.rows else None
        self.rows.append(
            {
                "parentUuid": last, "isSidechain": False, "userType": "external",
                "cwd": "/home/dev/project", "sessionId": self.session, "version": "2.1.0",
                "gitBranch": "main", "type": kind, "message": message,
                "uuid": f"{self.session}-{len(self.rows):08}-4ea1-9f10-5be3d9c6aa00",
                "timestamp": AT, **more,
            }
        )  # fmt: skip


def claude_code(talks: list[Conversation]) -> bytes:
    """A row per block of a response, and one per result with its display object."""
    return b"".join(lines(_claude_session(talk)) for talk in talks)


def _claude_session(talk: Conversation) -> list[dict[str, Any]]:
    log = _ClaudeRows(talk.id)
    for place, exchange in enumerate(talk.exchanges):
        if exchange.user:
            log.add("user", {"role": "user", "content": exchange.user})
        for block in anthropic_blocks(exchange):
            message = {"id": f"msg_{talk.id}_{place}", "type": "message", "role": "assistant",
                       "model": "m-1", "content": [block], "stop_reason": None,
                       "usage": anthropic_usage(exchange)}  # fmt: skip
            log.add("assistant", message, requestId=f"req_{place}")
        for call in exchange.calls:
            block = {"type": "tool_result", "tool_use_id": call.id, "content": call.result}
            shown = {"stdout": call.result, "stderr": "", "interrupted": False}
            log.add("user", {"role": "user", "content": [block]}, toolUseResult=shown)
    return log.rows


def codex(talks: list[Conversation]) -> bytes:
    """Response items in envelopes, each repeated by an event; one conversation per file."""
    talk = talks[0]
    rows: list[dict[str, Any]] = []

    def row(kind: str, **payload: Any) -> None:
        rows.append({"timestamp": AT, "type": kind, "payload": payload})

    row("session_meta", id=talk.id, cli_version="0.98.0", cwd="/home/dev/project",
        base_instructions={"text": talk.system})  # fmt: skip
    row("turn_context", cwd="/home/dev/project", model="m-1", effort="high")
    for exchange in talk.exchanges:
        if exchange.user:
            said = [{"type": "input_text", "text": exchange.user}]
            row("response_item", type="message", role="user", content=said)
            row("event_msg", type="user_message", message=exchange.user)
        row("response_item", type="reasoning", summary=[], encrypted_content="gAAAA" * 120)
        said = [{"type": "output_text", "text": exchange.text}]
        row("response_item", type="message", role="assistant", content=said)
        row("event_msg", type="agent_message", message=exchange.text)
        for call in exchange.calls:
            given = orjson.dumps(call.arguments).decode()
            row("response_item", type="function_call", name=call.tool, arguments=given,
                call_id=call.id)  # fmt: skip
            row("response_item", type="function_call_output", call_id=call.id,
                output=f"Exit code: 0\nWall time: 0.1 seconds\nOutput:\n{call.result}")  # fmt: skip
        last = {"input_tokens": exchange.prompt, "cached_input_tokens": 9, "output_tokens": 250}
        row("event_msg", type="token_count",
            info={"total_token_usage": last, "last_token_usage": last})  # fmt: skip
    return lines(rows)


def codex_exec(talks: list[Conversation]) -> bytes:
    """The stream of ``codex exec --json``."""
    rows: list[dict[str, Any]] = [{"type": "thread.started", "thread_id": talks[0].id}]
    for place, exchange in enumerate(talks[0].exchanges):
        message = {"id": f"item_{place}", "type": "agent_message", "text": exchange.text}
        rows.append({"type": "item.completed", "item": message})
        for call in exchange.calls:
            ran = {"id": call.id, "type": "command_execution", "command": str(call.arguments),
                   "aggregated_output": call.result, "exit_code": 0}  # fmt: skip
            rows.append({"type": "item.completed", "item": ran})
    return lines(rows)


def pi(talks: list[Conversation]) -> bytes:
    """Version 3, a tree by id and parentId."""
    talk = talks[0]
    rows: list[dict[str, Any]] = [{"type": "session", "version": 3, "id": talk.id, "timestamp": AT}]

    def row(**message: Any) -> None:
        parent = rows[-1]["id"] if len(rows) > 1 else None
        rows.append({"type": "message", "id": f"{len(rows):08x}", "parentId": parent,
                     "timestamp": AT, "message": message})  # fmt: skip

    for exchange in talk.exchanges:
        if exchange.user:
            row(role="user", content=[{"type": "text", "text": exchange.user}])
        blocks: list[dict[str, Any]] = [{"type": "text", "text": exchange.text}]
        blocks += [
            {"type": "toolCall", "id": c.id, "name": c.tool, "arguments": c.arguments}
            for c in exchange.calls
        ]
        usage = {"input": exchange.prompt - exchange.cached, "output": 250,
                 "cacheRead": exchange.cached, "cacheWrite": 0}  # fmt: skip
        row(role="assistant", content=blocks, model="m-1", stopReason="stop", usage=usage)
        for call in exchange.calls:
            row(role="toolResult", toolCallId=call.id, toolName=call.tool, isError=False,
                content=[{"type": "text", "text": call.result}])  # fmt: skip
    return lines(rows)


def kimi(talks: list[Conversation]) -> bytes:
    """Wire log: a row per part, call, result and end of a step."""
    talk = talks[0]
    rows: list[dict[str, Any]] = [{"type": "config.update", "systemPrompt": talk.system}]

    def event(kind: str, step: int, **more: Any) -> None:
        event = {"type": kind, "stepUuid": f"step-{step}", **more}
        rows.append({"type": "context.append_loop_event", "event": event})

    for place, exchange in enumerate(talk.exchanges):
        if exchange.user:
            said = {"role": "user", "content": [{"type": "text", "text": exchange.user}],
                    "origin": {"kind": "user"}}  # fmt: skip
            rows.append({"type": "context.append_message", "message": said})
        event("content.part", place, part={"type": "think", "think": exchange.thought})
        event("content.part", place, part={"type": "text", "text": exchange.text})
        for call in exchange.calls:
            event("tool.call", place, toolCallId=call.id, name=call.tool, args=call.arguments)
        event(
            "step.end",
            place,
            finishReason="tool_use",
            usage={"inputOther": exchange.prompt, "output": 250},
        )
        for call in exchange.calls:
            event("tool.result", place, toolCallId=call.id, result={"output": call.result})
    return lines(rows)


def copilot_cli(talks: list[Conversation]) -> bytes:
    """``events.jsonl``."""
    talk = talks[0]
    rows: list[dict[str, Any]] = []

    def row(kind: str, **data: Any) -> None:
        rows.append({"type": kind, "data": data, "id": f"e{len(rows)}", "timestamp": AT})

    row("session.start", sessionId=talk.id, copilotVersion="1.0", selectedModel="m-1")
    row("system.message", content=talk.system)
    for place, exchange in enumerate(talk.exchanges):
        if exchange.user:
            row("user.message", content=exchange.user)
        asked = [
            {"toolCallId": c.id, "name": c.tool, "arguments": c.arguments} for c in exchange.calls
        ]
        row("assistant.message", content=exchange.text, toolRequests=asked, apiCallId=f"a{place}",
            reasoningText=exchange.thought, outputTokens=250)  # fmt: skip
        for call in exchange.calls:
            row("tool.execution_complete", toolCallId=call.id, success=True,
                result={"content": call.result})  # fmt: skip
    return lines(rows)


def qwen_code(talks: list[Conversation]) -> bytes:
    """Linked rows with messages in Gemini's form."""
    talk = talks[0]
    rows: list[dict[str, Any]] = []

    def row(kind: str, role: str, parts: list[dict[str, Any]], **more: Any) -> None:
        parent = rows[-1]["uuid"] if rows else None
        rows.append({"uuid": f"u{len(rows)}", "parentUuid": parent, "sessionId": talk.id,
                     "timestamp": AT, "type": kind, "version": "0.21.13",
                     "message": {"role": role, "parts": parts}, **more})  # fmt: skip

    for exchange in talk.exchanges:
        if exchange.user:
            row("user", "user", [{"text": exchange.user}])
        parts: list[dict[str, Any]] = [{"text": exchange.thought, "thought": True}]
        parts.append({"text": exchange.text})
        parts += [
            {"functionCall": {"id": c.id, "name": c.tool, "args": c.arguments}}
            for c in exchange.calls
        ]
        counts = {"promptTokenCount": exchange.prompt}
        row("assistant", "model", parts, model="m-1", usageMetadata=counts)
        for call in exchange.calls:
            given = {"id": call.id, "name": call.tool, "response": {"output": call.result}}
            row("tool_result", "user", [{"functionResponse": given}])
    return lines(rows)


def goose(talks: list[Conversation]) -> bytes:
    """JSON Lines up to 1.9."""
    rows: list[dict[str, Any]] = [{"working_dir": "/home/dev/project", "description": "made up"}]
    for exchange in talks[0].exchanges:
        if exchange.user:
            said = [{"type": "text", "text": exchange.user}]
            rows.append({"role": "user", "created": 1, "content": said})
        rows.append({"role": "assistant", "created": 1, "content": goose_blocks(exchange)})
        for call in exchange.calls:
            rows.append(
                {"role": "user", "created": 1, "content": [goose_result(call.id, call.result)]}
            )
    return lines(rows)


def goose_blocks(exchange: Exchange) -> list[dict[str, Any]]:
    """The content of an answer."""
    blocks: list[dict[str, Any]] = [{"type": "text", "text": exchange.text}]
    for call in exchange.calls:
        value = {"name": call.tool, "arguments": call.arguments}
        asked = {"status": "success", "value": value}
        blocks.append({"type": "toolRequest", "id": call.id, "toolCall": asked})
    return blocks


def goose_result(call: str, shown: str) -> dict[str, Any]:
    """A block with a result."""
    value = {"content": [{"type": "text", "text": shown}], "isError": False}
    return {"type": "toolResponse", "id": call, "toolResult": {"status": "success", "value": value}}
