"""A part of the canonical format: frozen, exact, and cheap to make.

A long session has tens of thousands of them. A struct of msgspec is made in 0.1 µs, a validating
model in 2 to 3. Types are checked where a session file is read; a reader of another format looks at
what it found before it makes a record of it.
"""

from functools import cache
from typing import Any, Self

import msgspec
import orjson


class Record(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, gc=False):
    """Keys that a record does not know are an error."""

    def replaced(self, **values: Any) -> Self:
        """The same record with other values in some fields."""
        return msgspec.structs.replace(self, **values)


def json_line(record: Record) -> bytes:
    """One line of JSON without its newline; fields that are None are left out."""
    return orjson.dumps(record, default=present)


def present(record: Record) -> dict[str, Any]:
    """The fields of a record that are not None, by their names in JSON, its kind first."""
    tag, fields = _layout(type(record))
    values = ((key, getattr(record, name)) for name, key in fields)
    return tag | {key: value for key, value in values if value is not None}


@cache
def _layout(kind: type[Record]) -> tuple[dict[str, Any], tuple[tuple[str, str], ...]]:
    config = kind.__struct_config__
    tag = {config.tag_field: config.tag} if config.tag_field else {}
    return tag, tuple(zip(kind.__struct_fields__, kind.__struct_encode_fields__, strict=True))
