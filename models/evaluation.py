"""How well a target copies: calls that the text before them determines, teacher-forced.

A call counts as exact if every token of it is the model's first choice given the recorded text
before it; greedy decoding from that text then writes the same call.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import torch
from transformers import PreTrainedTokenizerFast

from models.llama import Llama
from models.tokenizer import render


@dataclass(frozen=True, slots=True)
class Copying:
    """Counts by tool name: determined calls, exact ones."""

    calls: Counter[str]
    exact: Counter[str]

    @property
    def share(self) -> float:
        return sum(self.exact.values()) / max(1, sum(self.calls.values()))


def copying(
    model: Llama, tokenizer: PreTrainedTokenizerFast, records: Iterable[dict[str, Any]]
) -> Copying:
    """Exact share of the determined calls of `records` (sessions of the generator)."""
    opening = tokenizer("<|im_start|>assistant\n", add_special_tokens=False)["input_ids"]
    begin = tokenizer.convert_tokens_to_ids("<tool_call>")
    calls: Counter[str] = Counter()
    exact: Counter[str] = Counter()
    for record in records:
        ids = tokenizer(render(tokenizer, record), add_special_tokens=False)["input_ids"]
        with torch.no_grad(), torch.autocast("cpu", torch.bfloat16):
            hidden, _ = model(torch.tensor([ids]))
            best = model.logits(hidden)[0].argmax(-1).tolist()
        right = [True] + [b == i for b, i in zip(best[:-1], ids[1:], strict=True)]
        width = len(opening)
        starts = [i for i in range(len(ids)) if ids[i : i + width] == opening]
        replies = [i for i, m in enumerate(record["messages"]) if m["role"] == "assistant"]
        for index, start in zip(replies, starts, strict=True):
            if index not in record["determined"]:
                continue
            stop = ids.index(tokenizer.eos_token_id, start + width)
            first = ids.index(begin, start, stop) + 1
            name = record["messages"][index]["tool_calls"][0]["function"]["name"]
            calls[name] += 1
            exact[name] += all(right[first:stop])
    return Copying(calls, exact)
