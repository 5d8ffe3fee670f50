"""The one token a server would emit next after a given prefix of token ids.

One greedy ``/v1/completions`` request per prefix, `max_tokens` 1; the prefix cache may serve it.
"""

import asyncio
from collections.abc import Sequence
from typing import Any

from msgspec import Struct, convert

from replay.scoring.scorer_plan import ScorerPlan
from replay.sending.client import StreamClient
from traces.served_json import decode_served
from traces.wire.capture import CaptureKey
from traces.wire.chunk import Count
from traces.wire.response import Token


async def next_tokens(plan: ScorerPlan, prefixes: Sequence[Sequence[int]]) -> list[Token | None]:
    """One token per prefix, in order; `None` where the server gave no usable answer."""
    gate = asyncio.Semaphore(plan.concurrency)
    async with StreamClient(plan.url, api_key=plan.api_key, timeout_s=plan.timeout_s) as client:

        async def ask(prefix: Sequence[int]) -> Token | None:
            key = CaptureKey(run="", path="", arm="next", session="", turn="")
            async with gate:
                capture = await client.send(key, _body(plan, prefix), "completions")
            return _token(capture.body) if capture.status == 200 else None

        return list(await asyncio.gather(*(ask(prefix) for prefix in prefixes)))


def _body(plan: ScorerPlan, prefix: Sequence[int]) -> dict[str, Any]:
    return {
        "model": plan.model,
        "prompt": list(prefix),
        "max_tokens": 1,
        "temperature": 0.0,
        "logprobs": 2,
        "return_token_ids": True,
        "cache_salt": plan.cache_salt,
        "stream": False,
    }


def _token(body: bytes) -> Token | None:
    """``{"choices": [{"token_ids": [17], "logprobs": {"token_logprobs": [-0.1], …}}]}``."""
    try:
        choice = convert(decode_served(body), _Completion).choices[0]
        scores = choice.logprobs.token_logprobs if choice.logprobs else None
        return Token(choice.token_ids[0], choice.text, scores[0] if scores else None)
    except (ValueError, IndexError):
        return None


class _Logprobs(Struct):
    token_logprobs: list[float | None] | None = None


class _Choice(Struct):
    token_ids: list[Count]
    text: str | None = None
    logprobs: _Logprobs | None = None


class _Completion(Struct):
    choices: list[_Choice]
