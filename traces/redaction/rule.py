"""What a rule of redaction is."""

import re
from collections.abc import Callable
from dataclasses import dataclass

Accepts = Callable[[re.Match[str]], bool]


def _always(_: re.Match[str]) -> bool:
    return True


@dataclass(frozen=True, slots=True)
class Rule:
    """Matches of `pattern` that it `accepts` are of a `kind`; `group` of it is what is replaced.

    A text without any of `words` (lower case) cannot match.
    """

    kind: str
    pattern: re.Pattern[str]
    words: tuple[str, ...]
    group: int | str
    accepts: Accepts = _always


def rule(
    kind: str, words: str, pattern: str, flags: int = 0, *, accepts: Accepts = _always
) -> Rule:
    """A rule; the group called ``secret`` is replaced, else the last one, else the whole."""
    compiled = re.compile(pattern, flags)
    named = "secret" in compiled.groupindex
    group: int | str = "secret" if named else compiled.groups
    return Rule(kind, compiled, tuple(words.split()), group, accepts)
