"""Chains single exchanges to sessions: a request that repeats an earlier one, and adds to it,
continues it.

Retries, parallel subagents and sessions side by side interleave in a request log, so each exchange
looks for the thread whose last prompt is the longest beginning of its own. Exchanges that name a
common session become threads of one session; without names each thread is a session.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from traces.readers.builder import SessionBuilder
from traces.readers.exchange import Exchange, prompt_key
from traces.readers.intake import Intake
from traces.readers.shapes import items
from traces.readers.tools import recorded_tools
from traces.readers.transcript import history_ids
from traces.session import Session

MAX_OPEN = 200
"""Sessions kept open at once, to bound memory; the one unused for longest is finished first."""


@dataclass(slots=True)
class _Open:
    """A session being built. `ends` finds a thread by the chained hash of its last prompt."""

    builder: SessionBuilder
    ends: dict[int, str] = field(default_factory=dict)
    threads: int = 0


def chained(exchanges: Iterable[Exchange], intake: Intake, tool: str | None) -> Iterator[Session]:
    """The sessions of a log, each when it is finished."""
    sessions: dict[str, _Open] = {}
    unnamed: dict[int, str] = {}
    for number, exchange in enumerate(exchanges):
        hashes = chained_hashes(prompt_key(exchange.prompt))
        name = exchange.session or _longest(hashes, unnamed) or f"unnamed {number}"
        found = sessions.pop(name, None)
        if found is None:
            builder = SessionBuilder(intake, tool=tool, session_id=exchange.session)
            builder.tags = exchange.tags
            found = _Open(builder)
        sessions[name] = found
        if exchange.session is None:
            unnamed[hashes[-1] if hashes else 0] = name
        _add(found, exchange, hashes)
        if len(sessions) > MAX_OPEN:
            oldest = next(iter(sessions))
            yield sessions.pop(oldest).builder.build()
            unnamed = {key: name for key, name in unnamed.items() if name != oldest}
    for left in sessions.values():
        yield left.builder.build()


def chained_hashes(key: Sequence[str]) -> list[int]:
    """A hash for every beginning of `key`; equal beginnings have equal hashes."""
    hashes, last = [], 0
    for name in key:
        last = hash((last, int(name, 16)))
        hashes.append(last)
    return hashes


def _longest(hashes: Sequence[int], known: dict[int, str]) -> str | None:
    return next((known[value] for value in reversed(hashes) if value in known), None)


def _add(session: _Open, exchange: Exchange, hashes: Sequence[int]) -> None:
    builder = session.builder
    thread = _longest(hashes, session.ends)
    if thread is None:
        thread = f"sidechain:{session.threads}" if session.threads else "main"
        session.threads += 1
    session.ends = {key: name for key, name in session.ends.items() if name != thread}
    session.ends[hashes[-1] if hashes else 0] = thread
    prefix = history_ids(builder, exchange.prompt)
    toolset = builder.toolset(recorded_tools(items(exchange.tools)))
    if exchange.answer is None:
        builder.turn(
            prefix, None, fidelity="exact", thread=thread, toolset=toolset, rows=(exchange.row,)
        )
        return
    exchange.answer.toolset = toolset
    facts = exchange.answer.turn_facts()
    builder.turn(prefix, exchange.answer.message(), fidelity="exact", thread=thread, **facts)
