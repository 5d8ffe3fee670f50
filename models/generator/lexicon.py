"""Words, names and identifiers that sessions are made of.

Everything is drawn from one `random.Random`, so a seed fixes the text. Identifiers are
composed of several words and ids of random digits: they cannot be guessed, only copied.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from pathlib import Path

WORDS = Path(__file__).with_name("words")


def words(name: str) -> list[str]:
    """The words of `words/<name>.txt`, in the order of the file."""
    return (WORDS / f"{name}.txt").read_text(encoding="utf-8").split()


NOUNS = words("nouns")
VERBS = words("verbs")
ADJECTIVES = words("adjectives")
ADVERBS = words("adverbs")
PEOPLE = words("people")
SYMBOLS = "→ ✓ … é ß 日本 🚀 µs °C — “ok” naïve ½".split()  # noqa: SIM905

EXTENSION = {"python": "py", "typescript": "ts", "go": "go", "shell": "sh", "yaml": "yaml"}


class Lexicon:
    """Draws words and ids from a seeded source."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng

    def one(self, options: Sequence[str]) -> str:
        return options[int(self.rng.random() * len(options))]

    def noun(self) -> str:
        return self.one(NOUNS)

    def verb(self) -> str:
        return self.one(VERBS)

    def adjective(self) -> str:
        return self.one(ADJECTIVES)

    def adverb(self) -> str:
        return self.one(ADVERBS)

    def person(self) -> str:
        return self.one(PEOPLE)

    def chance(self, p: float) -> bool:
        return self.rng.random() < p

    def number(self, low: int = 1, high: int = 999) -> int:
        return self.rng.randint(low, high)

    def snake(self) -> str:
        """`parse_header`, `retry_pending_batch`."""
        parts = [self.verb()]
        if self.chance(0.35):
            parts.append(self.adjective())
        parts.append(self.noun())
        return "_".join(parts)

    def variable(self) -> str:
        return f"{self.adjective()}_{self.noun()}" if self.chance(0.5) else self.noun()

    def camel(self) -> str:
        first, *rest = self.snake().split("_")
        return first + "".join(p.capitalize() for p in rest)

    def hexid(self, length: int) -> str:
        return "".join(self.one("0123456789abcdef") for _ in range(length))

    def ticket(self) -> str:
        """`OPS-4812`."""
        return (
            f"{self.one(['OPS', 'WEB', 'CORE', 'PAY', 'DATA', 'INFRA'])}-{self.number(100, 9999)}"
        )

    def version(self) -> str:
        return f"{self.number(0, 9)}.{self.number(0, 30)}.{self.number(0, 30)}"

    def path(self, language: str) -> str:
        """`src/billing/retry_policy.py`."""
        top = self.one(["src", "lib", "app", "internal", "pkg", "services", "tools"])
        middle = "/" + self.noun() if self.chance(0.7) else ""
        stem = f"{self.noun()}_{self.noun()}" if self.chance(0.6) else self.noun()
        return f"{top}{middle}/{stem}.{EXTENSION[language]}"
