"""Conversations of a coding agent, made up, with lengths as they are in recorded ones.

Recorded sessions have about 300 characters of text in an answer, 300 in the arguments of a call,
and results from a line to some pages; the middle one has 900 characters, the mean 2,000.
"""

import random
from dataclasses import dataclass, field
from typing import Any

WORDS = (
    "the test fails because this parser drops a token when input ends early so we read file "
    "again then patch return value of line 42 and run pytest -q to see whether it passes now"
)
CODE = (
    "def parse(self, text: str) -> list[int]:", "    return [int(x) for x in text.split()]",
    "for row in rows:", "    if row.status != 'done':", "        raise ValueError(f\"{row}\")",
    "import os, sys", "-    value = None", "+    value = 0", "",
)  # fmt: skip
TOOLS = ("bash", "read_file", "edit_file", "grep")


@dataclass(slots=True)
class Asked:
    """A tool call and what came back."""

    id: str
    tool: str
    arguments: dict[str, Any]
    result: str


@dataclass(slots=True)
class Exchange:
    """One response of the model; before it, what the user said, if anything.

    `prompt` is about how many tokens were sent for it, `cached` of them without what is new.
    """

    user: str | None
    text: str
    thought: str
    calls: list[Asked] = field(default_factory=list)
    prompt: int = 0
    cached: int = 0


@dataclass(slots=True)
class Conversation:
    """`system` is the prompt of the agent."""

    id: str
    system: str
    exchanges: list[Exchange]


def conversations(seed: int, number: int, responses: int, length: int = 1) -> list[Conversation]:
    """`number` conversations of `responses` responses each, their texts `length` times as long."""
    chance = random.Random(seed)
    return [_conversation(chance, f"{seed}-{n}", responses, length) for n in range(number)]


def _conversation(chance: random.Random, name: str, responses: int, length: int) -> Conversation:
    exchanges = []
    for place in range(responses):
        begins = place % 12 == 0
        ends = place % 12 == 11 or place == responses - 1
        exchanges.append(
            Exchange(
                user=_prose(chance, 400 * length) if begins else None,
                text=_prose(chance, (600 if ends else 200) * length),
                thought=_prose(chance, 300 * length) if chance.random() < 0.5 else "",
                calls=[] if ends else [_asked(chance, f"call_{name}_{place}", length)],
            )
        )
    talk = Conversation(name, _prose(chance, 6_000), exchanges)
    _count(talk)
    return talk


def _count(talk: Conversation) -> None:
    """What was sent for every response, at 4 characters per token."""
    size = cached = len(talk.system)
    for exchange in talk.exchanges:
        size += len(exchange.user or "")
        exchange.prompt, exchange.cached = size // 4, cached // 4
        cached = size
        asked = sum(len(str(call.arguments)) + len(call.result) for call in exchange.calls)
        size += len(exchange.text) + asked


def _asked(chance: random.Random, name: str, length: int) -> Asked:
    tool = chance.choice(TOOLS)
    shown = _code(chance, min(60_000, length * int(chance.lognormvariate(6.8, 1.25))))
    arguments: dict[str, Any] = {"path": f"src/module_{chance.randrange(99)}.py"}
    if tool == "bash":
        arguments = {"command": f"cd src && {_prose(chance, 80)}", "timeout": 120}
    elif tool == "edit_file":
        arguments |= {
            "old_string": _code(chance, 300 * length),
            "new_string": _code(chance, 400 * length),
        }
    elif tool == "grep":
        arguments |= {"pattern": _prose(chance, 20), "max": 50}
    return Asked(name, tool, arguments, shown)


def _prose(chance: random.Random, length: int) -> str:
    size = int(length * chance.uniform(0.4, 1.6)) // 5 + 1
    return " ".join(chance.choices(WORDS.split(), k=size))


def _code(chance: random.Random, length: int) -> str:
    return "\n".join(chance.choices(CODE, k=length // 25 + 1))
