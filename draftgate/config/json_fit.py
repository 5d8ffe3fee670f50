"""Whether a table can be handed on as JSON: TOML and Python know values that JSON does not.

{"num_speculative_tokens": 3, "x": {"rate": nan}}   ->  "`x.rate` is nan"
"""

import math
from typing import Any

LARGEST = 2**63
"""JSON has no end of numbers; the reader on the other side has."""


def unfit_for_json(value: Any, place: str = "") -> str | None:
    """The first thing in `value` that JSON has no word for; `None` where all can be written."""
    if isinstance(value, dict):
        inner = [(f"{place}.{key}" if place else str(key), item) for key, item in value.items()]
        if (key := next((key for key in value if not isinstance(key, str)), None)) is not None:
            return f"the key {key!r} in `{place}` is no text"
        return _first(inner)
    if isinstance(value, (list, tuple)):
        return _first([(f"{place}[{number}]", item) for number, item in enumerate(value)])
    if value is None or isinstance(value, bool):
        return None
    if isinstance(value, int):
        return None if abs(value) < LARGEST else f"`{place}` is beyond 64 bits"
    if isinstance(value, float):
        return None if math.isfinite(value) else f"`{place}` is {value}"
    if isinstance(value, str):
        return None if _is_unicode(value) else f"`{place}` holds half a character"
    return f"`{place}` is a {type(value).__name__} ({value})"


def _first(entries: list[tuple[str, Any]]) -> str | None:
    found = (unfit_for_json(item, place) for place, item in entries)
    return next((text for text in found if text), None)


def _is_unicode(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
