"""Controls: the end of the text lost, while token ids, finish_reason and [DONE] stay.

What a parser that swallows a delta does. `CONTENT_DIFF` must fire where the turn ends in content,
`ARGS_NOT_JSON` where it ends in a tool call.
"""

from dataclasses import replace

from checks import findings as codes
from checks.controls.pair_control import PairControl, is_comparable, with_stream
from checks.formats import json_values
from checks.formats.json_values import NotJson
from checks.pair import Pair
from traces.wire.response import Response

SHARE = 5
"""The last fifth of the text is dropped, at least one character."""


def drop_content_tail(response: Response) -> Response | None:
    """The last fifth of the content gone; `None` where there is none or calls follow it."""
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


def _plant_content(pair: Pair) -> Pair | None:
    stream = pair.candidate.stream
    planted = None if stream is None else drop_content_tail(stream)
    return None if planted is None else _with(pair, planted)


def _plant_arguments(pair: Pair) -> Pair | None:
    stream = pair.candidate.stream
    planted = None if stream is None else drop_argument_tail(stream)
    return None if planted is None else _with(pair, planted)


def _with(pair: Pair, response: Response) -> Pair:
    return replace(pair, candidate=with_stream(pair.candidate, response))


def _has_content(pair: Pair) -> bool:
    stream = pair.candidate.stream
    alone = stream is not None and bool(stream.content.strip()) and not stream.tool_calls
    return alone and is_comparable(pair)


def _has_call(pair: Pair) -> bool:
    """A call with arguments that parse: of others nothing can be lost that shows."""
    stream = pair.candidate.stream
    if stream is None or not stream.tool_calls or not is_comparable(pair):
        return False
    try:
        json_values.parse(stream.tool_calls[-1].arguments)
    except NotJson:
        return False
    return True


TEXT_TAIL = PairControl(
    "text tail dropped",
    codes.CONTENT_DIFF,
    _has_content,
    _plant_content,
    "no comparable turn has content alone",
)
ARGUMENT_TAIL = PairControl(
    "argument tail dropped",
    codes.ARGS_NOT_JSON,
    _has_call,
    _plant_arguments,
    "no comparable turn has a tool call",
)
