"""What tools answer: listings, grep hits, test runs, stack traces, logs, tickets."""

# ruff: noqa: E501  one phrasing per line reads best, however long it is

from __future__ import annotations

import json

from models.generator.code import SourceFile, phrase
from models.generator.lexicon import Lexicon


def numbered(text: str, first: int = 1) -> str:
    """`cat -n` as coding agents show files."""
    lines = text.rstrip("\n").split("\n")
    return "\n".join(f"{i:>4}\t{line}" for i, line in enumerate(lines, first))


def listing(lex: Lexicon, paths: list[str]) -> str:
    rest = [lex.path(lex.one(["python", "go", "typescript"])) for _ in range(lex.number(1, 4))]
    return "\n".join(sorted([*paths, *rest]))


def grep_hits(lex: Lexicon, file: SourceFile) -> str:
    """`path:line:text` for the definition and a caller."""
    lines = file.text.split("\n")
    hits = [f"{file.path}:{i}:{t.strip()}" for i, t in enumerate(lines, 1) if file.symbol in t]
    other = lex.path(file.language)
    return "\n".join([*hits[:2], f"{other}:{lex.number(1, 300)}:    {file.symbol}({lex.noun()})"])


def test_failure(lex: Lexicon, file: SourceFile, test: str, line: int) -> str:
    """A failing run whose trace names `file.path:line`."""
    error = lex.one(["AssertionError", "TypeError", "KeyError", "ValueError", "IndexError"])
    name = f"test_{lex.snake()}"
    if file.language == "go":
        return f"--- FAIL: {name} (0.{lex.number(0, 99):02d}s)\n    {file.path}:{line}: got {lex.number()}, want {lex.number()}\nFAIL\t{lex.noun()}/{lex.noun()}\t{lex.number(0, 9)}.{lex.number(100, 999)}s"
    if file.language == "typescript":
        return f"FAIL {test}\n  ● {name}\n    {error}: {phrase(lex)}\n      at {file.symbol} ({file.path}:{line}:{lex.number(1, 80)})\nTests: 1 failed, {lex.number(1, 60)} passed"
    return f'Traceback (most recent call last):\n  File "{test}", line {lex.number(1, 200)}, in {name}\n    {lex.noun()} = {file.symbol}({lex.number()})\n  File "{file.path}", line {line}, in {file.symbol}\n{error}: {phrase(lex)}\n1 failed, {lex.number(1, 60)} passed in {lex.number(0, 9)}.{lex.number(10, 99)}s'


def test_pass(lex: Lexicon) -> str:
    return f"{lex.number(2, 99)} passed in {lex.number(0, 20)}.{lex.number(10, 99)}s"


def ticket(lex: Lexicon, key: str, file: SourceFile) -> str:
    body = {
        "id": key,
        "title": phrase(lex),
        "owner": lex.person(),
        "file": file.path,
        "function": file.symbol,
        "priority": lex.number(1, 5),
        "labels": [lex.noun() for _ in range(lex.number(1, 3))],
    }
    return json.dumps(body, ensure_ascii=lex.chance(0.2), indent=lex.rng.choice([None, 2]))


def git_log(lex: Lexicon, hashes: list[str]) -> str:
    return "\n".join(f"{h} {lex.person()} {phrase(lex)}" for h in hashes)
