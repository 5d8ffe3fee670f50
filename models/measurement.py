"""Measures a served pair on held-out prompts: `python -m models.measurement URL [--sessions N]`.

Prints one JSON object: how many tool calls parse and satisfy their schema, how many determined
calls are exact, and the acceptance length (1 + accepted drafts per step) overall and by label.
Teacher forcing: each prompt is the recorded session up to a reply, so one wrong reply stays one.
"""

from __future__ import annotations

import argparse
import asyncio
import json
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import aiohttp
import jsonschema
from transformers import PreTrainedTokenizerFast

from models.generator.recording import with_text_arguments
from models.generator.session import session
from models.generator.stories import STORIES
from models.generator.styles import STYLES
from traces.boundaries import label, token_labels, token_starts

Json = dict[str, Any]
SCHEMAS = {
    definition["function"]["name"]: definition["function"]["parameters"]
    for style in STYLES
    for definition in style.definitions
}
MAX_TOKENS = 300


@dataclass(frozen=True, slots=True)
class Prompt:
    """A request body and the reply that was recorded for it."""

    body: Json
    reply: Json
    determined: bool


@dataclass(slots=True)
class Tally:
    """Counts over all replies. `steps` holds accepted drafts per step by label."""

    replies: int = 0
    tokens: int = 0
    calls: int = 0
    valid: int = 0
    determined: int = 0
    exact: int = 0
    finish: Counter[str] = field(default_factory=Counter)
    steps: dict[str, list[int]] = field(default_factory=lambda: defaultdict(list))


def prompts(sessions: int, seed: str) -> Iterator[Prompt]:
    for index in range(sessions):
        style = STYLES[index % len(STYLES)]
        record = session(f"{seed}-{index}", STORIES, 2, style)
        messages = [with_text_arguments(m) for m in record["messages"]]
        for at, message in enumerate(record["messages"]):
            if message["role"] == "assistant":
                body: Json = {"messages": messages[:at], "max_tokens": MAX_TOKENS}
                if record["tools"]:
                    body["tools"] = record["tools"]
                yield Prompt(body, message, at in record["determined"])


def good(call: Json) -> bool:
    """The name exists, the arguments are JSON and satisfy the agent's schema."""
    try:
        schema = SCHEMAS[call["function"]["name"]]
        jsonschema.validate(json.loads(call["function"]["arguments"]), schema)
    except (KeyError, json.JSONDecodeError, jsonschema.ValidationError):
        return False
    return True


def same(made: list[Json], recorded: list[Json]) -> bool:
    """Same names and argument values, in order."""
    try:
        return [(c["function"]["name"], json.loads(c["function"]["arguments"])) for c in made] == [
            (c["function"]["name"], c["function"]["arguments"]) for c in recorded
        ]
    except json.JSONDecodeError:
        return False


def count(tally: Tally, prompt: Prompt, answer: Json, tokenizer: PreTrainedTokenizerFast) -> None:
    choice = answer["choices"][0]
    calls = choice["message"].get("tool_calls") or []
    tally.replies += 1
    tally.finish[choice["finish_reason"]] += 1
    ids = choice["token_ids"]
    tally.tokens += len(ids)
    # A reply cut at max_tokens says nothing about its last call.
    judged = calls[:-1] if choice["finish_reason"] == "length" else calls
    tally.calls += len(judged)
    tally.valid += sum(good(call) for call in judged)
    if prompt.determined:
        tally.determined += 1
        tally.exact += same(calls, prompt.reply["tool_calls"])
    speculation = (answer.get("metrics") or {}).get("speculative_decoding") or {}
    texts = [tokenizer.decode([i]) for i in ids]
    spans = label("".join(texts), "hermes", prompt.body.get("tools", ()))
    labels = token_labels(spans, token_starts(texts)).names
    at = 1
    for accepted in speculation.get("per_step_accepted", []):
        if at < len(labels):
            tally.steps[labels[at]].append(accepted)
        at += accepted + 1


async def measure(url: str, sessions: int, seed: str, concurrency: int = 4) -> Tally:
    tally = Tally()
    gate = asyncio.Semaphore(concurrency)
    async with aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=3600)) as client:
        async with client.get(f"{url}/v1/models") as response:
            card = (await response.json())["data"][0]
        tokenizer = PreTrainedTokenizerFast.from_pretrained(Path(card["root"]))

        async def ask(prompt: Prompt) -> None:
            body = prompt.body | {"model": card["id"], "temperature": 0, "return_token_ids": True}
            async with (
                gate,
                client.post(f"{url}/v1/chat/completions", json=body) as response,
            ):
                response.raise_for_status()
                count(tally, prompt, await response.json(), tokenizer)

        await asyncio.gather(*(ask(p) for p in prompts(sessions, seed)))
    return tally


def summary(tally: Tally) -> Json:
    """Shares and acceptance lengths; None where nothing was counted."""

    def share(part: int, whole: int) -> float | None:
        return round(part / whole, 4) if whole else None

    def length(steps: list[int]) -> float | None:
        return round(1 + sum(steps) / len(steps), 3) if steps else None

    every = [accepted for steps in tally.steps.values() for accepted in steps]
    return {
        "replies": tally.replies,
        "tokens": tally.tokens,
        "finish": dict(tally.finish),
        "calls": tally.calls,
        "valid_share": share(tally.valid, tally.calls),
        "determined": tally.determined,
        "exact_share": share(tally.exact, tally.determined),
        "acceptance_length": length(every),
        "acceptance_by_label": {
            name: {"steps": len(steps), "length": length(steps)}
            for name, steps in sorted(tally.steps.items())
        },
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("url")
    parser.add_argument("--sessions", type=int, default=40)
    parser.add_argument("--seed", default="measured")
    arguments = parser.parse_args()
    tally = asyncio.run(measure(arguments.url, arguments.sessions, arguments.seed))
    print(json.dumps(summary(tally), indent=2))


if __name__ == "__main__":
    main()
