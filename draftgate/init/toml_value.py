"""A value as TOML: strings, numbers, truth values, lists, and mappings as inline tables.

{"method": "eagle3", "num_speculative_tokens": 3}
->  { method = "eagle3", num_speculative_tokens = 3 }
"""

import json
import re
from collections.abc import Mapping
from typing import Any

BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")


def toml_value(value: Any) -> str:
    """`value` on one line. Raises TypeError for what TOML has no word for, such as None."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, float)):
        return repr(value)
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    if isinstance(value, Mapping):
        entries = ", ".join(f"{_key(key)} = {toml_value(inner)}" for key, inner in value.items())
        return f"{{ {entries} }}" if entries else "{}"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(map(toml_value, value)) + "]"
    raise TypeError(f"{type(value).__name__} is no TOML value")


def _key(name: str) -> str:
    return name if BARE_KEY.fullmatch(name) else toml_value(name)
