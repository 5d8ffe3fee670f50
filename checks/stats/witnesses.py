"""Which sampled turns were drawn from one random stream, and so count as one witness.

vLLM seeds a generator per request: two requests with one seed draw the same random numbers,
whatever their prompts are. Where a recording sends one seed with all its turns, their tokens stray
together.
"""

from collections.abc import Iterable, Sequence

Drawn = tuple[str, int | None]
"""(session, seed) of a turn; `None`: it was sent without one."""


def witnesses(turns: Iterable[Drawn]) -> dict[str, str]:
    """Session -> the witness it belongs to: sessions that share a seed are one."""
    root: dict[str, str] = {}
    first: dict[int, str] = {}

    def top(session: str) -> str:
        while root[session] != session:
            session = root[session]
        return session

    for session, seed in turns:
        root.setdefault(session, session)
        if seed is not None:
            other = first.setdefault(seed, session)
            low, high = sorted((top(session), top(other)))
            root[high] = low
    return {session: top(session) for session in root}


def rows_of(turns: Sequence[Drawn]) -> tuple[list[int], int]:
    """(row of each turn in a matrix with one row per witness, rows); witnesses in name order."""
    grouped = witnesses(turns)
    row = {witness: i for i, witness in enumerate(sorted(set(grouped.values())))}
    return [row[grouped[session]] for session, _ in turns], len(row)
