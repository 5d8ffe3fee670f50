"""A model on paper: what it answers, and how likely it finds every token, is a fixed function.

Tokens are pieces of text of up to three characters; the id of a piece is its place in a vocabulary
that grows as pieces are met. A prompt ends with the token `START`; the answer is chosen by a hash
of the prompt. The distribution at output position i is peaked at piece i of that answer, whatever
was emitted before, so a swapped token changes nothing after it.
"""

import hashlib
import json
import math
import random
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

START = "<|im_start|>assistant\n"
END = "<|im_end|>"
ALTERNATIVES = ("Let", " me", " lo", "ok ", "at ", "it ")
"""Unlikely at every place, and pieces that answers are made of, so that their texts are known."""


@dataclass
class Vocabulary:
    """Pieces and their ids, shared by both paths."""

    pieces: dict[int, str] = field(default_factory=dict)
    ids: dict[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for piece in (END, START, *ALTERNATIVES):
            self.id(piece)

    def id(self, piece: str) -> int:
        if piece not in self.ids:
            number = self.number(piece)
            self.ids[piece], self.pieces[number] = number, piece
        return self.ids[piece]

    def number(self, piece: str) -> int:
        """The id of a piece that was not met before."""
        return len(self.pieces)

    def encode(self, text: str) -> list[int]:
        return [self.id(text[i : i + 3]) for i in range(0, len(text), 3)]


class HashedVocabulary(Vocabulary):
    """The same ids in every process, whatever it has met before."""

    def number(self, piece: str) -> int:
        return int.from_bytes(hashlib.blake2b(piece.encode(), digest_size=4).digest()) >> 1


@dataclass
class PaperModel:
    """`noise` shifts every log probability a little, as another kernel would."""

    vocabulary: Vocabulary

    def prompt_ids(self, request: dict[str, Any]) -> list[int]:
        """Those of the messages and tools; a grammar is a part of them, so that its answer is
        another prompt's."""
        asked = [
            request["messages"],
            request.get("tools"),
            *([g] if (g := grammar(request)) else []),
        ]
        text = json.dumps(asked, sort_keys=True)
        return [*self.vocabulary.encode(text), self.vocabulary.id(START)]

    def answer(
        self, prompt: Sequence[int], tools: Sequence[dict[str, Any]], masked: str = ""
    ) -> list[int]:
        """Prose, a fenced diff, or a Hermes call of the first tool; then END. `masked` by a grammar
        it is a call, or a JSON object."""
        seed = _hash(prompt)
        number = seed % 997
        if masked == "json":
            text = json.dumps({"answer": f"Item {number} is missing.", "sure": bool(seed % 2)})
        elif tools and (masked or seed % 3):
            name = tools[0]["function"]["name"]
            required = (tools[0]["function"].get("parameters") or {}).get("required") or []
            arguments = dict.fromkeys(required, f"src/file_{number}.py")
            call = json.dumps({"name": name, "arguments": arguments})
            text = f"Let me look at it ({number}).\n<tool_call>\n{call}\n</tool_call>"
        elif seed % 2:
            text = f"```diff\n--- a/f{number}.py\n+++ b/f{number}.py\n@@ -1 +1 @@\n-a\n+b\n```\n"
        else:
            text = f"The test fails because item {number} is missing; adding it should do.\n" * 2
        return [*self.vocabulary.encode(text), self.vocabulary.id(END)]

    def distribution(
        self, prompt: Sequence[int], answer: Sequence[int], place: int
    ) -> dict[int, float]:
        """Log probabilities of six tokens at one output position, best first."""
        wanted = answer[min(place, len(answer) - 1)]
        seed = _hash([*prompt[-8:], place])
        gap = 0.05 + 7.0 * (seed % 101) / 101
        others = [i for i in map(self.vocabulary.id, ALTERNATIVES) if i != wanted][:5]
        logits = [0.0, *(-gap - 0.5 * k for k in range(len(others)))]
        total = math.log(sum(math.exp(x) for x in logits) + 1e-3)
        return {t: x - total for t, x in zip([wanted, *others], logits, strict=True)}

    def drawn(
        self,
        prompt: Sequence[int],
        answer: Sequence[int],
        temperature: float,
        most: int,
        chance: random.Random,
    ) -> list[int]:
        """Tokens drawn from the distribution at a temperature, up to END, no more than `most`."""
        ids: list[int] = []
        end = self.vocabulary.id(END)
        while len(ids) < most and end not in ids[-1:]:
            listed = self.distribution(prompt, answer, len(ids))
            weights = [math.exp(p / temperature) for p in listed.values()]
            ids += chance.choices(list(listed), weights)
        return ids

    def listed(
        self, prompt: Sequence[int], answer: Sequence[int], place: int, width: int
    ) -> dict[int, float]:
        """The `width` best tokens: beyond the six, pieces that share what is left."""
        found = self.distribution(prompt, answer, place)
        left = max(1 - sum(map(math.exp, found.values())), 1e-6) / (2 * max(width, 1))
        others = (self.vocabulary.id(f"~{n}") for n in range(width - len(found)))
        return found | dict.fromkeys(others, math.log(left))


def grammar(request: dict[str, Any]) -> str:
    """``call`` where one must be made, ``json`` where a format is asked for; else empty."""
    if request.get("response_format"):
        return "json"
    return "call" if request.get("tool_choice") == "required" else ""


def split(ids: Sequence[int], start: int) -> tuple[list[int], list[int]]:
    """(prompt, output) of the ids of a scoring request."""
    place = len(ids) - 1 - list(reversed(ids)).index(start)
    return list(ids[: place + 1]), list(ids[place + 1 :])


def _hash(values: Sequence[int]) -> int:
    text = ",".join(map(str, values)).encode()
    return int.from_bytes(hashlib.blake2b(text, digest_size=6).digest(), "big")
