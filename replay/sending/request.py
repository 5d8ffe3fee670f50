"""What goes over the wire: a rendered chat request plus the fields the gate needs.

`gate_request` asks for everything vLLM 0.32 can show of its decoding: token ids, logprobs with
alternatives, usage with speculation metrics. `plain_request` is the same turn as users send it,
since asking for ids and logprobs changes the stream (empty deltas for tokens a parser swallows).
"""

from collections.abc import Mapping
from hashlib import blake2b
from typing import Any

TOP_LOGPROBS = 5
"""The sampled token comes first *within* K, so K = 1 would hide the argmax."""

NEUTRAL_SAMPLING: Mapping[str, float | int] = {
    "repetition_penalty": 1.0,
    "presence_penalty": 0.0,
    "frequency_penalty": 0.0,
    "min_p": 0.0,
    "top_p": 1.0,
    "top_k": 0,
}
"""Sent where the session gives none: a server otherwise fills in the model's generation config,
and a default ``min_p`` there would make a server with a drafter refuse all traffic."""


def gate_request(
    chat: Mapping[str, Any],
    *,
    model: str,
    cache_salt: str,
    max_tokens: int,
    top_logprobs: int = TOP_LOGPROBS,
    seed: int | None = None,
) -> dict[str, Any]:
    """The request of the judged arms; `chat` itself stays as it is.

    `cache_salt` keeps the prefix caches of arms apart (vLLM: at most 128 characters). `max_tokens`
    caps the session's own. `seed` is used for turns that sample and bring none; without it none is
    sent: one seed for all turns would give all of them the same random stream, and any seed keeps
    vLLM from its fast sampler (`v1/sample/ops/topk_topp_sampler.py`: per-request generators).
    """
    if top_logprobs < 2:
        raise ValueError("top_logprobs must be at least 2: 1 hides the argmax")
    return {
        **plain_request(chat, model=model, cache_salt=cache_salt, max_tokens=max_tokens, seed=seed),
        "return_token_ids": True,
        "return_tokens_as_token_ids": True,
        "logprobs": True,
        "top_logprobs": top_logprobs,
        "include_reasoning": True,
    }


def plain_request(
    chat: Mapping[str, Any],
    *,
    model: str,
    cache_salt: str,
    max_tokens: int,
    seed: int | None = None,
) -> dict[str, Any]:
    """The turn as users send it: streamed, with usage, with scores only where they were asked for
    in the recording (a fault may show only under ``top_logprobs: 0``).
    """
    request = {key: value for key, value in chat.items() if value is not None}
    for field in ("return_token_ids", "return_tokens_as_token_ids"):
        request.pop(field, None)
    recorded_cap = request.pop("max_completion_tokens", request.pop("max_tokens", max_tokens))
    options = request.get("stream_options") or {}
    sampling = {"temperature": 0.0, **NEUTRAL_SAMPLING}
    request = {**sampling, **request}
    if seed is not None and request["temperature"] > 0:
        request.setdefault("seed", seed)
    return {
        **request,
        "model": model,
        "n": 1,
        "max_tokens": min(recorded_cap, max_tokens),
        "cache_salt": cache_salt,
        "stream": True,
        "stream_options": {**options, "include_usage": True},
    }


def turn_seed(seed: int, *names: str) -> int:
    """A seed of its own for one turn of one arm, below 2^63; the same for the same names."""
    text = "\x00".join((str(seed), *names))
    return int.from_bytes(blake2b(text.encode(errors="surrogatepass"), digest_size=8).digest()) >> 1
