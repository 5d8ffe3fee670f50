"""How much work one validation may take: a stranger's schema can ask for any amount.

Twenty `anyOf` of two references each are 2^20 ways through a page of schema. Work is counted, in
keywords looked at, so that the same schema and value end alike on every machine.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

from jsonschema.exceptions import ValidationError

KEYWORDS = 200_000
"""Keywords looked at in one validation, some seconds; a page of arguments takes a few hundred."""

PATTERN = 100
"""What one search of a pattern counts for: it may take `patterns.LIMIT_S`."""

Keyword = Callable[[Any, Any, Any, Any], Iterator[ValidationError]]


class TooMuchWork(ValueError):
    """The validation takes more work than it may."""


@dataclass(slots=True)
class Work:
    """What is left of it."""

    keywords: int = KEYWORDS


_left: ContextVar[Work | None] = ContextVar("work", default=None)


@contextmanager
def limited_work() -> Iterator[None]:
    """One validation; TooMuchWork ends it."""
    token = _left.set(Work())
    try:
        yield
    finally:
        _left.reset(token)


def spend(keywords: int) -> None:
    """Take work off what is left. Raises TooMuchWork where none is."""
    work = _left.get()
    if work is not None:
        work.keywords -= keywords
        if work.keywords < 0:
            raise TooMuchWork(f"takes more than {KEYWORDS:,} steps to check")


def counted(keyword: Keyword) -> Keyword:
    """The keyword, each use of it counted."""

    def look(validator: Any, rule: Any, value: Any, schema: Any) -> Iterator[ValidationError]:
        spend(1)
        yield from keyword(validator, rule, value, schema) or ()

    return look
