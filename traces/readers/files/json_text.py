"""Parsing one row of JSON that may be damaged, and writing JSON the same way everywhere.

orjson reads nearly all; what it refuses gets one slow, lenient try: bytes that are no UTF-8, NULs,
lone surrogates, raw control characters in strings, and two values glued together on a line
(``}{``, left by an interrupted append).
"""

import json
from math import isfinite
from typing import Any

import orjson

MAX_DEPTH = 200
"""Nesting beyond this is refused: orjson writes at most 254 levels."""


OBJECT_BEGINS = frozenset("{ \t\r\n")
"""How the text of a JSON object can begin."""

TORN = "torn_after_value"

TOO_DEEP = '{"draftgate":"nesting too deep to keep"}'


class Unreadable(ValueError):
    """A row that is no JSON, named by a short reason."""


def parse_row(line: bytes) -> tuple[list[Any], str | None]:
    """The values of a row (more than one if glued), and what had to be repaired, if anything.

    Raises Unreadable, with the reason ``not_json`` or ``too_deep``.
    """
    try:
        value = orjson.loads(line)
    except orjson.JSONDecodeError:
        return _parse_leniently(line)
    return [value], None


def _parse_leniently(line: bytes) -> tuple[list[Any], str | None]:
    repaired = []
    string = line.decode("utf-8", errors="replace")
    if "\ufffd" in string and b"\xef\xbf\xbd" not in line:
        repaired.append("invalid_utf8")
    if "\0" in string:
        repaired.append("nul_bytes")
        string = string.replace("\0", "")
    string = string.strip().lstrip("\ufeff")
    decoder = json.JSONDecoder(strict=False)
    values: list[Any] = []
    position = 0
    try:
        while position < len(string):
            value, end = decoder.raw_decode(string, position)
            values.append(value)
            position = end
            while position < len(string) and string[position] in " \t\r\n":
                position += 1
    except RecursionError as error:
        raise Unreadable("too_deep") from error
    except ValueError as error:
        if not values:
            raise Unreadable("not_json") from error
        repaired.append(TORN)
    if not values:
        raise Unreadable("not_json")
    if len(values) > 1:
        if not all(isinstance(value, dict | list) for value in values):
            raise Unreadable("not_json")
        repaired.append("glued_records")
    return [scrubbed(value) for value in values], ",".join(repaired) or "lenient"


def scrubbed(value: Any, depth: int = 0) -> Any:
    """`value` with lone surrogates replaced (they have no UTF-8), non-finite numbers as null, and
    integers of more than 64 bits as floats, as orjson reads them."""
    if depth > MAX_DEPTH:
        raise Unreadable("too_deep")
    if isinstance(value, str):
        return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if isinstance(value, dict):
        return {scrubbed(k): scrubbed(v, depth + 1) for k, v in value.items()}
    if isinstance(value, list):
        return [scrubbed(item, depth + 1) for item in value]
    if isinstance(value, int) and not -(2**63) <= value < 2**64:
        value = float(value) if abs(value) < 10**308 else None
    if isinstance(value, float) and not isfinite(value):
        return None
    return value


def dump(value: Any) -> str:
    """Compact JSON; `TOO_DEEP` in place of a value nested deeper than can be written."""
    try:
        return orjson.dumps(value).decode()
    except TypeError as error:
        if "recursion" in str(error).lower():
            return TOO_DEEP
        return json.dumps(value, ensure_ascii=False, default=str, separators=(",", ":"))


def writable(value: Any) -> bool:
    """Whether a value can be written as part of a record: it is JSON, and not nested too deep."""
    try:
        orjson.dumps(value)
    except TypeError:
        return False
    return True


def embedded_object(value: Any) -> dict[str, Any]:
    """A value that may be an object, or JSON of one in a string; empty if it is neither.

    Text that does not begin as an object does is not parsed.
    """
    if isinstance(value, str) and value[:1] not in OBJECT_BEGINS:
        return {}
    found = embedded(value)
    return found if isinstance(found, dict) else {}


def embedded(value: Any) -> Any:
    """A value that may be JSON in a string: the parsed value, or None if it is no JSON."""
    if isinstance(value, bytes):
        value = value.decode("utf-8", "replace")
    if not isinstance(value, str):
        return value
    try:
        return orjson.loads(value)
    except orjson.JSONDecodeError:
        return None
