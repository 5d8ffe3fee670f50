"""How much work one validation may take: a stranger's schema can ask for any amount.

Twenty `anyOf` of two references each are 2^20 ways through a page of schema. Work is counted, in
keywords and values looked at, so that the same schema and value end alike on every machine.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

from jsonschema.exceptions import ValidationError

STEPS = 1_000_000
"""Steps of one validation, some seconds; a page of arguments takes some hundred."""

PATTERN = 500
"""What one search of a pattern counts for: it may take `patterns.LIMIT_S`."""

ERROR, WRITTEN = 10, 50
"""Steps that an error counts for, and characters of it that count as one more: it quotes the value
that is wrong."""

PARTS = 100_000
"""Most parts (keys, entries, values) of a schema."""

LONGEST_MIXED = 1_000
"""Most entries of a list in a schema that cannot be sorted: `jsonschema` compares every two."""

Keyword = Callable[[Any, Any, Any, Any], Iterator[ValidationError]]


class TooMuchWork(ValueError):
    """The validation takes more work than it may."""


@dataclass(slots=True)
class Work:
    """What is left of it."""

    steps: int = STEPS


_left: ContextVar[Work | None] = ContextVar("work", default=None)


@contextmanager
def limited_work() -> Iterator[None]:
    """One validation; TooMuchWork ends it."""
    token = _left.set(Work())
    try:
        yield
    finally:
        _left.reset(token)


def spend(steps: int) -> None:
    """Take work off what is left. Raises TooMuchWork where none is."""
    work = _left.get()
    if work is not None:
        work.steps -= steps
        if work.steps < 0:
            raise TooMuchWork(f"takes more than {STEPS:,} steps to check")


def parts(value: Any) -> int:
    """Keys, entries and values of a JSON value, itself among them."""
    found, left = 0, [value]
    while left:
        one = left.pop()
        found += 1
        if isinstance(one, dict):
            found += len(one)
            left.extend(one.values())
        elif isinstance(one, list):
            left.extend(one)
    return found


def too_large(schema: Any) -> str | None:
    """Why a schema is not even read, where that is so."""
    if (size := parts(schema)) > PARTS:
        return f"the schema has {size:,} parts, and may have {PARTS:,}"
    left = [schema]
    while left:
        one = left.pop()
        if isinstance(one, list) and len(one) > LONGEST_MIXED and not _can_be_sorted(one):
            return f"the schema has a list of {len(one):,} entries of several types, or of objects"
        left.extend(one.values() if isinstance(one, dict) else one if isinstance(one, list) else ())
    return None


def _can_be_sorted(entries: list[Any]) -> bool:
    return len({type(entry) for entry in entries}) == 1 and not isinstance(entries[0], dict | list)


def visits(legacy: bool) -> Callable[[Any], Any]:
    """The keywords of a schema that apply, each visit counted; where they are `legacy`, ``$ref``
    stands alone."""

    def applicable(schema: Any) -> Any:
        spend(1 + len(schema))
        ref = schema.get("$ref") if legacy else None
        return schema.items() if ref is None else [("$ref", ref)]

    return applicable


def _of_list(rule: Any, value: Any) -> int:
    return len(rule) if isinstance(rule, list | dict) else 0


def _equality(rule: Any, value: Any) -> int:
    return parts(rule) if isinstance(value, list | dict) else _of_list(rule, value)


def _every_two(rule: Any, value: Any) -> int:
    return len(value) ** 2 // 100 if isinstance(value, list | dict) else 0


COSTS: dict[str, Callable[[Any, Any], int]] = {
    **dict.fromkeys(("required", "properties", "dependentRequired", "type"), _of_list),
    **dict.fromkeys(("dependentSchemas", "dependencies", "disallow"), _of_list),
    **dict.fromkeys(("enum", "const"), _equality),
    **dict.fromkeys(("unevaluatedItems", "unevaluatedProperties"), _every_two),
    "uniqueItems": lambda rule, value: parts(value),
}
"""What keywords look at beside the schemas that they apply."""


def counted(name: str, keyword: Keyword) -> Keyword:
    """The keyword, each use of it counted, and each error that it writes."""
    cost = COSTS.get(name)

    def look(validator: Any, rule: Any, value: Any, schema: Any) -> Iterator[ValidationError]:
        spend(1 if cost is None else 1 + cost(rule, value))
        for error in keyword(validator, rule, value, schema) or ():
            spend(ERROR + len(error.message) // WRITTEN)
            yield error

    return look
