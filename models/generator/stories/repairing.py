"""A change asked for, made, tested (it may fail once) and reported."""

# ruff: noqa: E501  one phrasing per line reads best, however long it is

from __future__ import annotations

from models.generator import prose, results
from models.generator.code import SourceFile, phrase
from models.generator.diff import Change, change
from models.generator.session import Session
from models.generator.stories.subject import CODE, file_of, test_path


def repair(s: Session) -> None:
    """Ticket or request → read → change → tests (may fail once) → summary."""
    lex = s.lex
    file = file_of(lex, CODE)
    test = test_path(lex, file)
    key = lex.ticket()
    fix = change(lex, file)
    _ask(s, key, file, fix, test)
    _change(s, key, file, fix)
    if lex.chance(0.4):
        _try_again(s, file, fix, test)
    s.act(
        lex.one(["Running the tests.", f"Now {test}.", "Check it:"]),
        f"to run {test}",
        [(s.style.test(test), results.test_pass(lex))],
        determined=True,
    )
    if lex.chance(0.5):
        _report(s, key, file, fix)
    s.reply(
        lex.one(
            [
                f"Done: {file.path} line {fix.line} is changed and {test} passes.\n\n```diff\n{fix.diff}\n```\n{prose.asides(lex, 2)}",
                f"{key} is fixed. {prose.asides(lex, 3)}\n{prose.bullets(lex, lex.number(1, 3))}",
                f"Fixed `{file.symbol}` in `{file.path}`. {prose.asides(lex, 2)}",
            ]
        ),
        f"to sum up {key}",
    )


def _ask(s: Session, key: str, file: SourceFile, fix: Change, test: str) -> None:
    lex = s.lex
    s.user(
        lex.one(
            [
                f"{key}: `{file.symbol}` in {file.path} fails, {phrase(lex)}. Change `{fix.old.strip()}` to `{fix.new.strip()}` and run {test}.",
                f"Please fix {file.path} ({key}). {prose.aside(lex)} Line {fix.line} must read `{fix.new.strip()}`. The tests are in {test}",
                f"In {file.path}, line {fix.line} should be\n```{file.language}\n{fix.new.strip()}\n```\n{prose.asides(lex, 2)}\nThen run {test}. Ticket {key}.",
            ]
        )
    )


def _change(s: Session, key: str, file: SourceFile, fix: Change) -> None:
    lex, style = s.lex, s.style
    opening = lex.one(
        [
            f"I'll read {file.path} first.",
            f"Let me look at `{file.symbol}`.",
            "Reading the file.",
            "",
        ]
    )
    s.act(
        prose.joined(opening, prose.asides(lex, 1)),
        f"to change {file.path} for {key}",
        [(style.read(file.path), results.numbered(file.text))],
        determined=True,
    )
    cause = [
        f"Line {fix.line} is the cause:",
        "Now the change.",
        f"`{file.symbol}` needs one edit.",
    ]
    s.act(
        prose.joined(lex.one(cause), prose.asides(lex, 1)),
        f"line {fix.line} of {file.path} to become `{fix.new.strip()}`",
        [
            (
                style.edit(file.path, fix.old, fix.new, fix.diff),
                lex.one(["ok", f"{file.path} updated", "Applied 1 hunk."]),
            )
        ],
        determined=not style.edits_by_diff,
    )


def _try_again(s: Session, file: SourceFile, fix: Change, test: str) -> None:
    """The tests fail, the trace is read, and another change is made."""
    lex, style = s.lex, s.style
    s.act(
        lex.one(["Running the tests.", f"Now {test}.", ""]),
        f"to run {test}",
        [(style.test(test), results.test_failure(lex, file, test, fix.line))],
        determined=True,
    )
    again = change(lex, SourceFile(file.path, file.language, fix.text, file.symbol))
    start = max(1, fix.line - 5)
    part = "\n".join(fix.text.split("\n")[start - 1 : fix.line + 5])
    failing = [
        f"Still failing at {file.path}:{fix.line}.",
        "My change was wrong.",
        "Hmm, that did not work.",
    ]
    s.act(
        prose.joined(lex.one(failing), prose.aside(lex)),
        f"the trace at {file.path}:{fix.line}",
        [(style.read(file.path, start, fix.line + 5), results.numbered(part, start))],
        determined=False,
    )
    s.act(
        prose.aside(lex),
        f"`{again.old.strip()}` instead",
        [(style.edit(again.path, again.old, again.new, again.diff), "ok")],
        determined=False,
    )


def _report(s: Session, key: str, file: SourceFile, fix: Change) -> None:
    lex = s.lex
    owner = lex.person()
    s.user(
        lex.one(
            [
                f"Good. Report {key} at {file.path} line {fix.line}, owner {owner}.",
                f"Thanks! Now file it: {key}, {file.path}:{fix.line}, for {owner}",
            ]
        )
    )
    s.act(
        "",
        f"to report {key}",
        [(s.style.report(key, file.path, fix.line, owner), "accepted")],
        determined=not s.style.reports_freely,
    )
