"""Does an output follow a grammar? By xgrammar, vLLM's default engine for grammars.

A grammar is EBNF (`root ::= …`) or Lark (`start: …`), distinguished as vLLM does. The matcher reads
the finished text from its start; what broke the masks of a speculative step plays no part in it.
Under a hostile grammar every character takes longer than the one before it, so the text is read in
a thread of its own that is given up, and stops at its next character, after `LIMIT_S`.
"""

import importlib.util
import re
import threading
from functools import lru_cache
from typing import Any

from checks.formats.patterns import NotCheckable

LIMIT_S = 5.0
LONGEST = 20_000
"""Longer grammars are not compiled."""


def grammar_violation(grammar: Any, text: str) -> str | None:
    """How `text` violates the grammar, white space around it aside; `None` where it does not.

    Raises `NotCheckable` where xgrammar is not installed, does not take the grammar, or takes too
    long.
    """
    if not isinstance(grammar, str):
        raise NotCheckable(f"a grammar is a text, not {type(grammar).__name__}")
    if len(grammar) > LONGEST:
        raise NotCheckable(f"the grammar has {len(grammar)} characters")
    if importlib.util.find_spec("xgrammar") is None:
        raise NotCheckable("xgrammar, which comes with vLLM, is not installed")
    import xgrammar  # noqa: F401  (takes seconds, which are not the grammar's)

    found = _read(grammar, text)
    return found if found is None or text == text.strip() else _read(grammar, text.strip())


def _read(grammar: str, text: str) -> str | None:
    reading = _Reading(grammar, text)
    reading.start()
    reading.join(LIMIT_S)
    if reading.is_alive():
        reading.given_up = True
        raise NotCheckable("the grammar takes too long to match")
    if reading.unusable is not None:
        raise reading.unusable
    return reading.violation


class _Reading(threading.Thread):
    """Reads one text under one grammar; the matcher lets other threads run meanwhile."""

    def __init__(self, grammar: str, text: str) -> None:
        super().__init__(daemon=True)
        self.grammar, self.text = grammar, text
        self.given_up = False
        self.violation: str | None = None
        self.unusable: NotCheckable | None = None

    def run(self) -> None:
        import xgrammar

        try:
            matcher = xgrammar.GrammarMatcher(_compiled(self.grammar))
        except NotCheckable as error:
            self.unusable = error
            return
        for place, character in enumerate(self.text):
            if self.given_up:
                return
            if not matcher.accept_string(character.encode("utf-8", "surrogatepass")):
                rest = self.text[place : place + 20]
                self.violation = f"at character {place}: {rest!r} does not follow the grammar"
                return
        if not matcher.is_completed():
            self.violation = "ends before the grammar does"


@lru_cache(maxsize=64)
def _compiled(grammar: str) -> Any:
    import xgrammar

    compiler = xgrammar.GrammarCompiler(xgrammar.TokenizerInfo([]), max_threads=1)
    try:
        ebnf = _is_ebnf(grammar)
        return compiler.compile_grammar(grammar) if ebnf else compiler.compile_lark(grammar)
    except Exception as error:
        reason = (str(error).strip() or type(error).__name__).splitlines()[0]
        text = re.sub(r"^\[[\d:]+\] \S+ ", "", reason)[:200]
        raise NotCheckable(f"xgrammar does not take the grammar: {text}") from error


def _is_ebnf(grammar: str) -> bool:
    """vLLM 0.32 `v1/structured_output/utils.py`: a rule that is no comment has ``::=``."""
    return any("::=" in re.sub(r"(#|//).*$", "", line) for line in grammar.split("\n"))
