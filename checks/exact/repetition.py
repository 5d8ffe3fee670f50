"""DEGENERATE_REPETITION: the output falls into a short cycle that the baseline lacks.

A cycle of at most 32 tokens, five times or more, 16 tokens or more in all. The baseline has it too
where its tokens (or, where only its text is known, its text) run through the same cycle.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from checks import findings as f
from checks.exact.channels import channels_of
from checks.exact.endings import same_output
from checks.findings import WARNING, Finding, NotJudged
from checks.pair import Pair, Side
from checks.tokens.fork import first_fork
from traces.counted import counted

LONGEST_CYCLE = 32
FEWEST_TIMES = 5
FEWEST_TOKENS = 16


@dataclass(frozen=True, slots=True)
class Cycle:
    """A run of tokens that repeats: where it starts, its period and length in tokens, and the
    tokens of one round, turned so that the smallest comes first."""

    start: int
    length: int
    round: tuple[int, ...]

    @property
    def times(self) -> int:
        return self.length // len(self.round)


@lru_cache(maxsize=64)
def cycles(ids: tuple[int, ...]) -> tuple[Cycle, ...]:
    """All degenerate cycles, shortest period first; each run is reported by its own period only.

    The last answers are kept: both paths' tokens are most often the same, and so are a copy's.
    """
    found: list[Cycle] = []
    tokens = np.array(ids, np.int64)
    for period in range(1, min(LONGEST_CYCLE, len(ids)) + 1):
        least = max(FEWEST_TOKENS, FEWEST_TIMES * period)
        if len(ids) < least:
            break
        same = np.zeros(len(ids) - period + 2, np.int8)  # a run of ones, and what ends it
        same[1:-1] = tokens[period:] == tokens[:-period]
        edges = np.flatnonzero(np.diff(same))
        for start, end in zip(edges[::2].tolist(), edges[1::2].tolist(), strict=True):
            length = end - start + period
            if length >= least and not any(_within(start, length, cycle) for cycle in found):
                found.append(Cycle(start, length, _turned(ids[start : start + period])))
    return tuple(found)


def _within(start: int, length: int, cycle: Cycle) -> bool:
    return cycle.start <= start and start + length <= cycle.start + cycle.length


def _turned(ids: Sequence[int]) -> tuple[int, ...]:
    return min(tuple(ids[i:]) + tuple(ids[:i]) for i in range(len(ids)))


def check_repetition(pair: Pair) -> Iterator[Finding | NotJudged]:
    """One finding for the first cycle the baseline lacks.

    A model may fall into a loop of its own after a fork that rounding explains: that is shown as a
    warning and does not fail.
    """
    ids = pair.candidate.ids
    if ids is None:
        yield NotJudged(f.DEGENERATE_REPETITION, "the candidate's token ids are unknown")
        return
    candidate = cycles(ids)
    if not candidate:
        return
    shown = _baseline_shows(pair)
    if shown is None:
        yield NotJudged(f.DEGENERATE_REPETITION, "the baseline's output is unknown")
        return
    new = [c for c in candidate if not (shown is True or (shown and c.round in shown))]
    cycle = (new or candidate)[0]
    fork = first_fork(pair)
    explained = fork is not None and fork.explains
    yield Finding(
        f.DEGENERATE_REPETITION,
        f"a round of {counted(len(cycle.round), 'token')} comes {cycle.times} times from token "
        f"{cycle.start} on",
        severity=WARNING if explained else "",
        token=cycle.start,
        candidate=_round_text(pair.candidate, cycle),
        baseline_too=not new,
        detail={"period": len(cycle.round), "times": cycle.times},
    )


def _baseline_shows(pair: Pair) -> set[tuple[int, ...]] | bool | None:
    """The baseline's cycles; true where its text repeats as well; `None` where it is unknown."""
    if pair.baseline.ids is not None:
        return {cycle.round for cycle in cycles(pair.baseline.ids)}
    if pair.baseline.message is None:
        return None
    texts = channels_of(pair.baseline.message).values()
    return same_output(pair) or any(map(_text_repeats, texts))


REPEATS = re.compile(r"(.{1,160}?)\1{4,}+", re.DOTALL)
"""A text of up to 160 characters five times in a row: about 32 tokens.

The repeat is possessive: without it `re` keeps every round on its stack, for nothing.
"""


def _text_repeats(text: str) -> bool:
    return any(len(match[0]) >= FEWEST_TOKENS for match in REPEATS.finditer(text))


def _round_text(side: Side, cycle: Cycle) -> str | None:
    part = (side.tokens or ())[cycle.start : cycle.start + len(cycle.round)]
    texts = [token.text for token in part]
    return None if None in texts else repr("".join(text or "" for text in texts))
