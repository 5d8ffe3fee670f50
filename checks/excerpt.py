"""Short excerpts of model output for messages. They are data: escape them where they are shown."""

KEPT = 24
"""Characters kept before and after the place in question."""


def around_difference(left: str, right: str) -> tuple[str, str]:
    """Both texts around the first character at which they differ, quoted.

    >>> around_difference("Done ✅", "Done")
    ("'Done ✅'", "'Done'")
    """
    shorter = min(len(left), len(right))
    place = next((i for i in range(shorter) if left[i] != right[i]), shorter)
    return excerpt(left, place), excerpt(right, place)


def excerpt(text: str, place: int, length: int = 0) -> str:
    """`text` around `place`, quoted; ``…`` stands for what was left out."""
    start, end = max(0, place - KEPT), place + length + KEPT
    return ("…" if start else "") + repr(text[start:end]) + ("…" if end < len(text) else "")


def printable(text: str) -> str:
    """`text` without control characters, which a terminal would obey: they are spelled out."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)
