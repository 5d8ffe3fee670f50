"""Control: the end of the text lost, while token ids, finish_reason and [DONE] stay.

What a parser that swallows a delta does. `CONTENT_DIFF` must fire where the turn ends in content,
`ARGS_NOT_JSON` where it ends in a tool call.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from checks import findings as codes
from checks.control_result import ControlResult
from checks.findings import Finding, NotJudged
from checks.pair import Pair, Side, side_of_response
from checks.sessions import hash_order
from traces.response import Response

Judge = Callable[[Pair], Iterable[Finding | NotJudged]]
"""The exact checks of one pair."""

SHARE = 5
"""The last fifth of the text is dropped, at least one character."""

KINDS = {codes.CONTENT_DIFF: "text tail dropped", codes.ARGS_NOT_JSON: "argument tail dropped"}


def drop_content_tail(response: Response) -> Response | None:
    """The last fifth of the content gone; `None` where there is none or it is white space."""
    kept = _head(response.content.rstrip())
    if response.tool_calls or not response.content[len(kept) :].strip():
        return None
    return replace(response, content=kept, raw_text=None)


def drop_argument_tail(response: Response) -> Response | None:
    """The last fifth of the last call's arguments gone; `None` without a call that has any."""
    if not response.tool_calls or not response.tool_calls[-1].arguments.strip():
        return None
    last = response.tool_calls[-1]
    cut = replace(last, arguments=_head(last.arguments.rstrip()))
    return replace(response, tool_calls=(*response.tool_calls[:-1], cut), raw_text=None)


def _head(text: str) -> str:
    return text[: len(text) - max(1, len(text) // SHARE)] if text else ""


PLANTERS = {codes.CONTENT_DIFF: drop_content_tail, codes.ARGS_NOT_JSON: drop_argument_tail}


def judge_tails(
    pairs: Sequence[tuple[str, Pair]], judge: Judge, seed: int
) -> tuple[ControlResult, ...]:
    """One control per code, planted in the first suitable clean pair of the hash order.

    `pairs` are (name, pair) of live turns; a clean one has equal tokens, finished other than by
    length, and fires no error code itself.
    """
    named = dict(pairs)
    order = [named[name] for name in hash_order(named, seed)]
    return tuple(_judge_one(code, order, judge) for code in KINDS)


def _judge_one(code: str, pairs: Sequence[Pair], judge: Judge) -> ControlResult:
    kind, calls = KINDS[code], code == codes.ARGS_NOT_JSON
    suitable = [pair for pair in pairs if _comparable(pair, calls)]
    if not suitable:
        what = "a tool call" if calls else "content alone"
        return ControlResult(kind, code, "not_applicable", (), f"no comparable turn has {what}")
    for pair in suitable:
        stream = pair.candidate.stream
        planted = None if stream is None else PLANTERS[code](stream)
        if planted is None or fired(judge(pair)):
            continue
        seen = fired(judge(replace(pair, candidate=with_stream(pair.candidate, planted))))
        return ControlResult(
            kind, code, "caught" if code in seen else "missed", seen, "planted in one turn"
        )
    return ControlResult(kind, code, "no_data", (), "no clean turn to plant it in")


def _comparable(pair: Pair, calls: bool) -> bool:
    stream = pair.candidate.stream
    if stream is None or not pair.text_comparable or pair.candidate.finish_reason == "length":
        return False
    return bool(stream.tool_calls) if calls else bool(stream.content and not stream.tool_calls)


def with_stream(side: Side, response: Response) -> Side:
    """The same side with another response on the wire."""
    return side_of_response(response, step_tokens=side.step_tokens, gap_p99_ms=side.gap_p99_ms)


def fired(results: Iterable[Finding | NotJudged]) -> tuple[str, ...]:
    """The error codes among the results, sorted."""
    errors = {r.code for r in results if isinstance(r, Finding) and r.severity == codes.ERROR}
    return tuple(sorted(errors))
