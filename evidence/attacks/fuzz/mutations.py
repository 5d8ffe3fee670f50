"""How an input is changed: bytes, and where it is JSON, a value in it."""

import json
import random
from typing import Any

ODD: tuple[Any, ...] = (
    None, True, 0, -1, 1 << 31, 1 << 63, 1 << 64, 1e308, float("nan"), float("inf"), -0.0, "", "0",
    " ", "\x00", "\x1b[2J", "\ud800", "\u202e", "\U0001f600", "a" * 300, [], {}, [None], [[]], [{}],
    {"": None}, {"type": "text", "text": []}, {"a": {"b": {"c": []}}},
)  # fmt: skip
"""Values that a reader may not expect in the place of another."""

DEEP = 400
"""Brackets of a value that is nested deep."""

MOST_BYTES = 1 << 16
"""Longer inputs cost time, and show nothing that shorter ones do not."""


def mutated(data: bytes, other: bytes, chance: random.Random) -> bytes:
    """`data` changed in one to four places; `other` is an input to take pieces from."""
    for _ in range(chance.choice((1, 1, 2, 4))):
        structured = chance.random() < 0.6
        data = (_json(data, chance) if structured else None) or _bytes(data, other, chance)
    return data[:MOST_BYTES]


def _json(data: bytes, chance: random.Random) -> bytes | None:
    """One value of one line, or of the whole, replaced, removed, doubled or renamed. None where
    there is no JSON."""
    head, body = data[:1], data[1:]
    if head in (b"{", b"["):
        head, body = b"", data
    lines = body.split(b"\n")
    place = chance.randrange(len(lines))
    for at, text in ((None, body), (place, lines[place])):
        prefix = b"data: " if text.startswith(b"data: ") else b""
        try:
            value = json.loads(text[len(prefix) :])
        except (ValueError, RecursionError):
            continue
        changed = prefix + _dumped(_changed(value, chance))
        if at is None:
            return head + changed
        lines[at] = changed
        return head + b"\n".join(lines)
    return None


def _dumped(value: Any) -> bytes:
    try:
        return json.dumps(value).encode()
    except (ValueError, RecursionError):
        return b"[" * DEEP + b"]" * DEEP


def _changed(value: Any, chance: random.Random) -> Any:
    inner = value
    above: Any = None
    key: Any = None
    while isinstance(inner, dict | list) and inner and (above is None or chance.random() < 0.8):
        above = inner
        key = chance.choice(list(inner) if isinstance(inner, dict) else range(len(inner)))
        inner = inner[key]
    if above is None:
        return chance.choice(ODD)
    _edit(above, key, inner, chance)
    return value


def _edit(above: Any, key: Any, inner: Any, chance: random.Random) -> None:
    kind = chance.randrange(6)
    if kind == 0:
        del above[key]
    elif kind == 1 and isinstance(above, list):
        above.insert(key, inner)
    elif kind == 1:
        above[chance.choice((f"{key}s", "type", "content", "", key[:1]))] = inner
    elif kind == 2:
        above[key] = [inner, inner]
    elif kind == 3 and isinstance(inner, str):
        at = chance.randrange(len(inner) + 1)
        above[key] = inner[:at] + str(chance.choice(ODD[11:19])) + inner[at:]
    elif kind == 4:
        for _ in range(DEEP):
            inner = [inner]
        above[key] = inner
    else:
        above[key] = chance.choice(ODD)


def _bytes(data: bytes, other: bytes, chance: random.Random) -> bytes:
    at = chance.randrange(len(data) + 1)
    to = min(len(data), at + chance.choice((0, 1, 1, 2, 8, 64)))
    start = chance.randrange(len(other) + 1)
    middle = chance.choice(
        (
            b"",
            bytes([chance.randrange(256)]),
            chance.randbytes(chance.randrange(1, 8)),
            other[start : start + chance.choice((1, 8, 64, 512))],
            data[at:to] * chance.choice((2, 3, 40)),
            chance.choice(
                (b"\r", b"\n\n", b"\xff", b"\x00", b"\xe2\x80", b'"', b"\\u", b"{", b"]")
            ),
        )
    )
    return data[:at] + middle + data[to:]
