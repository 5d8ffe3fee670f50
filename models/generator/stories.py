"""The stories a session is made of: what is asked, done, found and told."""

from __future__ import annotations

import os.path

from models.generator import prose, results
from models.generator.code import LANGUAGES, SourceFile, phrase, source_file
from models.generator.diff import change
from models.generator.lexicon import Lexicon
from models.generator.session import Session, Story

CODE = ("python", "typescript", "go")


def file_of(lex: Lexicon, languages: tuple[str, ...] = LANGUAGES, functions: int | None = None) -> SourceFile:
    language = lex.one(languages)
    count = functions or (lex.number(10, 24) if lex.chance(0.02) else lex.number(1, 4))
    return source_file(lex, language, lex.path(language), count)


def test_path(lex: Lexicon, file: SourceFile) -> str:
    stem, ext = os.path.splitext(os.path.basename(file.path))
    return {".py": f"tests/test_{stem}.py", ".ts": f"tests/{stem}.test.ts", ".go": f"tests/{stem}_test.go"}[ext]


def repair(s: Session) -> None:
    """Ticket or request → read → change → tests (may fail once) → summary."""
    lex, style = s.lex, s.style
    file = file_of(lex, CODE)
    test = test_path(lex, file)
    key = lex.ticket()
    fix = change(lex, file)
    s.user(
        lex.one(
            [
                f"{key}: `{file.symbol}` in {file.path} fails, {phrase(lex)}. Change `{fix.old.strip()}` to `{fix.new.strip()}` and run {test}.",
                f"Please fix {file.path} ({key}). {prose.aside(lex)} Line {fix.line} must read `{fix.new.strip()}`. The tests are in {test}",
                f"In {file.path}, line {fix.line} should be\n```{file.language}\n{fix.new.strip()}\n```\n{prose.asides(lex, 2)}\nThen run {test}. Ticket {key}.",
            ]
        )
    )
    opening = lex.one([f"I'll read {file.path} first.", f"Let me look at `{file.symbol}`.", "Reading the file.", ""])
    s.act(prose.joined(opening, prose.asides(lex, 1)), f"to change {file.path} for {key}", [(style.read(file.path), results.numbered(file.text))], determined=True)
    s.act(
        prose.joined(lex.one([f"Line {fix.line} is the cause:", "Now the change.", f"`{file.symbol}` needs one edit."]), prose.asides(lex, 1)),
        f"line {fix.line} of {file.path} to become `{fix.new.strip()}`",
        [(style.edit(file.path, fix.old, fix.new, fix.diff), lex.one(["ok", f"{file.path} updated", "Applied 1 hunk."]))],
        determined=True,
    )
    if lex.chance(0.4):
        s.act(lex.one(["Running the tests.", f"Now {test}.", ""]), f"to run {test}", [(style.test(test), results.test_failure(lex, file, test, fix.line))], determined=True)
        again = change(lex, SourceFile(file.path, file.language, fix.text, file.symbol))
        start = max(1, fix.line - 5)
        part = "\n".join(fix.text.split("\n")[start - 1 : fix.line + 5])
        s.act(
            prose.joined(lex.one([f"Still failing at {file.path}:{fix.line}.", "My change was wrong.", "Hmm, that did not work."]), prose.aside(lex)),
            f"the trace at {file.path}:{fix.line}",
            [(style.read(file.path, start, fix.line + 5), results.numbered(part, start))],
            determined=False,
        )
        s.act(prose.aside(lex), f"`{again.old.strip()}` instead", [(style.edit(again.path, again.old, again.new, again.diff), "ok")], determined=False)
    s.act(lex.one(["Running the tests.", f"Now {test}.", "Check it:"]), f"to run {test}", [(style.test(test), results.test_pass(lex))], determined=True)
    if lex.chance(0.5):
        owner = lex.person()
        s.user(lex.one([f"Good. Report {key} at {file.path} line {fix.line}, owner {owner}.", f"Thanks! Now file it: {key}, {file.path}:{fix.line}, for {owner}"]))
        s.act("", f"to report {key}", [(style.report(key, file.path, fix.line, owner), "accepted")], determined=True)
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


def explore(s: Session) -> None:
    """List → grep → read the hit; a guess may be wrong first."""
    lex, style = s.lex, s.style
    file = file_of(lex, CODE)
    folder = os.path.dirname(file.path)
    s.user(lex.one([f"Where is `{file.symbol}` defined? Look in {folder}.", f"Find {file.symbol} under {folder} and explain it. {prose.aside(lex)}", f"List {folder}, then search for {file.symbol} there."]))
    if lex.chance(0.5):
        s.act(lex.one(["", f"I'll list {folder}.", prose.aside(lex)]), f"what is in {folder}", [(style.list(folder), results.listing(lex, [file.path]))], determined=False)
    s.act(prose.joined(lex.one(["Searching.", f"Let me search for {file.symbol}.", ""]), prose.asides(lex, 1)), f"to find {file.symbol}", [(style.grep(file.symbol, folder), results.grep_hits(lex, file))], determined=True)
    if lex.chance(0.25):
        wrong = file.path.replace(".", f"_{lex.noun()}.")
        s.act(lex.one(["Opening it.", ""]), "to open the hit", [(style.read(wrong), f"error: {wrong}: no such file. Did you mean {file.path}?")], determined=False)
    s.act(lex.one(["It is defined here:", f"Reading {file.path}.", "Wrong path; the right one:"]), f"to read {file.path}", [(style.read(file.path), results.numbered(file.text))], determined=True)
    snippet = next(part for part in file.text.split("\n\n") if file.symbol in part)
    s.reply(f"`{file.symbol}` is in `{file.path}`:\n```{file.language}\n{snippet.strip()}\n```\n{prose.asides(lex, 3)}", f"to explain {file.symbol}")


def lookup(s: Session) -> None:
    """Ticket → file → structured report."""
    lex, style = s.lex, s.style
    file = file_of(lex, CODE, 1)
    key, owner, line = lex.ticket(), lex.person(), lex.number(2, 80)
    s.user(lex.one([f"Look up {key} and tell me about it.", f"What is {key}? {prose.aside(lex)}", f"Fetch ticket {key}, then read the file it names."]))
    s.act(lex.one(["", f"Fetching {key}."]), f"ticket {key}", [(style.ticket(key), results.ticket(lex, key, file))], determined=True)
    s.act(lex.one([f"It names {file.path}.", "Reading the file of the ticket."]), f"to read {file.path}", [(style.read(file.path), results.numbered(file.text))], determined=True)
    s.reply(prose.joined(f"{key} is about `{file.symbol}` in {file.path}.", prose.asides(lex, 3)), f"to tell about {key}")
    s.user(f"File a report for {key}: {file.path} line {line}, owner {owner}.")
    s.act(prose.asides(lex, 1), f"to report {key}", [(style.report(key, file.path, line, owner), lex.one(["accepted", "filed", "ok"]))], determined=True)
    s.reply(lex.one([f"Filed {key} for {owner}.", f"Done. {prose.aside(lex)}"]), "to close")


def history(s: Session) -> None:
    """Git log → show a hash that only the log gives."""
    lex, style = s.lex, s.style
    file = file_of(lex, CODE, 1)
    hashes = [lex.hexid(8) for _ in range(lex.number(2, 5))]
    picked = lex.number(0, len(hashes) - 1)
    order = ["first", "second", "third", "fourth", "fifth"][picked]
    s.user(lex.one([f"Show the {order} commit of the log of {file.path}.", f"git log {file.path}, then show the {order} one"]))
    s.act(lex.one(["", "The log first."]), f"the log of {file.path}", [(style.git("log", "--oneline", file.path), results.git_log(lex, hashes))], determined=True)
    diff = change(lex, file).diff
    s.act(lex.one(["", f"The {order} is {hashes[picked]}."]), f"commit {hashes[picked]}", [(style.git("show", hashes[picked]), f"commit {hashes[picked]}\nAuthor: {lex.person()}\n\n    {phrase(lex)}\n\n{diff}")], determined=False)
    s.reply(f"Commit {hashes[picked]} changes {file.path}:\n```diff\n{diff}\n```\n{prose.asides(lex, 2)}", "to show it")


def author(s: Session) -> None:
    """A new file of free code."""
    lex, style = s.lex, s.style
    file = file_of(lex, LANGUAGES, lex.number(1, 2))
    s.user(lex.one([f"Create {file.path} with `{file.symbol}`.", f"Write a {file.language} file {file.path} that has {file.symbol}. {prose.asides(lex, 2)}"]))
    s.act(prose.joined(lex.one(["Creating it.", f"I'll write {file.path}.", ""]), prose.asides(lex, 1)), f"to write {file.path}", [(style.write(file.path, file.text), lex.one(["written", f"{len(file.text)} bytes", "ok"]))], determined=False)
    command = {"python": f"python {file.path}", "shell": f"sh {file.path}", "yaml": f"yamllint {file.path}", "go": f"go vet {file.path}", "typescript": f"npx tsc {file.path}"}[file.language]
    s.act(lex.one(["", "Checking it."]), f"to check {file.path}", [(style.shell(command), lex.one(["", "ok", f"warning: {phrase(lex)}"]))], determined=False)
    s.reply(lex.one([f"{file.path} is in place. {prose.asides(lex, 3)}", f"Created `{file.symbol}`. {prose.asides(lex, 2)}\n{prose.bullets(lex, lex.number(1, 3))}"]), "to finish")


def compare(s: Session) -> None:
    """Two reads at once."""
    lex, style = s.lex, s.style
    one, two = file_of(lex, LANGUAGES, 1), file_of(lex, LANGUAGES, 1)
    s.user(lex.one([f"Compare {one.path} and {two.path}.", f"Read both {one.path} and {two.path}. {prose.aside(lex)}", f"Open {one.path} together with {two.path}"]))
    pair = [(style.read(f.path), results.numbered(f.text)) for f in (one, two)]
    s.act(lex.one(["", "Reading both.", prose.aside(lex)]), f"{one.path} and {two.path}", pair, determined=True)
    s.reply(f"`{one.symbol}` is in {one.path}, `{two.symbol}` in {two.path}. {prose.asides(lex, 4)}", "to compare")


def question(s: Session) -> None:
    """No tools: prose, code or a diff in a fence."""
    lex = s.lex
    file = file_of(lex, LANGUAGES, 1)
    asked = lex.number(0, 2)
    if asked == 0:
        s.user(f"Show me a {file.language} example with `{file.symbol}`. {prose.asides(lex, 1)}")
        s.reply(f"{prose.aside(lex)}\n\n```{file.language}\n{file.text.rstrip()}\n```\n{prose.asides(lex, 2)}", "an example")
    elif asked == 1:
        made = change(lex, file)
        s.user(f"```{file.language}\n{file.text.rstrip()}\n```\nThis is {file.path}. Make line {made.line} read `{made.new.strip()}` and give me the diff.")
        s.reply(f"{lex.one(['Here it is:', 'The diff:', prose.aside(lex)])}\n```diff\n{made.diff}\n```\n{prose.asides(lex, 1)}", "a diff")
    else:
        s.user(f"Why does the {lex.noun()} {lex.verb()} the {lex.adjective()} {lex.noun()}? {prose.aside(lex)}")
        s.reply(f"{prose.aside(lex)} {prose.asides(lex, 4)}\n\n{prose.bullets(lex, lex.number(2, 4))}\n\n{prose.aside(lex)}", "a question")


def configure(s: Session) -> None:
    """YAML and shell."""
    lex, style = s.lex, s.style
    file = file_of(lex, ("yaml", "shell"))
    made = change(lex, file)
    s.user(lex.one([f"In {file.path} replace `{made.old.strip()}` by `{made.new.strip()}`, then show git status.", f"Update {file.path}: line {made.line} becomes `{made.new.strip()}`. {prose.asides(lex, 1)}"]))
    s.act(lex.one(["", f"Reading {file.path}."]), f"to edit {file.path}", [(style.read(file.path), results.numbered(file.text))], determined=True)
    s.act(prose.asides(lex, 1), f"line {made.line}", [(style.edit(file.path, made.old, made.new, made.diff), "ok")], determined=True)
    s.act("", "git status", [(style.git("status", "--short"), f" M {file.path}")], determined=False)
    s.reply(prose.joined(f"{file.path} now has `{made.new.strip()}`.", prose.asides(lex, 3)), "to finish")


STORIES: tuple[Story, ...] = (
    repair, repair, explore, explore, lookup, lookup, history, author, compare, compare, question, configure,
)  # fmt: skip
