"""Cycles found in columns are those of the definition: compared token by token."""

from hypothesis import given
from hypothesis import strategies as st

from checks.exact.repetition import FEWEST_TIMES, FEWEST_TOKENS, LONGEST_CYCLE, cycles

ROUNDS = st.tuples(st.lists(st.integers(0, 2), min_size=1, max_size=6), st.integers(1, 20))
IDS = st.lists(ROUNDS, max_size=4).map(
    lambda parts: tuple(token for part, times in parts for token in part * times)
)


def runs(ids: tuple[int, ...], period: int) -> list[tuple[int, int]]:
    """(start, length) of the longest stretches in which every token is that of a round before."""
    found = []
    for start in range(len(ids)):
        end = start + period
        while end < len(ids) and ids[end] == ids[end - period]:
            end += 1
        longer_before = start > 0 and start + period - 1 < len(ids)
        longer_before = longer_before and ids[start - 1] == ids[start + period - 1]
        if not longer_before and end <= len(ids):
            found.append((start, end - start))
    return found


@given(IDS)
def test_cycles_by_the_definition(ids: tuple[int, ...]) -> None:
    expected: list[tuple[int, int, int]] = []
    for period in range(1, LONGEST_CYCLE + 1):
        least = max(FEWEST_TOKENS, FEWEST_TIMES * period)
        for start, length in runs(ids, period):
            within = any(s <= start and start + length <= s + n for s, n, _ in expected)
            if length >= least and not within:
                expected.append((start, length, period))
    found = [(cycle.start, cycle.length, len(cycle.round)) for cycle in cycles(ids)]
    assert found == expected
