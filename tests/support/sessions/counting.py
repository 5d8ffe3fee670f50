"""Responses and calls counted from the raw rows of a recording, without any reader.

Each function gets the objects of JSON Lines, or the one value of a document in a list, and gives
(responses, calls) by what the format's own documentation says a response is.
"""

import json
from collections.abc import Callable, Iterator
from typing import Any

Rows = list[Any]
Counted = tuple[int, int]


def claude_code(rows: Rows) -> Counted:
    """Message ids, by session, of assistant rows with content that are no message of the tool."""
    if len(rows) == 1 and "loglines" in rows[0]:
        rows = rows[0]["loglines"]
    said = [
        (row.get("sessionId"), row["message"])
        for row in rows
        if row.get("type") == "assistant"
        and isinstance(row.get("message"), dict)
        and row["message"].get("content")
        and row["message"].get("model") != "<synthetic>"
    ]
    ids = {(session, message.get("id") or id(message)) for session, message in said}
    calls = {block.get("id") or id(block) for _, m in said for block in blocks(m, "tool_use")}
    return len(ids), len(calls)


def blocks(message: dict[str, Any], kind: str) -> list[dict[str, Any]]:
    content = message.get("content")
    found = content if isinstance(content, list) else []
    return [block for block in found if isinstance(block, dict) and block.get("type") == kind]


def codex(rows: Rows) -> Counted:
    """Counts of tokens with another total than the one before; calls of functions."""
    payloads = [row["payload"] for row in rows]
    counts = [p["info"] for p in payloads if p.get("type") == "token_count" and p.get("info")]
    totals = [json.dumps(info["total_token_usage"]) for info in counts]
    return len(set(totals)), sum(payload.get("type") == "function_call" for payload in payloads)


def swe_agent(rows: Rows) -> Counted:
    """Assistant messages of the history that are no demonstration."""
    said = [m for m in rows[0]["history"] if m["role"] == "assistant" and not m.get("is_demo")]
    return len(said), sum(len(message.get("tool_calls") or ()) for message in said)


def chat_messages(messages: list[dict[str, Any]]) -> Counted:
    said = [m for m in messages if m.get("role") in ("assistant", "ai")]
    return len(said), sum(len(message.get("tool_calls") or ()) for message in said)


def mini_swe_agent(rows: Rows) -> Counted:
    return chat_messages(rows[0] if isinstance(rows[0], list) else rows[0]["messages"])


def openhands(rows: Rows) -> Counted:
    """Actions of the agent; all but the final one call a tool."""
    events = [
        e for row in rows for p in row["history"] for e in (p if isinstance(p, list) else [p])
    ]
    actions = [event["action"] for event in events if event.get("action")]
    asked = [action for action in actions if action in ("run", "run_ipython")]
    return len(asked) + actions.count("finish"), len(asked)


def openhands_sdk(rows: Rows) -> Counted:
    """Ids of responses, whether they act or speak; actions are calls."""
    said = [row for row in rows if row.get("llm_response_id")]
    calls = sum(row.get("kind") == "ActionEvent" for row in said)
    return len({row["llm_response_id"] for row in said}), calls


def atif(rows: Rows) -> Counted:
    """Steps of the agent that are no copies, and those of its subagents."""
    steps = [step for row in rows for step in atif_steps(row) if step["source"] == "agent"]
    return len(steps), sum(len(step.get("tool_calls") or ()) for step in steps)


def atif_steps(trajectory: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield from trajectory["steps"]
    for inner in trajectory.get("subagent_trajectories") or ():
        yield from atif_steps(inner)


def gemini(rows: Rows) -> Counted:
    messages = rows[0].get("messages", rows)
    said = [message for message in messages if message.get("type") == "gemini"]
    return len(said), sum(len(message.get("toolCalls") or ()) for message in said)


def qwen_code(rows: Rows) -> Counted:
    """Messages of the model under the last branch; parts with a call."""
    linked = {row["uuid"]: row["parentUuid"] for row in rows}
    place, path = rows[-1]["uuid"], []
    while place:
        path.append(place)
        place = linked[place]
    said = [row for row in rows if row["type"] == "assistant" and row["uuid"] in path]
    parts = [part for row in said for part in row["message"]["parts"]]
    return len({row["uuid"] for row in said}), sum("functionCall" in part for part in parts)


def opencode(rows: Rows) -> Counted:
    parts = [row["part"] for row in rows if row.get("type") in ("step_start", "text", "tool_use")]
    return len({p["messageID"] for p in parts}), sum(p["type"] == "tool" for p in parts)


def cline(rows: Rows) -> Counted:
    said = [message for message in rows[0]["messages"] if message["role"] == "assistant"]
    return len(said), sum(len(blocks(message, "tool_use")) for message in said)


def goose(rows: Rows) -> Counted:
    said = [row for row in rows if row.get("role") == "assistant"]
    old = [block for row in said for block in row["content"] if "tool_name" in block]
    return len(said), len(old) + sum(len(blocks(row, "toolRequest")) for row in said)


def pi(rows: Rows) -> Counted:
    said = [row["message"] for row in rows if row.get("type") == "message"]
    said = [message for message in said if message["role"] == "assistant"]
    return len(said), sum(len(blocks(message, "toolCall")) for message in said)


def copilot_cli(rows: Rows) -> Counted:
    said = [row["data"] for row in rows if row["type"] == "assistant.message"]
    return len(said), sum(len(data.get("toolRequests") or ()) for data in said)


def kimi(rows: Rows) -> Counted:
    kinds = [row["event"]["type"] for row in rows if "event" in row]
    return kinds.count("step.end"), kinds.count("tool.call")


def har(rows: Rows) -> Counted:
    """Exchanges; calls are counted where they begin in the body or its stream."""
    entries = rows[0]["log"]["entries"]
    bodies = [entry["response"]["content"]["text"] for entry in entries]
    marks = ('"type":"tool_use"', '"type":"function_call"', '"function":{"name"')
    plain = [body.replace(" ", "").replace("\n", "") for body in bodies]
    return len(entries), sum(body.count(mark) for body in plain for mark in marks)


def otel(rows: Rows) -> Counted:
    """Spans of an LLM, or of the operation ``chat``; calls in the messages that came back."""
    spans = rows[0].get("spans") or [
        span
        for resource in rows[0]["resourceSpans"]
        for scope in resource["scopeSpans"]
        for span in scope["spans"]
    ]
    chats = [given for given in map(attributes, spans) if is_chat(given)]
    calls = sum(
        ".tool_call.function.name" in key and key.startswith("llm.output_messages")
        for given in chats
        for key in given
    )
    came = "".join(given.get("gen_ai.output.messages", "") for given in chats)
    return len(chats), calls + came.replace(" ", "").count('"type":"tool_call"')


def is_chat(given: dict[str, Any]) -> bool:
    kind = given.get("openinference.span.kind", given.get("gen_ai.operation.name"))
    return kind in ("LLM", "chat")


def attributes(span: dict[str, Any]) -> dict[str, Any]:
    given = span["attributes"]
    if isinstance(given, dict):
        return given
    return {one["key"]: one["value"].get("stringValue") or "" for one in given}


def adp(rows: Rows) -> Counted:
    kinds = [step["class_"] for row in rows for step in row["content"]]
    calls = kinds.count("api_action") + kinds.count("code_action")
    return calls + kinds.count("message_action"), calls


def data_set(rows: Rows) -> Counted:
    """Assistant messages of every row; a prompt without one is a turn too."""
    counted = []
    for row in rows:
        messages = row.get("messages") or row.get("trajectory")
        messages = json.loads(messages) if isinstance(messages, str) else messages
        responses, calls = chat_messages(messages)
        counted.append((responses or min(1, len(messages)), calls))
    return sum(turns for turns, _ in counted), sum(calls for _, calls in counted)


COUNTERS: dict[str, tuple[Callable[[Rows], Counted], tuple[str, ...]]] = {
    "claude-code": (claude_code, ("claude-code/*",)),
    "codex": (codex, ("codex/calls-and-counts*", "codex/jnarowski*")),
    "swe-agent": (swe_agent, ("swe-agent/*",)),
    "mini-swe-agent": (mini_swe_agent, ("mini-swe-agent/*",)),
    "openhands": (openhands, ("openhands/pairs*", "openhands/*output.jsonl")),
    "openhands-sdk": (openhands_sdk, ("openhands/*sdk*events*",)),
    "atif": (atif, ("atif/*",)),
    "gemini-cli": (gemini, ("gemini-cli/session.json", "gemini-cli/rows*", "gemini-cli/j*")),
    "qwen-code": (qwen_code, ("qwen-code/*", "other-agents/*qwen*")),
    "opencode": (opencode, ("opencode/stream*", "opencode/*.jsonl")),
    "cline": (cline, ("cline/*messages.json",)),
    "goose": (goose, ("goose/*",)),
    "pi": (pi, ("pi/*",)),
    "copilot-cli": (copilot_cli, ("copilot-cli/*", "other-agents/*copilot*")),
    "kimi": (kimi, ("kimi/*", "other-agents/*kimi*")),
    "request-log": (har, ("*/*.har",)),
    "otel": (otel, ("otel/genai-*s.json", "otel/open*", "otel/[sk]*", "otel/pypi*")),
    "adp": (adp, ("adp/*", "hf-datasets/*adp*")),
    "chat-messages": (
        data_set,
        ("chat-messages/[am]*", "hf-datasets/SWE-bench*", "hf-datasets/*.parquet"),
    ),
}
"""What counts a format, and the recorded files it counts."""
