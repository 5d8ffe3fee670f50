"""A completion over token ids, token by token, that can be broken off.

{"choices": [{"token_ids": [523], "logprobs": {"token_logprobs": [-0.4],
  "top_logprobs": [{"token_id:523": -0.4, "token_id:16": -1.9}]}, "finish_reason": null}]}
"""

import math
from collections.abc import AsyncGenerator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import aiohttp

from replay.scoring.score_answer import NON_FINITE
from replay.sending.client import StreamClient
from replay.sending.connection import error_body
from replay.sending.refusal import message_of
from traces.served_json import decode_served
from traces.shortage import raise_shortage
from traces.wire.reassembly import DONE
from traces.wire.sse import SseParser

ROUTE = "/v1/completions"
PLACEHOLDER = "token_id:"


@dataclass(frozen=True, slots=True)
class StreamedToken:
    """A generated token: its id, and the listed log probabilities (nat) by token id, its own
    among them.
    """

    id: int
    listed: Mapping[int, float]


class StreamRefused(Exception):
    """The server answered with an error, or with something that is no stream of tokens."""


class StreamBroken(Exception):
    """The connection failed or the time ran out."""


def continuation_request(
    model: str,
    prompt: Sequence[int],
    max_tokens: int,
    *,
    top_logprobs: int,
    cache_salt: str,
    also: Sequence[int] = (),
) -> dict[str, Any]:
    """Greedy continuation of `prompt`. With `also`, log probabilities of exactly those tokens (and
    the generated one) are listed in place of the top ones; vLLM 0.32 fails on that under
    speculation (an IndexError in its completion stream), so it is for baselines only.
    """
    chosen = {"logprob_token_ids": list(also)} if also else {}
    return {
        "model": model,
        "prompt": list(prompt),
        "max_tokens": max_tokens,
        "temperature": 0.0,
        "logprobs": top_logprobs,
        "return_token_ids": True,
        "return_tokens_as_token_ids": True,
        "cache_salt": cache_salt,
        "stream": True,
        **chosen,
    }


async def stream_tokens(
    client: StreamClient, request: Mapping[str, Any]
) -> AsyncGenerator[StreamedToken, None]:
    """The tokens as they come. Closing the iterator breaks the request off at the server.

    Raises StreamRefused with the server's words, StreamBroken for what the network did.
    """
    try:
        async with client.exchange(request, ROUTE) as answer:
            if answer.status != 200:
                raise StreamRefused(message_of(await error_body(answer)))
            async for data in _events(answer):
                chunk = decode_served(data)
                if "error" in chunk:
                    raise StreamRefused(str(chunk["error"])[:500])
                for choice in chunk["choices"]:
                    for token in _tokens(choice):
                        yield token
    except (TimeoutError, aiohttp.ClientError, OSError) as problem:
        raise_shortage(problem)
        raise StreamBroken(f"{type(problem).__name__}: {problem}") from None
    except (AttributeError, KeyError, TypeError, ValueError, OverflowError) as problem:
        raise StreamRefused(f"no stream of tokens with logprobs: {problem!r:.200}") from None


async def _events(answer: aiohttp.ClientResponse) -> AsyncGenerator[str, None]:
    """The data of every event but the terminal one."""
    parser = SseParser()
    async for read in answer.content.iter_any():
        for event in parser.feed(0.0, read):
            if event.data != DONE:
                yield event.data
    if parser.left_over and parser.left_over != f"data: {DONE}":
        raise ValueError(f"it ends inside {parser.left_over:.100}")


def _tokens(choice: Mapping[str, Any]) -> list[StreamedToken]:
    ids = choice["token_ids"]
    lists = choice["logprobs"]["top_logprobs"] if ids else []
    return [StreamedToken(token, _listed(row)) for token, row in zip(ids, lists, strict=True)]


def _listed(row: Mapping[str, float | None]) -> dict[int, float]:
    """``{"token_id:523": -0.4}``; a NaN is streamed as null."""
    listed = {}
    for name, value in row.items():
        if value is None or not math.isfinite(value):
            raise StreamRefused(f"{NON_FINITE}: the logprob of {name} is {value}")
        listed[int(name.removeprefix(PLACEHOLDER))] = value
    return listed
