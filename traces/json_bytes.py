"""JSON as UTF-8 bytes and back, also where orjson refuses a value that Python can hold."""

import json
from typing import Any

import orjson


def encode_json(value: Any) -> bytes:
    """UTF-8 JSON of `value`. Lone surrogates and integers beyond 64 bits, which recorded sessions
    may hold and orjson refuses, go through the standard library as escapes.
    """
    try:
        return orjson.dumps(value)
    except TypeError:
        return json.dumps(value, separators=(",", ":")).encode()


def decode_json(data: bytes | str) -> Any:
    """What `encode_json` wrote."""
    try:
        return orjson.loads(data)
    except orjson.JSONDecodeError:
        return json.loads(data)
