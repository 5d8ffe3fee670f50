"""Files made anew, and configuration changed."""

# ruff: noqa: E501  one phrasing per line reads best, however long it is

from __future__ import annotations

from models.generator import prose, results
from models.generator.code import LANGUAGES, phrase
from models.generator.diff import change
from models.generator.session import Session
from models.generator.stories.subject import file_of


def author(s: Session) -> None:
    """A new file of free code."""
    lex, style = s.lex, s.style
    file = file_of(lex, LANGUAGES, lex.number(1, 2))
    s.user(
        lex.one(
            [
                f"Create {file.path} with `{file.symbol}`.",
                f"Write a {file.language} file {file.path} that has {file.symbol}. {prose.asides(lex, 2)}",
            ]
        )
    )
    s.act(
        prose.joined(
            lex.one(["Creating it.", f"I'll write {file.path}.", ""]), prose.asides(lex, 1)
        ),
        f"to write {file.path}",
        [
            (
                style.write(file.path, file.text),
                lex.one(["written", f"{len(file.text)} bytes", "ok"]),
            )
        ],
        determined=False,
    )
    command = {
        "python": f"python {file.path}",
        "shell": f"sh {file.path}",
        "yaml": f"yamllint {file.path}",
        "go": f"go vet {file.path}",
        "typescript": f"npx tsc {file.path}",
    }[file.language]
    s.act(
        lex.one(["", "Checking it."]),
        f"to check {file.path}",
        [(style.shell(command), lex.one(["", "ok", f"warning: {phrase(lex)}"]))],
        determined=False,
    )
    s.reply(
        lex.one(
            [
                f"{file.path} is in place. {prose.asides(lex, 3)}",
                f"Created `{file.symbol}`. {prose.asides(lex, 2)}\n{prose.bullets(lex, lex.number(1, 3))}",
            ]
        ),
        "to finish",
    )


def configure(s: Session) -> None:
    """YAML and shell."""
    lex, style = s.lex, s.style
    file = file_of(lex, ("yaml", "shell"))
    made = change(lex, file)
    s.user(
        lex.one(
            [
                f"In {file.path} replace `{made.old.strip()}` by `{made.new.strip()}`, then show git status.",
                f"Update {file.path}: line {made.line} becomes `{made.new.strip()}`. {prose.asides(lex, 1)}",
            ]
        )
    )
    s.act(
        lex.one(["", f"Reading {file.path}."]),
        f"to edit {file.path}",
        [(style.read(file.path), results.numbered(file.text))],
        determined=True,
    )
    s.act(
        prose.asides(lex, 1),
        f"line {made.line}",
        [(style.edit(file.path, made.old, made.new, made.diff), "ok")],
        determined=not style.edits_by_diff,
    )
    s.act("", "git status", [(style.git("status", "--short"), f" M {file.path}")], determined=False)
    s.reply(
        prose.joined(f"{file.path} now has `{made.new.strip()}`.", prose.asides(lex, 3)),
        "to finish",
    )
