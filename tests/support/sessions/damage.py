"""Damage at random: what is left of a file after it."""

import json
import random
from typing import Any

ODD = (None, 1, -1.5, "x", [], {}, [1, "a", None], {"a": {"b": []}}, True, "\u2028", "\ud800")


def damaged(data: bytes, chance: random.Random) -> bytes:
    """`data` with bytes flipped, its end cut off, its lines shuffled, or values replaced."""
    kind = chance.randrange(4)
    if kind == 0:
        flipped = bytearray(data)
        for _ in range(chance.randrange(1, 8)):
            flipped[chance.randrange(len(flipped))] = chance.randrange(256)
        return bytes(flipped)
    if kind == 1:
        return data[: chance.randrange(len(data))]
    rows = data.split(b"\n")
    if kind == 2:
        chance.shuffle(rows)
        return b"\n".join(rows)
    return b"\n".join(_altered_row(row, chance) for row in rows)


def _altered_row(row: bytes, chance: random.Random) -> bytes:
    try:
        return json.dumps(_altered(json.loads(row), chance)).encode()
    except ValueError:
        return row


def _altered(value: Any, chance: random.Random) -> Any:
    if chance.random() < 0.02:
        return chance.choice(ODD)
    if isinstance(value, dict):
        return {k: _altered(v, chance) for k, v in value.items() if chance.random() > 0.01}
    if isinstance(value, list):
        value = [_altered(item, chance) for item in value]
        if value and chance.random() < 0.05:
            value.append(chance.choice(value))
            chance.shuffle(value)
    return value
