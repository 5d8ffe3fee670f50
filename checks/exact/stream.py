"""Does the stream obey the protocol? Status, errors inside it, its end, stalls, usage.

data: {"error": {"message": "internal error", "code": 500}}      STREAM_ERROR_CHUNK
"""

from collections.abc import Iterator
from itertools import pairwise

from checks import findings as f
from checks.findings import WARNING, Finding, NotJudged
from checks.pair import NO_ANSWER, Pair, Side
from checks.request import wants_usage
from traces.wire.response import Response
from traces.wire.route import END

STALL_FACTOR = 10
"""A gap is a stall above this many times the baseline's 99% quantile of gaps …"""
STALL_MS = 1000.0
"""… and above one second."""
ROUNDING_MS = 1e-6
"""Times are written in decimals, and 1044.4 − 44.4 is a little above 1000 in binary."""


def check_status(pair: Pair) -> Iterator[Finding | NotJudged]:
    """One path refuses what the other serves; a warning where both refuse, each in its own way."""
    candidate, baseline = pair.candidate.status, pair.baseline.status
    if candidate is None or baseline is None:
        yield NotJudged(f.HTTP_STATUS_MISMATCH, "the HTTP status of one path is unknown")
    elif candidate != baseline:
        stream = pair.candidate.stream if not pair.candidate.served else pair.baseline.stream
        both = not (pair.candidate.served or pair.baseline.served)
        yield Finding(
            f.HTTP_STATUS_MISMATCH,
            f"{'both refuse: ' if both else ''}the baseline {_answers(pair.baseline)}, "
            f"the candidate {_answers(pair.candidate)}",
            severity=WARNING if both else "",
            baseline=str(baseline),
            candidate=str(candidate),
            detail={} if stream is None or stream.error is None else {"error": stream.error},
        )


def _answers(side: Side) -> str:
    if side.status != NO_ANSWER:
        return f"answers {side.status}"
    error = None if side.stream is None else error_in(side.stream)
    return f"gives no answer ({error})" if error else "gives no answer"


def check_stream(pair: Pair) -> Iterator[Finding | NotJudged]:
    """Error chunks, missing ends, missing usage. The baseline's stream excuses the same flaw."""
    candidate, baseline = pair.candidate.stream, pair.baseline.stream
    if candidate is None:
        for code in (f.STREAM_ERROR_CHUNK, f.STREAM_NO_FINISH, f.STREAM_NO_DONE, f.USAGE_MISSING):
            yield NotJudged(code, "the candidate's stream is unknown")
        return
    error = error_in(candidate)
    if error:
        yield Finding(
            f.STREAM_ERROR_CHUNK,
            f"the stream answers 200 and then carries an error: {error}",
            candidate=error,
            baseline_too=baseline is not None and bool(error_in(baseline)),
        )
    if not candidate.finish_reason:
        yield Finding(
            f.STREAM_NO_FINISH,
            f"no chunk carries a finish_reason{_torn(candidate)}",
            baseline_too=baseline is not None and not baseline.finish_reason,
            detail={"malformed": list(candidate.malformed)} if candidate.malformed else {},
        )
    if not candidate.done:
        yield Finding(
            f.STREAM_NO_DONE,
            f"the stream ends without {END[candidate.route]}{_torn(candidate)}",
            baseline_too=baseline is not None and not baseline.done,
        )
    if candidate.protocol:
        yield _protocol(candidate, baseline, pair.known_breaches)
    if pair.request is None:
        yield NotJudged(f.USAGE_MISSING, "the request is unknown")
    elif wants_usage(pair.request) and _no_usage(candidate):
        yield Finding(
            f.USAGE_MISSING,
            "stream_options.include_usage was set, and no chunk carries usage",
            baseline_too=baseline is not None and _no_usage(baseline),
        )


def _torn(stream: Response) -> str:
    """Where a stream that stops inside an event stops."""
    torn = [text for text in stream.malformed if "ends inside" in text]
    return f"; {torn[0]}" if torn else ""


def error_in(stream: Response) -> str | None:
    """The error a 200 stream carries, in words; an event that is no chunk is one too."""
    if stream.error is not None:
        inner = stream.error.get("error")
        message = inner.get("message") if isinstance(inner, dict) else inner
        return str(message or stream.error.get("message") or "an error object without a message")
    return stream.broken_event


def is_cut(side: Side) -> bool:
    """Whether only the Transport codes are judged: no finish_reason, or an error in the stream."""
    stream = side.stream
    return stream is not None and (not stream.finish_reason or error_in(stream) is not None)


def _protocol(candidate: Response, baseline: Response | None, known: frozenset[str]) -> Finding:
    """One finding for all breaches of a stream. Those of the baseline excuse others of the same
    kinds, in this turn or, as `known`, in any other: an answer that forks may meet them first."""
    first, *more = candidate.protocol
    known |= frozenset() if baseline is None else baseline.breach_kinds
    return Finding(
        f.STREAM_PROTOCOL,
        first + (f", and {len(more)} more" if more else ""),
        candidate=first,
        baseline_too=candidate.breach_kinds <= known,
        detail={"breaches": list(candidate.protocol)},
    )


def check_stall(pair: Pair) -> Iterator[Finding | NotJudged]:
    """A gap between two chunks above max(10 × the baseline's p99, 1 s). TTFT is no gap."""
    stream, p99 = pair.candidate.stream, pair.baseline.gap_p99_ms
    if stream is None or p99 is None or not _timed(stream):
        yield NotJudged(f.CHUNK_STALL, "chunk times or the baseline's 99% gap are unknown")
        return
    gap, place = longest_gap(stream)
    bound = stall_bound(p99)
    if gap > bound + ROUNDING_MS:
        yield Finding(
            f.CHUNK_STALL,
            f"{gap:.0f} ms without a chunk before chunk {place}; the bound is {bound:.0f} ms",
            baseline=f"p99 {p99:.3g} ms",
            candidate=f"{gap:.0f} ms",
            detail={"chunk": place, "gap_ms": gap, "bound_ms": bound},
        )


def longest_gap(stream: Response) -> tuple[float, int]:
    """(ms, number of the chunk that came after it); (0, 0) of fewer than two chunks."""
    times = [chunk.at_ms for chunk in stream.chunks]
    gaps = [(later - earlier, i + 1) for i, (earlier, later) in enumerate(pairwise(times))]
    return max(gaps, default=(0.0, 0))


def stall_bound(gap_p99_ms: float) -> float:
    """ms above which a gap is a stall, beside a baseline whose 99% quantile of gaps is given."""
    return max(STALL_FACTOR * gap_p99_ms, STALL_MS)


def _timed(stream: Response) -> bool:
    """Whether chunks carry arrival times (an unknown time is written 0)."""
    return any(chunk.at_ms for chunk in stream.chunks)


def _no_usage(stream: Response) -> bool:
    return stream.usage is None or stream.usage.completion is None
