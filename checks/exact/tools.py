"""Is every call there, whole, and one the request's tools allow?

First delta of a call, as it must be:

    {"index": 0, "id": "call_1", "type": "function", "function": {"name": "ls", "arguments": ""}}
"""

from collections.abc import Iterator, Sequence

from checks import findings as f
from checks.calls.calls import paired_calls
from checks.findings import INFO, WARNING, Finding, NotJudged
from checks.formats.written import spells_word
from checks.pair import Message, Pair, Side, not_comparable
from checks.request import tool_schemas
from checks.tokens.fork import first_fork
from traces.wire.response import ToolCall

STREAM_CODES = (
    f.TOOL_HEADER_MISSING,
    f.TOOL_HEADER_CHANGED,
    f.TOOL_INDEX_REUSED,
    f.EMPTY_TOOL_CALL,
)


def check_call_stream(pair: Pair) -> Iterator[Finding | NotJudged]:
    """TOOL_HEADER_*, TOOL_INDEX_REUSED and EMPTY_TOOL_CALL: what a client chokes on."""
    message = pair.candidate.message
    if message is None:
        for code in STREAM_CODES:
            yield NotJudged(code, "the candidate's calls are unknown")
        return
    baseline = _streamed_calls(pair.baseline)
    for call in message.calls:
        twin = baseline.get(call.index)
        if not call.header_complete:
            missing = "name" if not call.name else "id" if not call.id else "id or name at first"
            yield Finding(
                f.TOOL_HEADER_MISSING,
                f"call {call.index}: the first delta lacks its header ({missing})",
                candidate=f"id {call.id!r}, name {call.name!r}",
                baseline_too=twin is not None and not twin.header_complete,
                detail={"call": call.index},
            )
        if call.name and len(call.ids) > 1:
            yield Finding(
                f.TOOL_INDEX_REUSED,
                f"index {call.index} carries {len(call.ids)} call ids",
                candidate=", ".join(call.ids),
                baseline_too=twin is not None and len(twin.ids) > 1,
                detail={"call": call.index},
            )
    yield from _header_changed(pair, message)
    if _is_empty(pair.candidate):
        yield Finding(
            f.EMPTY_TOOL_CALL,
            f"finish_reason is tool_calls; of {len(message.calls)} calls none has a name",
            baseline_too=_is_empty(pair.baseline),
        )


def _header_changed(pair: Pair, message: Message) -> Iterator[Finding]:
    """Clients that take the last name, or join the pieces, run another tool than the others."""
    baseline = pair.baseline.stream
    too = baseline is not None and any(_other_names(baseline.tool_calls))
    for index, identifier, names in _other_names(message.calls):
        yield Finding(
            f.TOOL_HEADER_CHANGED,
            f"call {index} ({identifier or 'no id'}) is given the names {', then '.join(names)}",
            candidate=", ".join(names),
            baseline_too=too,
            detail={"call": index},
        )


def _other_names(calls: Sequence[ToolCall]) -> Iterator[tuple[int, str | None, list[str]]]:
    """(index, id, names) of every call with more than one name, by its index or by its id."""
    by_id: dict[str, str] = {}
    for call in calls:
        first = by_id.setdefault(call.id, call.name) if call.id and call.name else call.name
        names = list(dict.fromkeys(n for n in (first, call.name, *call.renamed) if n))
        if len(names) > 1:
            yield call.index, call.id, names


def _streamed_calls(side: Side) -> dict[int, ToolCall]:
    return {call.index: call for call in side.stream.tool_calls} if side.stream else {}


def _is_empty(side: Side) -> bool:
    finished = side.finish_reason == "tool_calls"
    return finished and side.message is not None and not side.message.usable_calls


def check_lost(pair: Pair) -> Iterator[Finding | NotJudged]:
    """Fewer or more calls than the reference. A nameless call is there, though not usable.

    A call too many is an error where equal tokens show that the model did not make it; else it is
    shown as a warning.
    """
    candidate, baseline = pair.candidate.message, pair.baseline.message
    if candidate is None or baseline is None or not pair.text_comparable:
        for code in (f.TOOL_CALL_LOST, f.TOOL_CALL_EXTRA):
            yield NotJudged(code, not_comparable(pair))
    elif len(candidate.calls) != len(baseline.calls):
        lost = len(candidate.calls) < len(baseline.calls)
        yield Finding(
            f.TOOL_CALL_LOST if lost else f.TOOL_CALL_EXTRA,
            f"{len(candidate.calls)} calls, the baseline has {len(baseline.calls)}",
            severity="" if lost or pair.both_have_tokens else WARNING,
            baseline=", ".join(str(call.name) for call in baseline.calls) or "no call",
            candidate=", ".join(str(call.name) for call in candidate.calls) or "no call",
        )


def check_known(pair: Pair) -> Iterator[Finding | NotJudged]:
    """Each call names a tool of the request.

    After a fork that noise explains the path's own tokens decide: a name that they spell is the
    model's.
    """
    if pair.request is None or pair.candidate.message is None:
        yield NotJudged(f.TOOL_UNKNOWN, "the request or the candidate's calls are unknown")
        return
    known = tool_schemas(pair.request)
    baseline = pair.baseline.message.calls if pair.baseline.message else ()
    unknown = [call for call, _ in paired_calls(pair) if call.name not in known]
    fork, own = first_fork(pair), pair.candidate.own_text
    explained = fork is not None and fork.explains
    for call in unknown:
        too = any(other.name == call.name for other in baseline)
        if explained and own is None and not too:
            yield NotJudged(f.TOOL_UNKNOWN, f"{call.name!r} comes after a fork inside the noise")
            continue
        by_model = explained and own is not None and spells_word(own, call.name or "")
        yield Finding(
            f.TOOL_UNKNOWN,
            f"call {call.index} names {call.name!r}, which is no tool of the request"
            + (": the model wrote it so" if by_model else ""),
            severity=INFO if by_model else "",
            candidate=str(call.name),
            baseline_too=too,
            detail={"call": call.index},
        )
