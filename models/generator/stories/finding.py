"""Things looked up: a definition, a ticket, a commit."""

# ruff: noqa: E501  one phrasing per line reads best, however long it is

from __future__ import annotations

import os.path

from models.generator import prose, results
from models.generator.code import phrase
from models.generator.diff import change
from models.generator.session import Session
from models.generator.stories.subject import CODE, file_of


def explore(s: Session) -> None:
    """List → grep → read the hit; a guess may be wrong first."""
    lex, style = s.lex, s.style
    file = file_of(lex, CODE)
    folder = os.path.dirname(file.path)
    s.user(
        lex.one(
            [
                f"Where is `{file.symbol}` defined? Look in {folder}.",
                f"Find {file.symbol} under {folder} and explain it. {prose.aside(lex)}",
                f"List {folder}, then search for {file.symbol} there.",
            ]
        )
    )
    listed = lex.chance(0.5)
    if listed:
        s.act(
            lex.one(["", f"I'll list {folder}.", prose.aside(lex)]),
            f"what is in {folder}",
            [(style.list(folder), results.listing(lex, [file.path]))],
            determined=False,
        )
    s.act(
        prose.joined(
            lex.one(["Searching.", f"Let me search for {file.symbol}.", ""]), prose.asides(lex, 1)
        ),
        f"to find {file.symbol}",
        [(style.grep(file.symbol, folder), results.grep_hits(lex, file))],
        determined=listed,
    )
    if lex.chance(0.25):
        wrong = file.path.replace(".", f"_{lex.noun()}.")
        s.act(
            lex.one(["Opening it.", ""]),
            "to open the hit",
            [(style.read(wrong), f"error: {wrong}: no such file. Did you mean {file.path}?")],
            determined=False,
        )
    s.act(
        lex.one(["It is defined here:", f"Reading {file.path}.", "Wrong path; the right one:"]),
        f"to read {file.path}",
        [(style.read(file.path), results.numbered(file.text))],
        determined=True,
    )
    snippet = next(part for part in file.text.split("\n\n") if file.symbol in part)
    s.reply(
        f"`{file.symbol}` is in `{file.path}`:\n```{file.language}\n{snippet.strip()}\n```\n{prose.asides(lex, 3)}",
        f"to explain {file.symbol}",
    )


def lookup(s: Session) -> None:
    """Ticket → file → structured report."""
    lex, style = s.lex, s.style
    file = file_of(lex, CODE, 1)
    key, owner, line = lex.ticket(), lex.person(), lex.number(2, 80)
    s.user(
        lex.one(
            [
                f"Look up {key} and tell me about it.",
                f"What is {key}? {prose.aside(lex)}",
                f"Fetch ticket {key}, then read the file it names.",
            ]
        )
    )
    s.act(
        lex.one(["", f"Fetching {key}."]),
        f"ticket {key}",
        [(style.ticket(key), results.ticket(lex, key, file))],
        determined=True,
    )
    s.act(
        lex.one([f"It names {file.path}.", "Reading the file of the ticket."]),
        f"to read {file.path}",
        [(style.read(file.path), results.numbered(file.text))],
        determined=True,
    )
    s.reply(
        prose.joined(f"{key} is about `{file.symbol}` in {file.path}.", prose.asides(lex, 3)),
        f"to tell about {key}",
    )
    s.user(f"File a report for {key}: {file.path} line {line}, owner {owner}.")
    s.act(
        prose.asides(lex, 1),
        f"to report {key}",
        [(style.report(key, file.path, line, owner), lex.one(["accepted", "filed", "ok"]))],
        determined=not style.reports_freely,
    )
    s.reply(lex.one([f"Filed {key} for {owner}.", f"Done. {prose.aside(lex)}"]), "to close")


def history(s: Session) -> None:
    """Git log → show a hash that only the log gives."""
    lex, style = s.lex, s.style
    file = file_of(lex, CODE, 1)
    hashes = [lex.hexid(8) for _ in range(lex.number(2, 5))]
    picked = lex.number(0, len(hashes) - 1)
    order = ["first", "second", "third", "fourth", "fifth"][picked]
    s.user(
        lex.one(
            [
                f"Show the {order} commit of the log of {file.path}.",
                f"git log {file.path}, then show the {order} one",
            ]
        )
    )
    s.act(
        lex.one(["", "The log first."]),
        f"the log of {file.path}",
        [(style.git("log", "--oneline", file.path), results.git_log(lex, hashes))],
        determined=True,
    )
    diff = change(lex, file).diff
    s.act(
        lex.one(["", f"The {order} is {hashes[picked]}."]),
        f"commit {hashes[picked]}",
        [
            (
                style.git("show", hashes[picked]),
                f"commit {hashes[picked]}\nAuthor: {lex.person()}\n\n    {phrase(lex)}\n\n{diff}",
            )
        ],
        determined=False,
    )
    s.reply(
        f"Commit {hashes[picked]} changes {file.path}:\n```diff\n{diff}\n```\n{prose.asides(lex, 2)}",
        "to show it",
    )
