"""Chains single exchanges to sessions: a request that repeats an earlier one, and adds to it,
continues it.

Retries, parallel subagents and sessions side by side interleave in a request log, so each exchange
looks for the thread whose last prompt is the longest beginning of its own. Exchanges that name a
common session become threads of one session; without names each thread is a session.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from traces.readers.chat.builder import SessionBuilder
from traces.readers.chat.items import Answer, Result
from traces.readers.chat.repeated import Entry
from traces.readers.chat.tools import RepeatedTools
from traces.readers.chat.transcript import history_ids
from traces.readers.formats.requests.exchange import Exchange
from traces.readers.intake import Intake
from traces.session.session import Session
from traces.session.turn import Fidelity

MAX_OPEN = 200
"""Sessions kept open at once, to bound memory; the one unused for longest is finished first."""


@dataclass(slots=True)
class _Open:
    """A session being built. `ends` finds a thread by the chained hash of its last prompt."""

    builder: SessionBuilder
    ends: dict[int, str] = field(default_factory=dict)
    threads: int = 0


def chained(
    exchanges: Iterable[Exchange],
    intake: Intake,
    tool: str | None,
    *,
    fidelity: Fidelity = "exact",
) -> Iterator[Session]:
    """The sessions of a log, each when it is finished."""
    sessions: dict[str, _Open] = {}
    unnamed: dict[int, str] = {}
    tools = RepeatedTools()
    for number, exchange in enumerate(exchanges):
        hashes = chained_hashes([entry.key for entry in exchange.prompt])
        name = exchange.session or _longest(hashes, unnamed) or f"unnamed {number}"
        found = sessions.pop(name, None)
        if found is None:
            builder = SessionBuilder(intake, tool=tool, session_id=exchange.session)
            builder.tags = exchange.tags
            found = _Open(builder)
        sessions[name] = found
        if exchange.session is None:
            unnamed[hashes[-1] if hashes else 0] = name
        _add(found, exchange, hashes, tools, fidelity)
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
        last = hash((last, name))
        hashes.append(last)
    return hashes


def _longest(hashes: Sequence[int], known: dict[int, str]) -> str | None:
    return next((known[value] for value in reversed(hashes) if value in known), None)


def _add(
    session: _Open,
    exchange: Exchange,
    hashes: Sequence[int],
    tools: RepeatedTools,
    fidelity: Fidelity,
) -> None:
    builder = session.builder
    name = _longest(hashes, session.ends)
    if name is None:
        name = f"sidechain:{session.threads}" if session.threads else "main"
        session.threads += 1
    session.ends = {key: other for key, other in session.ends.items() if other != name}
    session.ends[hashes[-1] if hashes else 0] = name
    thread = builder.thread(name)
    thread.replace(_prompt_ids(builder, exchange))
    answer = exchange.answer or Answer(rows=(exchange.row,))
    answer.toolset = builder.offer(tools.read(exchange.tools))
    answer.model = answer.model or exchange.model
    answer.facts |= exchange.facts
    output = None if exchange.answer is None else answer.message()
    if exchange.left_out:
        builder.left_out(exchange.row, exchange.left_out)
        fidelity = "lossy"
    builder.turn(thread, answer, output, fidelity=fidelity)


def _prompt_ids(builder: SessionBuilder, exchange: Exchange) -> list[str]:
    """The names of the prompt's messages, which are stored if they are new."""
    if not _in_call_order(exchange.prompt):
        return history_ids(builder, [entry.item for entry in exchange.prompt])
    rows = (exchange.row,)
    return [builder.add_again(entry.message, rows) for entry in exchange.prompt]


def _in_call_order(prompt: Sequence[Entry]) -> bool:
    """Whether every result stands behind its answer, in the order of the calls."""
    waiting: list[str] = []
    for entry in prompt:
        item = entry.item
        if isinstance(item, Answer):
            waiting = [call.id for call in item.calls]
        elif isinstance(item, Result):
            if item.call_id not in waiting:
                return False
            del waiting[: waiting.index(item.call_id) + 1]
        else:
            waiting = []
    return True
