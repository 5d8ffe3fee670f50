"""Two files compared, and questions answered without tools."""

# ruff: noqa: E501  one phrasing per line reads best, however long it is

from __future__ import annotations

from models.generator import prose, results
from models.generator.code import LANGUAGES
from models.generator.diff import change
from models.generator.session import Session
from models.generator.stories.subject import file_of


def compare(s: Session) -> None:
    """Two reads at once."""
    lex, style = s.lex, s.style
    one, two = file_of(lex, LANGUAGES, 1), file_of(lex, LANGUAGES, 1)
    s.user(
        lex.one(
            [
                f"Compare {one.path} and {two.path}.",
                f"Read both {one.path} and {two.path}. {prose.aside(lex)}",
                f"Open {one.path} together with {two.path}",
            ]
        )
    )
    pair = [(style.read(f.path), results.numbered(f.text)) for f in (one, two)]
    s.act(
        lex.one(["", "Reading both.", prose.aside(lex)]),
        f"{one.path} and {two.path}",
        pair,
        determined=True,
    )
    s.reply(
        f"`{one.symbol}` is in {one.path}, `{two.symbol}` in {two.path}. {prose.asides(lex, 4)}",
        "to compare",
    )


def question(s: Session) -> None:
    """No tools: prose, code or a diff in a fence."""
    lex = s.lex
    file = file_of(lex, LANGUAGES, 1)
    asked = lex.number(0, 2)
    if asked == 0:
        s.user(f"Show me a {file.language} example with `{file.symbol}`. {prose.asides(lex, 1)}")
        s.reply(
            f"{prose.aside(lex)}\n\n```{file.language}\n{file.text.rstrip()}\n```\n{prose.asides(lex, 2)}",
            "an example",
        )
    elif asked == 1:
        made = change(lex, file)
        s.user(
            f"```{file.language}\n{file.text.rstrip()}\n```\nThis is {file.path}. Make line {made.line} read `{made.new.strip()}` and give me the diff."
        )
        s.reply(
            f"{lex.one(['Here it is:', 'The diff:', prose.aside(lex)])}\n```diff\n{made.diff}\n```\n{prose.asides(lex, 1)}",
            "a diff",
        )
    else:
        s.user(
            f"Why does the {lex.noun()} {lex.verb()} the {lex.adjective()} {lex.noun()}? {prose.aside(lex)}"
        )
        s.reply(
            f"{prose.aside(lex)} {prose.asides(lex, 4)}\n\n{prose.bullets(lex, lex.number(2, 4))}\n\n{prose.aside(lex)}",
            "a question",
        )
