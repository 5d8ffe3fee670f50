"""Typed comparison of JSON values, as RFC 8259 has them.

`1` is not `true` and not `"1"`; the order of keys and the spelling of numbers (`1`, `1.0`, `1e0`)
and of strings (`"é"`, `"\\u00e9"`) do not matter. `NaN` and `Infinity` are no JSON.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from typing import Any


class NotJson(ValueError):
    """The text is not one JSON value."""


def _refuse(constant: str) -> Any:
    raise NotJson(f"{constant} is not JSON")


def _number(text: str) -> Decimal:
    try:
        return Decimal(text)
    except InvalidOperation as error:  # an exponent beyond what Decimal holds
        raise NotJson(f"the number {text[:40]} is out of range") from error


MOST_DIGITS = 4300
"""Of an integer. Python's own limit, so that of clients written in it; RFC 8259 section 6 lets a
reader set one. Its conversion takes quadratic time."""


def _integer(text: str) -> Decimal:
    if len(text.lstrip("-")) > MOST_DIGITS:
        raise NotJson(f"an integer of {len(text.lstrip('-')):,} digits")
    return Decimal(text)


_DECODER = json.JSONDecoder(parse_float=_number, parse_int=_integer, parse_constant=_refuse)
SPACE = " \t\n\r"


def parse(text: str) -> Any:
    """The value with exact numbers (`Decimal`). Raises `NotJson` with what is wrong where."""
    value, end = _decode(text, 0)
    if text[end:].strip(SPACE):
        raise NotJson(f"after the value, at character {end}: {text[end : end + 20]!r}")
    return value


def is_json(text: str) -> bool:
    """Whether it is one whole JSON value."""
    try:
        parse(text)
    except NotJson:
        return False
    return True


def parse_plain(text: str) -> Any:
    """The value with Python's own numbers, for JSON Schema. Raises `NotJson`."""
    parse(text)
    return json.loads(text)


def end_of_value(text: str, start: int) -> int:
    """Where the value that begins at character `start` ends. Raises `NotJson`."""
    return _decode(text, start)[1]


def behind(text: str) -> str:
    """What stands behind a whole value at the start of the text; empty where nothing does, or where
    it does not start with one.
    """
    try:
        return text[_decode(text, 0)[1] :].strip(SPACE)
    except NotJson:
        return ""


def _decode(text: str, start: int) -> tuple[Any, int]:
    while start < len(text) and text[start] in SPACE:
        start += 1
    try:
        return _DECODER.raw_decode(text, start)
    except json.JSONDecodeError as error:
        raise NotJson(f"at character {error.pos}: {error.msg}") from error
    except RecursionError as error:
        raise NotJson("nested too deeply") from error


def equal(left: Any, right: Any) -> bool:
    """Whether two values from `parse` are the same JSON value."""
    return next(differences(left, right), None) is None


@dataclass(frozen=True, slots=True)
class Difference:
    """Two values that differ at a JSON Pointer (RFC 6901). A missing one is written ``absent``."""

    pointer: str
    left: str
    right: str


ABSENT = object()
SHOWN_DIGITS = 20


def differences(left: Any, right: Any, pointer: str = "") -> Iterator[Difference]:
    """Where two values differ, deepest places, in document order."""
    if isinstance(left, dict) and isinstance(right, dict):
        for key in [*left, *(k for k in right if k not in left)]:
            where = f"{pointer}/{str(key).replace('~', '~0').replace('/', '~1')}"
            yield from differences(left.get(key, ABSENT), right.get(key, ABSENT), where)
    elif isinstance(left, list) and isinstance(right, list):
        for index in range(max(len(left), len(right))):
            left_item = left[index] if index < len(left) else ABSENT
            right_item = right[index] if index < len(right) else ABSENT
            yield from differences(left_item, right_item, f"{pointer}/{index}")
    elif type(left) is not type(right) or left != right:
        yield Difference(pointer, _show(left), _show(right))


def _show(value: Any) -> str:
    if value is ABSENT:
        return "absent"
    text = str(value) if isinstance(value, Decimal) else json.dumps(_plain(value))
    return text if len(text) <= 200 else f"{text[:200]}…"


def _plain(value: Any) -> Any:
    if isinstance(value, Decimal):
        short = value.adjusted() < SHOWN_DIGITS  # 1e99999999 has too many to write them out
        return int(value) if short and value == value.to_integral_value() else float(value)
    if isinstance(value, dict):
        return {key: _plain(inner) for key, inner in value.items()}
    return [_plain(inner) for inner in value] if isinstance(value, list) else value


def repeats(text: str) -> str | None:
    """How the text repeats itself: one value several times, or a closing brace too many.

    ``{"a": 1}{"a": 1}`` and ``{"a": 1}}``. `None` where it does neither.
    """
    try:
        first, end = _decode(text, 0)
    except NotJson:
        return None
    rest = text[end:].strip(SPACE)
    if not rest:
        return None
    if set(rest) <= set("}" + SPACE):
        return "a closing brace too many"
    count = 1
    stop = len(text.rstrip(SPACE))
    while end < stop:
        try:
            value, end = _decode(text, end)
        except NotJson:
            return None
        if not equal(first, value):
            return None
        count += 1
    return f"one value {count} times"


def strings(value: Any) -> Iterator[str]:
    """All strings of a value, keys included, in document order."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for key, inner in value.items():
            yield key
            yield from strings(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from strings(inner)
