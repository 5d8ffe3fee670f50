"""One-line edits of a source file and their unified diffs."""

from __future__ import annotations

import difflib
from dataclasses import dataclass

from models.generator.code import SourceFile
from models.generator.lexicon import Lexicon


@dataclass(frozen=True, slots=True)
class Change:
    """`old` → `new`, one line each (without the newline), at 1-based line `line`."""

    path: str
    line: int
    old: str
    new: str
    diff: str
    text: str


def change(lex: Lexicon, file: SourceFile) -> Change:
    """A change of one non-empty line; the new line keeps most of the old one."""
    lines = file.text.split("\n")
    choices = [i for i, line in enumerate(lines) if len(line.strip()) > 8 and i > 2]
    at = lex.rng.choice(choices or [0])
    old = lines[at]
    new = edited(lex, old)
    after = [*lines[:at], new, *lines[at + 1 :]]
    diff = "\n".join(
        difflib.unified_diff(
            lines, after, f"a/{file.path}", f"b/{file.path}", n=lex.number(1, 2), lineterm=""
        )
    )
    return Change(file.path, at + 1, old, new, diff, "\n".join(after))


def edited(lex: Lexicon, line: str) -> str:
    """The line with a number changed, or a comment or a call added."""
    digits = "".join(c if c.isdigit() else " " for c in line).split()
    if digits and lex.chance(0.6):
        return line.replace(digits[-1], str(lex.number(1, 999)), 1)
    comment = "//" if ("{" in line or ";" in line) else "#"
    if lex.chance(0.4):
        return f"{line}  {comment} {lex.adjective()} {lex.noun()}"
    words = [w for w in "".join(c if c.isalpha() else " " for c in line).split() if len(w) > 3]
    if words:
        return line.replace(lex.one(words), lex.noun(), 1)
    return f"{line}  {comment} {lex.noun()}"
