"""How much work it is to cut an output every way, known before it is done.

The unit is one delta of a short output. Parsers that look at the whole text so far at every delta
take time in proportion to it, so a delta of an output of n tokens counts 1 + n / 250: measured on
the 50 parsers that could be, a unit costs 5 … 60 µs whatever n is. A stream costs 8 units to open.
"""

OPENING = 8
TWICE_AT = 250


def split_work(tokens: int, places: int, count: int, largest: int) -> int:
    """Units of `places` cuts in two, `count` random cuts into deltas of 1 … `largest` tokens, one
    delta, one by one, and the non-streaming parse."""
    streams = places + count + 3
    deltas = 2 * places + count * 2 * tokens / (largest + 1) + tokens + 2
    return int(deltas * (1 + tokens / TWICE_AT) + OPENING * streams)
