"""Scripted agents that speak as real ones do, and a stand-in for vLLM that answers them.

A Claude-Code-like agent speaks `/v1/messages`, streamed, with a billing text and cache marks that
move from request to request, a sub-agent and a side request. A Codex-like agent speaks
`/v1/responses` and sends its whole history back. The plain agent speaks chat completions.
"""

import json
from collections.abc import Iterable
from typing import Any

import aiohttp

from tests.support.scripted.server import Answer, Seen

TOOL = {"type": "object", "properties": {"path": {"type": "string"}}}


def stand_in(seen: Seen) -> Answer:
    """Answers of vLLM's routes: a call of ``ls`` until its result is there, then a text.

    The text repeats how long the prompt is, so that different prompts have different answers; the
    id of a call is another one in every answer, as vLLM's are.
    """
    stand_in.calls += 1  # type: ignore[attr-defined]
    call, body = f"call-{stand_in.calls}", seen.body  # type: ignore[attr-defined]
    if seen.route == "/v1/messages":
        return _streamed(_messages_events(body, call))
    if seen.route == "/v1/responses":
        return _streamed(_responses_events(body, call))
    if seen.route == "/v1/completions":
        return _whole({"id": "cmpl", "choices": [{"text": "done", "finish_reason": "stop"}]})
    return _chat(body, call)


stand_in.calls = 0  # type: ignore[attr-defined]


def _wants_call(last: str, tools: Any) -> bool:
    return bool(tools) and "result" not in last


def _streamed(events: Iterable[dict[str, Any]]) -> Answer:
    writes = [f"event: {e['type']}\ndata: {json.dumps(e)}\n\n".encode() for e in events]
    return Answer(writes=writes)


def _whole(body: dict[str, Any]) -> Answer:
    return Answer(writes=[json.dumps(body).encode()], content_type="application/json")


def _chat(body: dict[str, Any], call: str) -> Answer:
    last = json.dumps(body["messages"][-1])
    message: dict[str, Any] = {"role": "assistant", "content": f"said {len(body['messages'])}"}
    if _wants_call(last, body.get("tools")):
        function = {"name": "ls", "arguments": '{"path": "src"}'}
        message["content"] = None
        message["tool_calls"] = [{"id": call, "type": "function", "function": function}]
    if not body.get("stream"):
        reason = "tool_calls" if "tool_calls" in message else "stop"
        return _whole({"id": "c", "choices": [{"message": message, "finish_reason": reason}]})
    calls = [{"index": n, **c} for n, c in enumerate(message.pop("tool_calls", []))]
    deltas = [message, {"reasoning": "hm"}, {"tool_calls": calls}] if calls else [message]
    chunks = [{"choices": [{"index": 0, "delta": delta}]} for delta in deltas]
    writes = [f"data: {json.dumps(chunk)}\n\n".encode() for chunk in chunks]
    return Answer(writes=[*writes, b"data: [DONE]\n\n"])


def _messages_events(body: dict[str, Any], call: str) -> Iterable[dict[str, Any]]:
    last = json.dumps(body["messages"][-1])
    yield {"type": "message_start", "message": {"id": "msg", "role": "assistant", "content": []}}
    if _wants_call(last, body.get("tools")):
        block = {"type": "tool_use", "id": call, "name": "ls", "input": {}}
        yield {"type": "content_block_start", "index": 0, "content_block": block}
        for part in ('{"path"', ': "src"}'):
            delta = {"type": "input_json_delta", "partial_json": part}
            yield {"type": "content_block_delta", "index": 0, "delta": delta}
        reason = "tool_use"
    else:
        block = {"type": "text", "text": ""}
        yield {"type": "content_block_start", "index": 0, "content_block": block}
        delta = {"type": "text_delta", "text": f"said {len(body['messages'])}"}
        yield {"type": "content_block_delta", "index": 0, "delta": delta}
        reason = "end_turn"
    yield {"type": "content_block_stop", "index": 0}
    yield {"type": "message_delta", "delta": {"stop_reason": reason}, "usage": {"output_tokens": 5}}
    yield {"type": "message_stop"}


def _responses_events(body: dict[str, Any], call: str) -> Iterable[dict[str, Any]]:
    last = json.dumps(body["input"][-1])
    item: dict[str, Any] = {"type": "message", "role": "assistant"}
    item["content"] = [{"type": "output_text", "text": f"said {len(body['input'])}"}]
    if _wants_call(last, body.get("tools")):
        item = {"type": "function_call", "call_id": call, "name": "ls"}
        item["arguments"] = '{"path": "src"}'
    yield {"type": "response.created", "response": {"id": "r", "output": []}}
    yield {"type": "response.output_item.done", "item": item}
    yield {"type": "response.completed", "response": {"id": "r", "output": [item]}}


CREDENTIALS = {"Authorization": "Bearer secret-of-the-agent", "x-api-key": "key-of-the-agent"}


class Agent:
    """Talks to `url` with a model's name, and folds what it gets as its client library does."""

    def __init__(self, http: aiohttp.ClientSession, url: str, model: str = "m") -> None:
        self.http, self.url, self.model = http, url, model

    async def post(self, route: str, body: dict[str, Any]) -> str:
        """The answer's body as text. Raises for an error status."""
        headers = {"Authorization": "Bearer secret-of-the-agent", "x-api-key": "key-of-the-agent"}
        async with self.http.post(
            f"{self.url}{route}?beta=true", json=body, headers=headers
        ) as got:
            text = await got.text()
            assert got.status == 200, text
            return text


def events_in(text: str) -> list[dict[str, Any]]:
    """The objects of a stream's data lines."""
    lines = (line[6:] for line in text.splitlines() if line.startswith("data: {"))
    return [json.loads(line) for line in lines]


def usable(arguments: str) -> str:
    """Arguments as agents send them back: those that the token limit has cut are left empty."""
    try:
        json.loads(arguments)
    except ValueError:
        return "{}"
    return arguments


class PlainAgent(Agent):
    """Chat completions, streamed."""

    async def work(self, task: str, turns: int, **options: Any) -> None:
        """One conversation of so many turns; each call gets the result it waits for."""
        tool = {"type": "function", "function": {"name": "ls", "parameters": TOOL}}
        messages: list[dict[str, Any]] = [
            {"role": "system", "content": "You are a plain agent."},
            {"role": "user", "content": task},
        ]
        for turn in range(turns):
            body = {"model": self.model, "messages": messages, "tools": [tool], "stream": True}
            text = await self.post("/v1/chat/completions", body | options)
            messages = [*messages, *self._answered(text, turn)]

    @staticmethod
    def _answered(text: str, turn: int) -> list[dict[str, Any]]:
        answer: dict[str, Any] = {"role": "assistant", "content": ""}
        calls: dict[int, dict[str, Any]] = {}
        for event in events_in(text):
            for choice in event.get("choices", [])[:1]:
                delta = choice["delta"]
                answer["content"] += delta.get("content") or ""
                for piece in delta.get("tool_calls") or []:
                    call = calls.setdefault(piece["index"], {"name": "", "arguments": ""})
                    call["id"] = piece.get("id") or call.get("id")
                    call["name"] += piece["function"].get("name") or ""
                    call["arguments"] += piece["function"].get("arguments") or ""
        if not calls:
            return [answer, {"role": "user", "content": f"go on {turn}"}]
        answer["tool_calls"] = [
            {
                "id": call["id"],
                "type": "function",
                "function": {"name": call["name"], "arguments": usable(call["arguments"])},
            }
            for call in calls.values()
        ]
        answer["content"] = answer["content"] or None
        ids = [call["id"] for call in calls.values()]
        results = [{"role": "tool", "tool_call_id": i, "content": f"result {turn}"} for i in ids]
        return [answer, *results]


class ClaudeLike(Agent):
    """Messages, streamed, as Claude Code sends them."""

    system = "You are Claude Code."
    temperature: float = 1
    count = 0

    async def work(self, task: str, turns: int, sub_agent: bool = False) -> list[Any]:
        """A side request, then a conversation; after its first turn a sub-agent of three turns."""
        await self._ask("Write a title.", [{"role": "user", "content": f"Title of: {task}"}], [])
        history: list[Any] = [{"role": "user", "content": [{"type": "text", "text": task}]}]
        for turn in range(turns):
            history += await self._turn(self.system, history, turn)
            if turn == 0 and sub_agent:
                helper = [{"role": "user", "content": [{"type": "text", "text": f"Find {task}"}]}]
                for step in range(3):
                    helper += await self._turn("You are a searching agent.", helper, step)
        return history

    async def compacted(self, history: list[Any], turns: int) -> None:
        """The conversation goes on from a summary of itself."""
        summary = f"This session goes on from one of {len(history)} messages."
        again: list[Any] = [{"role": "user", "content": [{"type": "text", "text": summary}]}]
        for turn in range(turns):
            again += await self._turn(self.system, again, turn)

    async def _turn(self, system: str, history: list[Any], turn: int) -> list[Any]:
        text = await self._ask(system, history, [{"name": "ls", "input_schema": TOOL}])
        blocks: dict[int, dict[str, Any]] = {}
        for event in events_in(text):
            if event["type"] == "content_block_start":
                blocks[event["index"]] = {**event["content_block"]}
            elif event["type"] == "content_block_delta":
                delta, block = event["delta"], blocks[event["index"]]
                for key in ("text", "thinking", "signature"):
                    if key in delta:
                        block[key] = block.get(key, "") + delta[key]
                block["json"] = block.get("json", "") + delta.get("partial_json", "")
        content = []
        for block in blocks.values():
            streamed = block.pop("json", "")
            if block["type"] == "tool_use":
                block["input"] = json.loads(usable(streamed))
            content.append(block)
        uses = [block["id"] for block in content if block["type"] == "tool_use"]
        results = [
            {"type": "tool_result", "tool_use_id": i, "content": f"result {turn}"} for i in uses
        ]
        said = results or [{"type": "text", "text": f"go on {turn}"}]
        return [{"role": "assistant", "content": content}, {"role": "user", "content": said}]

    async def _ask(self, system: str, history: list[Any], tools: list[Any]) -> str:
        """One request: the mark of the cache stands at the last message, wherever that is."""
        self.count += 1
        billing = f"x-anthropic-billing-header: cc_version=2.1; cch={self.count:05x};"
        marked = json.loads(json.dumps(history))
        if isinstance(marked[-1]["content"], list):
            marked[-1]["content"][-1]["cache_control"] = {"type": "ephemeral"}
        body = {
            "model": self.model,
            "max_tokens": 64,
            "temperature": self.temperature,
            "system": [{"type": "text", "text": billing}, {"type": "text", "text": system}],
            "messages": marked,
            "metadata": {"user_id": "user_ab12_account_cd34"},
            "stream": True,
        }
        return await self.post("/v1/messages", body | ({"tools": tools} if tools else {}))


class CodexLike(Agent):
    """Responses, streamed and stateless, as Codex sends them."""

    async def work(self, task: str, turns: int) -> None:
        """One conversation of so many turns."""
        tool = {"type": "function", "name": "ls", "parameters": TOOL}
        history: list[Any] = [
            {"type": "message", "role": "user", "content": [{"type": "input_text", "text": task}]}
        ]
        for turn in range(turns):
            body = {
                "model": self.model,
                "instructions": "You are Codex.",
                "input": history,
                "tools": [tool],
                "max_output_tokens": 64,
                "store": False,
                "stream": True,
                "prompt_cache_key": "0199-session-of-codex",
            }
            text = await self.post("/v1/responses", body)
            done = next(e for e in events_in(text) if e["type"] == "response.completed")
            output = done["response"]["output"]
            calls = [item["call_id"] for item in output if item["type"] == "function_call"]
            for item in output:
                if item["type"] == "function_call":
                    item["arguments"] = usable(item["arguments"])
            given = [
                {"type": "function_call_output", "call_id": i, "output": f"result {turn}"}
                for i in calls
            ]
            said = {"type": "message", "role": "user"}
            said["content"] = [{"type": "input_text", "text": f"go on {turn}"}]  # type: ignore[assignment]
            history = [*history, *output, *(given or [said])]
