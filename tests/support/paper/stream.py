"""One streamed answer of the paper server: its parts can be spoiled before it is sent."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from tests.support.paper.model import END, PaperModel, _hash

OPEN = "<tool_call>\n"


@dataclass
class Stream:
    """Ids, texts and distributions per output token; engine steps; the parsed message; how it ends.

    `shows_ids` and `shows_logprobs` are off for servers older than the gate's requests. `metrics`
    is vLLM's --per-request-spec-decode-metrics: ``none``, ``summary`` or ``detailed``.
    """

    prompt: list[int]
    ids: list[int]
    texts: list[str]
    distributions: list[dict[int, float]]
    content: str
    calls: list[dict[str, Any]]
    finish: str
    steps: list[int]
    drafted: list[int]
    accepted: list[int]
    done: bool = True
    shows_ids: bool = True
    shows_logprobs: bool = True
    usage: dict[str, Any] = field(default_factory=dict)
    metrics: str = "detailed"

    def warm(self, temperature: float, *, raw: bool) -> None:
        """What a temperature does to the first token's list; raw logprobs do not follow it."""
        if not raw:
            listed = self.distributions[0]
            self.distributions[0] = {token: p / temperature for token, p in listed.items()}

    def speculation(self) -> dict[str, Any] | None:
        """As vLLM shows it: no arrays in a summary, nor where nothing was drafted."""
        if self.metrics == "none":
            return None
        shown = {"num_spec_steps": len(self.drafted)}
        if self.metrics == "summary" or not self.drafted:
            return shown
        return {**shown, "per_step_accepted": self.accepted, "per_step_drafted": self.drafted}

    @classmethod
    def of(
        cls,
        model: PaperModel,
        prompt: list[int],
        answer: Sequence[int],
        body: dict[str, Any],
        drafts: int,
        accepts: bool,
        drawn: Sequence[int] | None = None,
    ) -> "Stream":
        """`drawn` are the tokens of a sampled turn, where they are not those of the answer."""
        ids = list(answer if drawn is None else drawn)[: body["max_tokens"]]
        texts = [model.vocabulary.pieces[i] for i in ids]
        content, calls = parse("".join(texts).removesuffix(END))
        ended = texts[-1:] == [END]
        finish = ("tool_calls" if calls else "stop") if ended else "length"
        steps, drafted, accepted = _steps(len(ids), drafts, accepts, prompt)
        usage = {
            "prompt_tokens": len(prompt),
            "completion_tokens": len(ids),
            "total_tokens": len(prompt) + len(ids),
            "prompt_tokens_details": {"cached_tokens": 0},
        }
        distributions = [model.distribution(prompt, answer, place) for place in range(len(ids))]
        return cls(
            prompt,
            ids,
            texts,
            distributions,
            content,
            calls,
            finish,
            steps,
            drafted,
            accepted,
            usage=usage,
        )


def parse(text: str) -> tuple[str, list[dict[str, Any]]]:
    """Content and Hermes calls of a whole text; a call that is no JSON is text."""
    head, mark, rest = text.partition(OPEN)
    if not mark:
        return text, []
    try:
        call, _ = json.JSONDecoder().raw_decode(rest)
        return head, [{"name": call["name"], "arguments": json.dumps(call["arguments"])}]
    except (ValueError, KeyError, TypeError):
        return text, []


def _steps(
    tokens: int, k: int, accepts: bool, prompt: Sequence[int]
) -> tuple[list[int], list[int], list[int]]:
    """Tokens per engine step (prefill first), and what each later step drafted and accepted."""
    steps, drafted, accepted = [min(1, tokens)], [], []
    while sum(steps) < tokens:
        got = _hash([*prompt[-4:], sum(steps)]) % (k + 1) if accepts and k else 0
        if k:
            drafted.append(k)
            accepted.append(got)
        steps.append(min(got + 1, tokens - sum(steps)))
    return steps, drafted, accepted


def stream_chunks(stream: Stream, body: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The chunk objects, as vLLM sends them."""
    base = {"id": "chatcmpl-1", "object": "chat.completion.chunk", "model": "paper", "created": 1}
    fingerprint = f"paper-{len(stream.drafted) > 0}"
    first: dict[str, Any] = {"index": 0, "delta": {"role": "assistant", "content": ""}}
    shown = body.get("return_token_ids") and stream.shows_ids
    yield {**base, "choices": [first], **({"prompt_token_ids": stream.prompt} if shown else {})}
    at = 0
    for number, count in enumerate(stream.steps):
        choice: dict[str, Any] = {"index": 0, "delta": {}, "finish_reason": None}
        if number == 0:
            choice["delta"] = {"content": stream.content}
        if number == len(stream.steps) - 1:
            choice["delta"] = {**choice["delta"], **_calls(stream)}
            choice["finish_reason"] = stream.finish
        if body.get("return_token_ids"):
            places = range(at, min(at + count, len(stream.ids)))
            if stream.shows_ids:
                choice["token_ids"] = [stream.ids[i] for i in places]
            if stream.shows_logprobs:
                choice["logprobs"] = {"content": [_entry(stream, i) for i in places]}
        at += count
        yield {**base, "choices": [choice]}
    if stream.usage:
        yield {
            **base,
            "choices": [],
            "usage": stream.usage,
            "metrics": {"speculative_decoding": stream.speculation()},
            "system_fingerprint": fingerprint,
        }


def _calls(stream: Stream) -> dict[str, Any]:
    if not stream.calls:
        return {}
    return {
        "tool_calls": [
            {"index": i, "id": f"call_{i}", "type": "function", "function": call}
            for i, call in enumerate(stream.calls)
        ]
    }


def _entry(stream: Stream, place: int) -> dict[str, Any]:
    token, distribution = stream.ids[place], stream.distributions[place]
    return {
        "token": f"token_id:{token}",
        "logprob": distribution.get(token, -12.0),
        "bytes": list(stream.texts[place].encode()),
        "top_logprobs": [
            {"token": f"token_id:{t}", "logprob": p} for t, p in list(distribution.items())[:5]
        ],
    }
