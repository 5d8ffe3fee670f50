"""From a conversation in the order it was logged to turns with valid prefixes.

Most tools log what was said, not what was sent. Here every result is put right behind the response
that asked for it, in call order, whatever the order of the rows.
"""

from collections.abc import Sequence
from datetime import datetime

from traces.readers.chat.builder import SessionBuilder
from traces.readers.chat.items import EMPTY, Answer, Item, Replaced, Result, Said
from traces.readers.chat.results import Results
from traces.readers.chat.thread import Thread
from traces.session.turn import Fidelity, Restart


def add_thread(
    builder: SessionBuilder,
    transcript: Sequence[Item],
    *,
    fidelity: Fidelity = "rebuilt",
) -> Thread:
    """Add all turns of a transcript; returns the thread with the prompt as it is at the end."""
    results = Results.of(transcript)
    thread = builder.thread()
    mids = thread.mids
    restart: Restart = "rewritten"
    now = fidelity
    places = (
        {id(item): place for place, item in enumerate(transcript) if isinstance(item, Result)}
        if results.late and now == "exact"
        else {}
    )
    latest = -1
    for place, item in enumerate(transcript):
        if isinstance(item, Said):
            mids.append(builder.add(item.message()))
        elif isinstance(item, Answer):
            given = [results.take(call.id) for call in item.calls] if item.calls else []
            if latest > place and now == "exact":
                builder.warn("result_after_response", item.rows[0] if item.rows else None)
                now = fidelity = "rebuilt"
            if places:
                latest = max([latest, *(places.get(id(result), -1) for result in given)])
            add_answer(builder, thread, item, given, now, restart)
        elif isinstance(item, Replaced):
            kept = _leading_system(builder, mids) if item.keep_system else []
            thread.replace(kept + history_ids(builder, item.history))
            mids = thread.mids
            restart = item.reason
            now = fidelity if fidelity == "lossy" else item.fidelity
        elif results.is_orphan(item):
            builder.orphans += 1
            builder.warn("result_without_call", item.rows[0] if item.rows else None)
            mids.append(builder.add(item.message()))
    for extra in results.extra:
        builder.warn("second_result_dropped", extra.rows[0] if extra.rows else None)
    return thread


def add_answer(
    builder: SessionBuilder,
    thread: Thread,
    item: Answer,
    given: Sequence[Result | None],
    fidelity: Fidelity,
    restart: Restart = "rewritten",
) -> None:
    """Add the turn of a response and move the thread behind it and its results.

    An empty response, aborted before it said anything, is not replayed. Only where the prompts
    themselves were logged do those that follow hold it.
    """
    empty = item.is_empty
    output = None if empty and fidelity != "exact" else item.message()
    if item.target:
        if empty:
            item.skip_reason = item.skip_reason or EMPTY
        builder.turn(
            thread,
            item,
            output,
            fidelity=fidelity,
            restart=restart,
            outcomes=[None if r is None else r.outcome for r in given] if given else (),
            tool_wait_ms=_wait(item, given) if given else None,
        )
        builder.unanswered += given.count(None)
    elif output is not None:
        thread.mids.append(builder.add(output))
    for result in given:
        if result is not None:
            thread.mids.append(builder.add(result.message()))


def history_ids(builder: SessionBuilder, history: Sequence[Item]) -> list[str]:
    """Store messages that are history only; returns their names in order."""
    results = Results.of(history)
    mids: list[str] = []
    for item in history:
        if isinstance(item, Said):
            mids.append(builder.add(item.message()))
        elif isinstance(item, Answer):
            if not item.is_empty:
                mids.append(builder.add(item.message()))
            given = [results.take(call.id) for call in item.calls]
            mids.extend(builder.add(r.message()) for r in given if r is not None)
        elif isinstance(item, Result) and results.is_orphan(item):
            mids.append(builder.add(item.message()))
    return mids


def _leading_system(builder: SessionBuilder, prefix: Sequence[str]) -> list[str]:
    leading = []
    for mid in prefix:
        if builder.message(mid).role != "system":
            break
        leading.append(mid)
    return leading


def _wait(item: Answer, given: Sequence[Result | None]) -> float | None:
    """Milliseconds from the end of the response to the last result, if both are recorded."""
    begin = item.times.end if item.times else None
    if not begin:
        return None
    ends = [result.at for result in given if result is not None and result.at]
    if not ends:
        return None
    try:
        last = max(map(datetime.fromisoformat, ends))
        waited = (last - datetime.fromisoformat(begin)).total_seconds()
    except (ValueError, TypeError, OverflowError):
        return None
    return round(waited * 1000, 3) if waited >= 0 else None
