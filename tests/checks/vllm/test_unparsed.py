"""Arguments that are JSON on neither side, delivered otherwise at the same tokens."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from checks.exact.judge import judge_pair
from checks.findings import ARGS_DIFFER, Finding
from checks.pair import pair_of_responses
from checks.vllm.cutter import Cutter
from checks.vllm.unparsed import with_parser_faults
from tests.support.synthetic_model import response_of
from traces.journal.arm import MAIN, REPEAT, Arm
from traces.journal.exchange import Evidence, Exchange
from traces.journal.served_parsers import ServedParsers
from traces.wire.capture import CaptureKey
from traces.wire.response import Response, Token, ToolCall

ARM = Arm(MAIN, 4)
REQUEST = {"temperature": 0, "tools": [{"type": "function", "function": {"name": "grep"}}]}
PIECES = ('{"pattern": "fold":', '", "path": ', '"src"', "}", "}")
LONG, SHORT = "".join(PIECES), "".join(PIECES[:-1])


class Stub(Cutter):
    """A parser that made of its tokens what the named arms got."""

    def __init__(self, *delivered: str) -> None:
        self.delivered = delivered

    def delivers(self, exchange: Exchange) -> bool:
        return exchange.response.tool_calls[0].arguments in self.delivered


def answer(arguments: str, ids: Sequence[int] = range(len(PIECES))) -> Response:
    tokens = [Token(i, piece) for i, piece in zip(ids, PIECES, strict=True)]
    return replace(
        response_of((1, 2), tokens),
        content="",
        tool_calls=(ToolCall(0, "call_1", "grep", arguments),),
        finish_reason="tool_calls",
    )


def judged(
    baseline: Response, candidate: Response, repeat: Response | None, cutter: Cutter | str
) -> list[Finding]:
    """The ARGS_DIFFER of a turn, after what the run knows of its parser."""
    captures = Evidence()
    sides = {("baseline", MAIN): baseline, ("candidate", MAIN): candidate}
    if repeat is not None:
        sides["baseline", REPEAT] = repeat
    for (path, arm), response in sides.items():
        key = CaptureKey("run", path, arm, "s", "t", 0)
        captures.arms[path, arm] = {
            ("s", "t"): Exchange(key, REQUEST, response, 0.0, "done", 1.0, 1, None)
        }
    pair = pair_of_responses(REQUEST, baseline, candidate)
    found = [finding.at("s", "t") for finding in judge_pair(pair, forks=False).findings]
    marked = with_parser_faults(found, captures, ARM, cutter)
    return [finding for finding in marked if finding.code == ARGS_DIFFER]


NO_VLLM = "vLLM is not installed"


@pytest.mark.parametrize(
    ("repeat", "cutter", "severity"),
    [
        (None, NO_VLLM, "error"),
        (LONG, NO_VLLM, "error"),
        (SHORT, NO_VLLM, "warning"),
        (LONG, Stub(LONG, SHORT), "warning"),
        (LONG, Stub(LONG), "error"),
        (LONG, Stub(SHORT), "error"),
        (None, Stub(), "error"),
    ],
    ids=[
        "nothing known",
        "the repeat is as the baseline",
        "the repeat differs too",
        "the parser gives both",
        "the candidate got something else",
        "the baseline got something else",
        "another parser",
    ],
)
def test_the_baselines_own_parser_must_be_shown_to_do_it(
    repeat: str | None, cutter: Cutter | str, severity: str
) -> None:
    again = None if repeat is None else answer(repeat)
    (finding,) = judged(answer(LONG), answer(SHORT), again, cutter)
    assert finding.severity == severity
    assert finding.baseline_too is (severity == "warning")


def test_a_repeat_of_other_tokens_shows_nothing() -> None:
    other = answer(SHORT, ids=(0, 1, 2, 3, 9))
    (finding,) = judged(answer(LONG), answer(SHORT), other, NO_VLLM)
    assert finding.severity == "error"


@pytest.mark.parametrize("repeat", [SHORT, '{"pattern": "lost"}'])
def test_where_one_side_is_json_it_is_an_error_whatever_the_parser_does(repeat: str) -> None:
    whole = '{"pattern": "fold", "path": "src"}'
    other = '{"pattern": "fold", "path": "lib"}'
    (finding,) = judged(answer(whole), answer(other), answer(repeat), Stub(whole, other))
    assert finding.severity == "error"


@pytest.mark.vllm
def test_hermes_draws_the_end_of_broken_arguments_by_the_chunks() -> None:
    """The fault itself, as the embedded pair's gate met it, in vLLM's own parser."""
    pytest.importorskip("vllm")
    from checks.splits.cuts import one_by_one
    from checks.vllm.cuts import tokenizer_named
    from checks.vllm.parsers import ParserUnderTest

    text = '<tool_call>\n{"name": "grep", "arguments": ' + LONG + "}\n</tool_call>"
    tools: list[dict[str, Any]] = [{"type": "function", "function": {"name": "grep"}}]
    parser = ParserUnderTest("hermes", None, tokenizer_named("built-in"), tools)
    tokens = parser.tokenize(text)
    count = len(tokens.pieces)
    cuts = [one_by_one(count), *((place,) for place in range(1, count))]
    seen = {call[1] for cut in cuts for call in parser.streamed(tokens, cut).calls}
    assert len({text for text in seen if text.startswith('{"pattern"')}) > 1


def test_the_real_cutter_asks_the_servers_parser() -> None:
    pytest.importorskip("vllm")
    from checks.vllm.cuts import tokenizer_named

    tokenizer = tokenizer_named("built-in")
    text = '<tool_call>\n{"name": "grep", "arguments": {"a": "b"}}\n</tool_call>'
    ids = tokenizer.encode(text, add_special_tokens=False)
    tokens = [Token(i, tokenizer.decode([i])) for i in ids]
    response = replace(
        response_of((1, 2), tokens),
        content="",
        tool_calls=(ToolCall(0, "c", "grep", '{"a": "b"}'),),
        finish_reason="tool_calls",
        stop_reason="x",  # a stop string: the last id has its text
    )
    key = CaptureKey("run", "candidate", MAIN, "s", "t", 0)
    exchange = Exchange(key, REQUEST, response, 0.0, "done", 1.0, 1, None)
    cutter = Cutter(ServedParsers("hermes", None, None), tokenizer, 4, 0)
    assert cutter.delivers(exchange)
    lost = replace(response, tool_calls=(ToolCall(0, "c", "grep", '{"a": "'),))
    assert not cutter.delivers(replace(exchange, response=lost))
