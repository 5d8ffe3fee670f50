"""Small builders of case scenarios, so that a test shows only what it is about."""

import zlib
from typing import Any

from checks.cases.judge import judge_scenario
from checks.exact.judge import Judgement
from traces.cases.case import CaseScenario

TOOLS = [
    {
        "type": "function",
        "function": {
            "name": "read_file",
            "parameters": {
                "type": "object",
                "properties": {"path": {"type": "string"}, "lines": {"type": "integer"}},
                "required": ["path"],
                "additionalProperties": False,
            },
        },
    },
    {
        "type": "function",
        "function": {"name": "list_todos", "parameters": {"type": "object", "properties": {}}},
    },
]


def request(**fields: Any) -> dict[str, Any]:
    """A greedy request that asks for usage and token ids, with tools."""
    base: dict[str, Any] = {
        "messages": [{"role": "user", "content": "Fix the failing test."}],
        "temperature": 0,
        "max_tokens": 512,
        "stream": True,
        "stream_options": {"include_usage": True},
        "return_token_ids": True,
        "tools": TOOLS,
        "tool_choice": "auto",
    }
    return {k: v for k, v in (base | fields).items() if v is not None}


def call(name: str | None = "read_file", arguments: str = '{"path": "a.py"}', **more: Any) -> dict:
    """A whole tool call as a message holds it."""
    identifier = more.pop("id", f"call_{zlib.crc32(arguments.encode()):x}")
    return {
        "id": identifier,
        "type": "function",
        "function": {"name": name, "arguments": arguments},
        **more,
    }


def message(content: str | None = None, reasoning: str | None = None, calls: list | None = None):
    """An assistant message as a server without streaming gives it."""
    result: dict[str, Any] = {"role": "assistant", "content": content}
    if reasoning is not None:
        result["reasoning"] = reasoning
    return result | {"tool_calls": calls or []}


def chunk(delta: dict | None = None, finish: str | None = None, ids=None, logprobs=None, **more):
    """One stream chunk of choice 0."""
    choice: dict[str, Any] = {"index": 0, "delta": delta or {}, "finish_reason": finish}
    if ids is not None:
        choice["token_ids"] = list(ids)
    if logprobs is not None:
        choice["logprobs"] = {"content": logprobs}
    return {"object": "chat.completion.chunk", "choices": [choice], **more}


def usage(completion: int, prompt: int = 100, cached: int | None = None) -> dict:
    """The last chunk, which carries usage."""
    counts: dict[str, Any] = {"prompt_tokens": prompt, "completion_tokens": completion}
    if cached is not None:
        counts["prompt_tokens_details"] = {"cached_tokens": cached}
    return {"choices": [], "usage": counts}


def streamed(
    content: str = "",
    reasoning: str = "",
    calls: list | None = None,
    finish: str | None = "stop",
    ids: int | list[int] = 3,
    completion: int | None = None,
    **more: Any,
) -> dict:
    """A candidate whose whole output comes in one chunk, followed by usage and [DONE]."""
    token_ids = list(range(1000, 1000 + ids)) if isinstance(ids, int) else ids
    delta: dict[str, Any] = {"content": content}
    if reasoning:
        delta["reasoning"] = reasoning
    if calls:
        delta["tool_calls"] = [{"index": i, **c} for i, c in enumerate(calls)]
    counted = len(token_ids) if completion is None else completion
    chunks = [
        chunk({"role": "assistant", "content": ""}),
        chunk(delta, finish, token_ids),
        usage(counted),
    ]
    return {"chunks": chunks, "done": True} | more


def token(text: str, logprob: float = -0.01, **others: float) -> dict:
    """A token with its own entry first in the list; `others` are alternatives by text."""
    listed = [{"id": token_id(text), "text": text, "logprob": logprob}]
    listed += [{"id": token_id(t), "text": t, "logprob": p} for t, p in others.items()]
    return {"id": token_id(text), "text": text, "logprob": logprob, "top_logprobs": listed}


def token_id(text: str) -> int:
    """A stable id per text."""
    return zlib.crc32(text.encode()) % 150_000


def tokens(*texts: str) -> list[dict]:
    """Tokens the path was sure of."""
    return [token(text) for text in texts]


def token_stream(
    toks: list[dict],
    finish: str = "stop",
    steps: list[int] | None = None,
    completion: int | None = None,
    content: str | None = None,
    **more: Any,
) -> dict:
    """A candidate with tokens; one chunk per step, content is the tokens' text without EOS."""
    steps = steps or [len(toks)]
    chunks, at = [chunk({"role": "assistant", "content": ""})], 0
    for number, size in enumerate(steps):
        part = toks[at : at + size]
        at += size
        text = "".join(t["text"] for t in part if t["text"] != "<|im_end|>")
        if content is not None:
            text = content if number == 0 else ""
        last = number == len(steps) - 1
        ids = [t["id"] for t in part]
        chunks.append(chunk({"content": text}, finish if last else None, ids))
    counted = len(toks) if completion is None else completion
    chunks.append(usage(counted))
    return {"chunks": chunks, "done": True, "tokens": toks, "step_tokens": steps} | more


def judge(**parts: Any) -> Judgement:
    """The judgement of a scenario with these parts."""
    return judge_scenario(CaseScenario.model_validate({"name": "built", **parts}))


def codes(**parts: Any) -> list[str]:
    """The error codes of a scenario with these parts; a greedy request where none is given."""
    parts.setdefault("request", request())
    return judge(**parts).codes
