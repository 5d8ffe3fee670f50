"""Sessions as the agents' own tools record them: three public formats.

Claude Code JSONL (one row per content block), SWE-agent `.traj` (one JSON object) and OpenAI chat
messages (one session per line, with its tools).
"""

from __future__ import annotations

import json
import uuid
from typing import Any

Json = dict[str, Any]
SPACE = uuid.UUID("6f1c2a50-0c5e-5d0e-9a53-5f4ec6f3f1aa")


def dumps(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def chat_line(record: Json) -> str:
    """`{"id": ..., "messages": [...], "tools": [...]}` with arguments as JSON strings."""
    messages = [with_text_arguments(m) for m in record["messages"]]
    return dumps({"id": record["id"], "messages": messages, "tools": record["tools"]}) + "\n"


def with_text_arguments(message: Json) -> Json:
    if "tool_calls" not in message:
        return message
    calls = [
        call | {"function": call["function"] | {"arguments": dumps(call["function"]["arguments"])}}
        for call in message["tool_calls"]
    ]
    return message | {"tool_calls": calls, "content": message["content"] or None}


def claude_code(record: Json) -> str:
    """Rows of `~/.claude/projects/<slug>/<session>.jsonl`: no system prompt, no schemas."""
    session = str(uuid.uuid5(SPACE, record["id"]))
    rows: list[Json] = [{"type": "summary", "summary": record["id"], "leafUuid": session}]
    parent: str | None = None

    def add(kind: str, message: Json) -> None:
        nonlocal parent
        index = len(rows)
        row = {
            "parentUuid": parent,
            "isSidechain": False,
            "userType": "external",
            "cwd": "/home/dev/project",
            "sessionId": session,
            "version": "2.1.0",
            "gitBranch": "main",
            "type": kind,
            "message": message,
            "uuid": str(uuid.uuid5(SPACE, f"{record['id']}/{index}")),
            "timestamp": f"2026-05-04T09:{index // 60:02}:{index % 60:02}.000Z",
        }
        rows.append(row)
        parent = row["uuid"]

    for number, message in enumerate(record["messages"]):
        if message["role"] == "user":
            add("user", {"role": "user", "content": message["content"]})
        elif message["role"] == "tool":
            key = message["tool_call_id"].replace("call_", "toolu_")
            block = {"type": "tool_result", "tool_use_id": key, "content": message["content"]}
            add("user", {"role": "user", "content": [block]})
        elif message["role"] == "assistant":
            blocks = assistant_blocks(message)
            for block in blocks:
                add(
                    "assistant",
                    {
                        "id": f"msg_{uuid.uuid5(SPACE, f'{session}/{number}').hex[:20]}",
                        "type": "message",
                        "role": "assistant",
                        "model": "draftgate-tiny",
                        "content": [block],
                        "stop_reason": "tool_use" if "tool_calls" in message else "end_turn",
                    },
                )
    return "".join(dumps(row) + "\n" for row in rows)


def assistant_blocks(message: Json) -> list[Json]:
    blocks: list[Json] = []
    if message.get("reasoning_content"):
        blocks.append(
            {"type": "thinking", "thinking": message["reasoning_content"], "signature": ""}
        )
    if message["content"]:
        blocks.append({"type": "text", "text": message["content"]})
    for call in message.get("tool_calls", []):
        function = call["function"]
        key = call["id"].replace("call_", "toolu_")
        blocks.append(
            {
                "type": "tool_use",
                "id": key,
                "name": function["name"],
                "input": function["arguments"],
            }
        )
    return blocks


def swe_agent(record: Json) -> str:
    """A `.traj` object: `history` as chat messages, `trajectory` with each step's exact `query`."""
    history = []
    for message in record["messages"]:
        made = with_text_arguments(message) | {"agent": "main"}
        made["content"] = message["content"]
        if message["role"] == "assistant":
            made |= {
                "thought": message["content"],
                "action": action(message),
                "message_type": "action",
            }
        elif message["role"] == "tool":
            made["tool_call_ids"] = [made.pop("tool_call_id")]
            made["message_type"] = "observation"
        else:
            kind = "system_prompt" if message["role"] == "system" else "observation"
            made["message_type"] = kind
        history.append(made)
    steps = []
    for index, message in enumerate(history):
        if message["role"] != "assistant":
            continue
        after = index + 1
        seen = []
        while after < len(history) and history[after]["role"] == "tool":
            seen.append(history[after]["content"])
            after += 1
        steps.append(
            {
                "action": message["action"],
                "observation": "\n".join(seen),
                "response": message["content"],
                "thought": message["thought"],
                "execution_time": 0.1,
                "state": {"working_dir": "/repo"},
                "query": history[:index],
                "extra_info": {},
            }
        )
    whole = {
        "environment": "main",
        "trajectory": steps,
        "history": history,
        "info": {"exit_status": "submitted", "model_stats": {"api_calls": len(steps)}},
    }
    return dumps(whole) + "\n"


def action(message: Json) -> str:
    """The first call as SWE-agent shows it: its name and arguments on one line."""
    for call in message.get("tool_calls", []):
        return f"{call['function']['name']} {dumps(call['function']['arguments'])}"
    return ""
