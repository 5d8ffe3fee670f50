"""The official clients, reading a stream that stands in memory.

read_by_anthropic([b"event: message_start\\n…", …])   # what `messages.stream` puts together
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import anthropic
import httpx
import httpx2
import openai


@dataclass(frozen=True, slots=True)
class Got:
    """What a client hands its user."""

    text: str
    reasoning: str
    calls: tuple[tuple[str, str, Any], ...]
    finish: str | None


def _http(reads: Iterable[bytes], library: Any = httpx) -> Any:
    """A client of httpx (of httpx2, which anthropic's takes alone) that is answered from memory."""

    class Body(library.SyncByteStream):  # type: ignore[misc]
        def __iter__(self):  # type: ignore[no-untyped-def]
            yield from reads

    def answer(_: Any) -> Any:
        return library.Response(200, headers={"content-type": "text/event-stream"}, stream=Body())

    return library.Client(transport=library.MockTransport(answer))


def read_by_anthropic(reads: Sequence[bytes]) -> Got:
    """By `anthropic.Anthropic.messages.stream`, which keeps the message as it grows."""
    client = anthropic.Anthropic(
        api_key="none", base_url="http://mock", http_client=_http(reads, httpx2), max_retries=0
    )
    asked: Any = [{"role": "user", "content": "x"}]
    with client.messages.stream(model="m", max_tokens=9, messages=asked) as stream:
        message = stream.get_final_message()
    blocks = list(message.content)
    return Got(
        "".join(block.text for block in blocks if block.type == "text"),
        "".join(block.thinking for block in blocks if block.type == "thinking"),
        tuple((b.id, b.name, b.input) for b in blocks if b.type == "tool_use"),
        message.stop_reason,
    )


def read_by_openai(reads: Sequence[bytes]) -> Got:
    """By `openai.OpenAI.responses.stream`, which keeps the response as it grows."""
    client = openai.OpenAI(
        api_key="none", base_url="http://mock/v1", http_client=_http(reads), max_retries=0
    )
    with client.responses.stream(model="m", input="x") as stream:
        response = stream.get_final_response()
    texts, thoughts, calls = [], [], []
    for item in response.output:
        if item.type == "message":
            texts += [part.text for part in item.content if part.type == "output_text"]
        elif item.type == "reasoning":
            thoughts += [part.text for part in item.content or ()]
        elif item.type == "function_call":
            calls.append((item.call_id, item.name, item.arguments))
    return Got("".join(texts), "".join(thoughts), tuple(calls), response.status)


def deltas_by_openai(reads: Sequence[bytes]) -> str:
    """The text that `responses.create(stream=True)` shows a user piece by piece."""
    client = openai.OpenAI(
        api_key="none", base_url="http://mock/v1", http_client=_http(reads), max_retries=0
    )
    stream = client.responses.create(model="m", input="x", stream=True)
    return "".join(e.delta for e in stream if e.type == "response.output_text.delta")


def completion_by_openai(reads: Sequence[bytes]) -> Got:
    """By `openai.OpenAI.completions.create(stream=True)`."""
    client = openai.OpenAI(
        api_key="none", base_url="http://mock/v1", http_client=_http(reads), max_retries=0
    )
    text, finish = "", None
    for chunk in client.completions.create(model="m", prompt="x", stream=True):
        for choice in chunk.choices:
            text += choice.text
            finish = choice.finish_reason or finish
    return Got(text, "", (), finish)
