"""Answers of both paths, written by hand, for tests of the assertions."""

from collections.abc import Sequence
from typing import Any

from draftgate.testing import Answer, BothPaths
from traces.wire.reassembly import response_of_chunks

TOOL = {
    "type": "function",
    "function": {
        "name": "ls",
        "parameters": {
            "type": "object",
            "properties": {"path": {"type": "string"}},
            "required": ["path"],
        },
    },
}
GREEDY: dict[str, Any] = {"temperature": 0, "tools": [TOOL], "max_tokens": 100}

Tokens = Sequence[tuple[int, str, float] | tuple[int, str, float, dict[int, float]]]
"""(id, text, log probability, and what else is listed: id -> log probability)."""


def answer(
    content: str = "",
    *,
    path: str = "candidate",
    calls: Sequence[tuple[str, str]] = (),
    tokens: Tokens | None = None,
    finish: str | None = "stop",
    done: bool = True,
    status: int | None = 200,
    request: dict[str, Any] | None = None,
    completion: int | None = None,
) -> Answer:
    """An answer as it would have been streamed: one chunk, then usage."""
    called = [
        {"index": i, "id": f"c{i}", "function": {"name": name, "arguments": text}}
        for i, (name, text) in enumerate(calls)
    ]
    delta: dict[str, Any] = {"content": content} | ({"tool_calls": called} if called else {})
    choice: dict[str, Any] = {"index": 0, "delta": delta, "finish_reason": finish}
    if tokens is not None:
        choice["token_ids"] = [token[0] for token in tokens]
        choice["logprobs"] = {"content": [_entry(*token) for token in tokens]}
    chunks: list[dict[str, Any]] = [{"choices": [choice]}]
    count = completion if completion is not None else len(tokens or ())
    chunks.append({"choices": [], "usage": {"prompt_tokens": 1, "completion_tokens": count}})
    response = response_of_chunks(chunks if status == 200 else [], done=done, status=status)
    return Answer(path, "chat-t0001-ls", GREEDY if request is None else request, response)


def _entry(
    id_: int, text: str, logprob: float, others: dict[int, float] | None = None
) -> dict[str, Any]:
    listed = {id_: logprob, **(others or {})}
    return {
        "token": f"token_id:{id_}",
        "logprob": logprob,
        "bytes": list(text.encode()),
        "top_logprobs": [{"token": f"token_id:{i}", "logprob": p} for i, p in listed.items()],
    }


def both(baseline: dict[str, Any], candidate: dict[str, Any], **shared: Any) -> BothPaths:
    """Both answers; `shared` holds for both."""
    return BothPaths(
        answer(path="baseline", **{**shared, **baseline}),
        answer(path="candidate", **{**shared, **candidate}),
    )
