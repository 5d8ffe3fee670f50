"""How wide the columns of a terminal table may be, so that it stays a table and words stay whole.

fitting([["code", "NO_DRAFTS"], ["message", "no draft in the whole run"]], [True, True], 30)
->  [9, 21]
"""

from collections.abc import Sequence

LONGEST_WORDS = (24, 16, 10)
"""A column is as wide as its longest word, up to so many characters; where that is too much for all
columns together, up to fewer, and longer words are broken."""

Column = Sequence[str]
"""The title of a column and its values."""


def fitting(columns: Sequence[Column], wraps: Sequence[bool], room: int) -> list[int] | None:
    """Characters for each column, `room` at most in all; `None` where they cannot be had.

    Only columns that may wrap are narrowed, the widest first. `None` too where the table would be
    longer than one line for every value.
    """
    widest = [max(map(len, column)) for column in columns]
    for longest in LONGEST_WORDS:
        least = [
            min(wide, max(map(_longest_word, column)), longest) if may else wide
            for column, wide, may in zip(columns, widest, wraps, strict=True)
        ]
        if sum(least) <= room:
            widths = _levelled(widest, least, room)
            lines = sum(map(max, zip(*map(_lines, columns, widths), strict=True)))
            return widths if lines <= sum(map(len, columns)) else None
    return None


def _levelled(widest: Sequence[int], least: Sequence[int], room: int) -> list[int]:
    """Every column as wide as it wants, up to the highest common level that leaves them room."""
    for level in range(max(widest), 0, -1):
        widths = [max(low, min(wide, level)) for wide, low in zip(widest, least, strict=True)]
        if sum(widths) <= room:
            return widths
    return list(least)


def _longest_word(text: str) -> int:
    return max(map(len, text.split()), default=0)


def _lines(column: Column, width: int) -> list[int]:
    """Lines that each value takes, about."""
    return [-(-len(value) // max(width, 1)) or 1 for value in column]
