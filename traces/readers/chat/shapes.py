"""Reading values of unknown shape: each function gives what was asked for, or nothing."""

from typing import Any

MAX_INTEGER = 2**63
"""Nothing that is counted here comes near it."""


def mapping(value: Any) -> dict[str, Any]:
    """`value` if it is a JSON object, else an empty one."""
    return value if isinstance(value, dict) else {}


def items(value: Any) -> list[Any]:
    """`value` if it is a JSON array, else an empty one."""
    return value if isinstance(value, list) else []


def mappings(value: Any) -> list[dict[str, Any]]:
    """The objects of an array; whatever else it holds is left out."""
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def text(value: Any) -> str:
    """`value` if it is a string, else an empty one."""
    return value if isinstance(value, str) else ""


def text_or_none(value: Any) -> str | None:
    """`value` if it is a string with something in it."""
    return value if isinstance(value, str) and value else None


def integer(value: Any) -> int | None:
    """A whole number; a string of digits counts, since OTLP JSON writes integers so."""
    if value is None or isinstance(value, bool):
        return None
    if isinstance(value, int):
        return value if abs(value) < MAX_INTEGER else None
    if isinstance(value, float) and value.is_integer():
        return int(value) if abs(value) < MAX_INTEGER else None
    if isinstance(value, str) and value.isdecimal() and len(value) < 19:
        return int(value)
    return None


def number(value: Any) -> float | None:
    """A finite number."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if abs(value) < float("inf") else None
