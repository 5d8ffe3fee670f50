"""Sentences of users and assistants: several phrasings, free words in every one."""

# ruff: noqa: E501  one phrasing per line reads best, however long it is

from __future__ import annotations

from models.generator.code import phrase
from models.generator.lexicon import SYMBOLS, Lexicon


def aside(lex: Lexicon) -> str:
    """A sentence of free words that nothing in the prompt determines."""
    return lex.one(
        [
            f"The {lex.adjective()} {lex.noun()} should {lex.verb()} the {lex.noun()} {lex.adverb()}.",
            f"Note that {phrase(lex)} when the {lex.noun()} is {lex.adjective()}.",
            f"I would rather {lex.verb()} the {lex.noun()} than {lex.verb()} a {lex.adjective()} {lex.noun()}.",
            f"{lex.person()} said the {lex.noun()} {lex.noun()} looks {lex.adjective()} {lex.one(SYMBOLS)}",
            f"About {lex.number()} of {lex.number(1000, 9999)} {lex.noun()} entries are {lex.adjective()}.",
            f"We {lex.verb()} each {lex.noun()}, then {lex.verb()} the {lex.adjective()} {lex.noun()}.",
        ]
    )


def asides(lex: Lexicon, most: int) -> str:
    return " ".join(aside(lex) for _ in range(lex.number(0, most)))


def joined(*parts: str) -> str:
    return " ".join(p for p in parts if p)


def thought(lex: Lexicon, about: str) -> str:
    return joined(
        lex.one(
            [
                f"The user wants {about}.",
                f"So this is about {about}.",
                f"Let me see: {about}.",
                f"First {about}.",
            ]
        ),
        asides(lex, 3),
    )


def bullets(lex: Lexicon, count: int) -> str:
    return "\n".join(f"- {aside(lex)}" for _ in range(count))
