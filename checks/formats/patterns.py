r"""Regular expressions of strangers: a recorded tool's `pattern`, a request's `regex`.

``^(a|aa)+$`` takes a backtracking matcher 1.6^n steps on n letters that do not match. So each
search has `LIMIT_S` seconds of CPU time; a pattern that needs more is not judged.
"""

from functools import lru_cache
from typing import Any

import regex

LIMIT_S = 0.25


class NotCheckable(ValueError):
    """The format cannot be checked here; the message says why."""


class PatternUnusable(ValueError):
    """The pattern cannot be read, or takes too long; the message says which, and shows it."""


def found_in(pattern: str, text: str) -> bool:
    """Whether it matches anywhere in `text`. Raises `PatternUnusable`."""
    return _match(pattern, text, "search")


def matches(pattern: str, text: str) -> bool:
    """Whether it matches all of `text`, ``.`` line ends too. Raises `PatternUnusable`."""
    return _match(pattern, text, "fullmatch")


def _match(pattern: str, text: str, how: str) -> bool:
    try:
        return getattr(_compiled(pattern, how), how)(text, timeout=LIMIT_S) is not None
    except TimeoutError as error:
        raise PatternUnusable(f"pattern {pattern[:80]!r} takes too long") from error
    except (regex.error, RecursionError, OverflowError, MemoryError) as error:
        raise PatternUnusable(f"pattern {pattern[:80]!r}: {error}") from error


@lru_cache(maxsize=1024)
def _compiled(pattern: str, how: str) -> Any:
    if not isinstance(pattern, str):
        raise PatternUnusable(f"a pattern is a string, not {type(pattern).__name__}")
    return regex.compile(pattern, regex.DOTALL if how == "fullmatch" else 0)
