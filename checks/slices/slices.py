"""Slices of a run: turns that share a prompt template, a tag, a tool or a context band.

    {("s1", "t0"): {("template", "swe-agent"), ("tag", "team=blue"), ("tool", "bash"),
                    ("context", "8k-16k")}}

A slice is judged where sessions enough are in it to tell a fault from one odd session, and where it
is not the whole run.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping

from checks.greedy.rate import EXCEEDANCE_SESSIONS

TurnId = tuple[str, str]
"""(session, turn)."""

Slice = tuple[str, str]
"""(dimension, name)."""

DIMENSIONS = ("template", "tag", "tool", "context")


def turns_by_slice(
    slices: Mapping[TurnId, Iterable[Slice]],
) -> dict[Slice, frozenset[TurnId]]:
    """The slices that are judged, dimensions in their order; each with its turns."""
    found: defaultdict[Slice, set[TurnId]] = defaultdict(set)
    for turn, names in slices.items():
        for name in names:
            found[name].add(turn)
    return {
        name: frozenset(found[name])
        for name in sorted(found, key=lambda key: (DIMENSIONS.index(key[0]), key[1]))
        if len(found[name]) < len(slices)
        and len({session for session, _ in found[name]}) >= EXCEEDANCE_SESSIONS
    }
