"""Cuts of a token sequence into deltas, and the smallest one that changes a parse.

A cut is the sorted tuple of token offsets at which one delta ends and the next begins; `()` is the
whole output in one delta, ``(1, 2, …, n − 1)`` one token per delta. A speculative step of k drafts
commits up to k + 1 tokens, so deltas of 1 … k + 1 tokens are what a server really sends.
"""

from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import accumulate

import numpy as np

from checks.formats.markers import markers

Cut = tuple[int, ...]


def one_by_one(tokens: int) -> Cut:
    """One token per delta."""
    return tuple(range(1, tokens))


def two_way(tokens: int, places: Sequence[int] | None = None) -> Iterator[Cut]:
    """Every cut into two deltas, or those at `places`."""
    for place in range(1, tokens) if places is None else places:
        yield (place,)


def random_cuts(tokens: int, largest: int, count: int, seed: int) -> Iterator[Cut]:
    """`count` cuts into deltas of 1 … `largest` tokens, sizes drawn uniformly."""
    draw = np.random.default_rng([seed, tokens, largest])
    for _ in range(count):
        ends = np.cumsum(draw.integers(1, largest + 1, size=tokens))
        yield tuple(int(end) for end in ends[ends < tokens])


def deltas(tokens: int, cut: Cut) -> Iterator[tuple[int, int]]:
    """The (start, end) token offsets of every delta."""
    start = 0
    for end in (*cut, tokens):
        yield start, end
        start = end


def near_markup(pieces: Sequence[str], reach: int = 8, most: int = 600) -> list[int]:
    """Offsets within `reach` tokens of a piece that could be markup (it holds ``<>[]{}|｜"``).

    Code is full of such pieces. Of more than `most` offsets those near the markup of a parser are
    kept, and the others thinned evenly.
    """
    size = len(pieces)
    could = [i for i, piece in enumerate(pieces) if set(piece) & set('<>[]{}|｜"')]
    near = _around(could, reach, size)
    if len(near) <= most:
        return near
    kept = _around(_in_markers(pieces), reach, size)
    others = sorted(set(near) - set(kept))
    step = -(-len(others) // max(1, most - len(kept)))
    return sorted({*kept[:most], *others[::step]})[:most]


def _around(places: Iterable[int], reach: int, size: int) -> list[int]:
    near = {p for place in places for p in range(place - reach, place + reach + 2)}
    return sorted(place for place in near if 0 < place < size)


def _in_markers(pieces: Sequence[str]) -> Iterator[int]:
    """The tokens in which a marker of some parser begins."""
    text, ends = "".join(pieces), list(accumulate(map(len, pieces)))
    for marker in markers():
        at = text.find(marker)
        while at >= 0:
            yield bisect_right(ends, at)
            at = text.find(marker, at + 1)


def smallest(tokens: int, cut: Cut, differs: Callable[[Cut], bool], tries: int = 10_000) -> Cut:
    """The cut with the fewest joined tokens that still differs from one token per delta.

    Starts from `cut`, which must differ, and splits deltas further as long as the difference
    stays (Zeller and Hildebrandt, "Simplifying and isolating failure-inducing input", 2002). After
    `tries` questions the smallest cut so far is the answer.
    """
    every = set(one_by_one(tokens))
    joined = sorted(every - set(cut))
    width = len(joined)
    while width >= 1 and joined:
        for start in range(0, len(joined), width):
            if tries <= 0:
                return tuple(sorted(every - set(joined)))
            tries -= 1
            fewer = joined[:start] + joined[start + width :]
            if differs(tuple(sorted(every - set(fewer)))):
                joined = fewer
                width = min(width, max(1, len(joined)))
                break
        else:
            width //= 2
    return tuple(sorted(every - set(joined)))
