"""Tags found in a source: small facts about a session that later become slices."""

from collections.abc import Mapping
from typing import Any

MAX_TAG = 120
"""Characters; a longer value is content, not a tag."""


def scalar_tags(values: Mapping[str, Any]) -> dict[str, str]:
    """Short strings, numbers and truth values of `values`, as strings."""
    tags = {}
    for key, value in values.items():
        if isinstance(value, bool):
            tags[str(key)] = str(value).lower()
        elif isinstance(value, int | float) or (isinstance(value, str) and len(value) > 0):
            tags[str(key)] = str(value)
    return {key: value for key, value in tags.items() if len(key) + len(value) <= MAX_TAG}
