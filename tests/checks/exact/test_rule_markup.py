"""Rule n of docs/case-rules.md (markup), and output after a stop string or EOS."""

import pytest

from checks.formats.markers import leaked, markers
from tests.support.case_builder import (
    call,
    chunk,
    codes,
    judge,
    message,
    request,
    streamed,
    token_stream,
    tokens,
)

EOS = "<|im_end|>"


@pytest.mark.parametrize(
    "marker",
    [
        "<tool_call>",
        "</think>",
        "<|tool_call_begin|>",
        "<｜tool▁sep｜>",
        "[TOOL_CALLS]",
        "[/THINK]",
        "<function=",
        "<parameter=",
        "<invoke name=",
        "<arg_key>",
        "</minimax:tool_call>",
        "<|python_tag|>",
        "<|channel|>",
        "<|tool_call>",
        "<seed:tool_call>",
        "<｜DSML｜invoke name=",
    ],
)
def test_known_markers(marker: str) -> None:
    assert marker in markers()
    assert leaked(f"text {marker} text", "text text") == [marker]
    assert leaked(f"text {marker}", f"{marker} text") == []


@pytest.mark.parametrize(
    "text",
    ["<toolbar>", "a[0] < b[1]", "[x]", "functools", "<div>", "{}", "<", "[A]", "tool_call", "<b>"],
)
def test_ordinary_text_is_no_markup(text: str) -> None:
    assert leaked(text, "") == []


def test_the_same_marker_twice_is_one_more_than_once() -> None:
    base = {"message": message("say <tool_call>"), "finish_reason": "stop"}
    twice = streamed("say <tool_call><tool_call>")
    assert codes(baseline=base, candidate=twice) == ["CONTENT_DIFF", "MARKER_LEAK_CONTENT"]


def test_the_same_marker_in_another_channel_excuses_nothing() -> None:
    base = {"message": message("say <tool_call>", "why"), "finish_reason": "stop"}
    moved = streamed("say <tool_call>", reasoning="why <tool_call>")
    assert codes(baseline=base, candidate=moved) == ["MARKER_LEAK_REASONING", "REASONING_DIFF"]


def test_markup_inside_arguments() -> None:
    def base(path: str) -> dict:
        calls = [call(arguments=f'{{"path": "{path}"}}')]
        return {"message": message(None, None, calls), "finish_reason": "tool_calls"}

    leak = streamed(calls=[call(arguments='{"path": "a</parameter>"}')], finish="tool_calls")
    assert codes(baseline=base("a"), candidate=leak) == ["ARGS_DIFFER", "MARKER_LEAK_ARGS"]
    assert codes(baseline=base("a\\u003c/parameter>"), candidate=leak) == []


def test_trailing_markup_is_no_white_space() -> None:
    base = {"message": message("ok"), "finish_reason": "stop"}
    found = codes(baseline=base, candidate=streamed(f"ok{EOS}"))
    assert found == ["CONTENT_DIFF", "MARKER_LEAK_CONTENT"]


def test_without_a_baseline_markup_is_a_leak_unless_the_baselines_tokens_spell_it() -> None:
    assert codes(candidate=streamed("x</tool_call>")) == ["MARKER_LEAK_CONTENT"]
    spelled = tokens("x", "</tool_call>")
    candidate = token_stream(spelled)
    judgement = judge(request=request(), baseline={"tokens": spelled}, candidate=candidate)
    assert judgement.codes == []
    assert "MARKER_LEAK_CONTENT" in {item.code for item in judgement.not_judged}


def test_markup_before_a_near_tie_is_a_leak_all_the_same() -> None:
    from tests.support.case_builder import token

    baseline = {
        "message": message("now a"),
        "finish_reason": "stop",
        "tokens": [token("<tool_call>"), token("now"), token(" a", -0.7, **{" b": -0.71})],
    }
    candidate = token_stream([token("<tool_call>"), token("now"), token(" b", -0.7)])
    assert codes(baseline=baseline, candidate=candidate) == ["MARKER_LEAK_CONTENT"]


STOP = {"stop": ["END"]}


@pytest.mark.parametrize(
    ("content", "included", "expected"),
    [
        ("one\n", False, []),
        ("one\nEND", False, ["TOKENS_AFTER_STOP"]),
        ("one\nEND more", False, ["TOKENS_AFTER_STOP"]),
        ("one\nEND", True, []),
        ("one\nEND more", True, ["TOKENS_AFTER_STOP"]),
        ("one\nEN", False, []),
    ],
)
@pytest.mark.parametrize("match", [{"stop_match": "END"}, {}])
def test_stop_strings(content: str, included: bool, expected: list[str], match: dict) -> None:
    asked = request(**STOP, include_stop_str_in_output=included)
    assert codes(candidate=streamed(content), request=asked, context=match) == expected


def test_one_stop_string_may_be_written_without_a_list() -> None:
    asked = request(stop="END")
    assert codes(candidate=streamed("one END"), request=asked) == ["TOKENS_AFTER_STOP"]


def test_tokens_behind_the_stop_string_though_the_text_is_cut() -> None:
    sent = tokens("one", "\n", "END", "``", "`")
    asked = request(**STOP)
    found = codes(
        candidate=token_stream(sent, content="one\n"), request=asked, context={"stop_match": "END"}
    )
    assert found == ["TOKENS_AFTER_STOP"]
    whole = token_stream(sent[:3], content="one\n")
    assert codes(candidate=whole, request=asked, context={"stop_match": "END"}) == []


def test_a_stop_string_both_paths_show() -> None:
    base = {"message": message("one END"), "finish_reason": "stop"}
    assert codes(baseline=base, candidate=streamed("one END"), request=request(**STOP)) == []


@pytest.mark.parametrize(
    ("content", "raw", "expected"),
    [
        ("one", f"one{EOS}", []),
        ("onetwo", f"one{EOS}two", ["TOKENS_AFTER_STOP"]),
        ("one", f"one{EOS}<|endoftext|>", []),
        ("one", "one", []),
        ("one", "one<|eot_id|>two", ["TOKENS_AFTER_STOP"]),
    ],
)
def test_eos(content: str, raw: str, expected: list[str]) -> None:
    base = {"message": message(content), "finish_reason": "stop"}
    assert codes(baseline=base, candidate=streamed(content, raw_text=raw)) == expected
    ignored = request(ignore_eos=True)
    assert codes(baseline=base, candidate=streamed(content, raw_text=raw), request=ignored) == []


def test_an_eos_string_that_is_text() -> None:
    text = f"The tag is `{EOS}` here."
    base = {"message": message(text), "finish_reason": "stop"}
    assert codes(baseline=base, candidate=streamed(text, raw_text=text + EOS)) == []
    beyond = streamed(text + "x", raw_text=f"{text}{EOS}x")
    assert codes(baseline=base, candidate=beyond) == ["CONTENT_DIFF", "TOKENS_AFTER_STOP"]


def test_no_markup_in_an_empty_delta() -> None:
    base = {"message": message("ok"), "finish_reason": "stop"}
    candidate = streamed("ok")
    candidate["chunks"].insert(1, chunk({"content": None}))
    candidate["chunks"].insert(1, chunk({}))
    assert codes(baseline=base, candidate=candidate) == []


def test_an_eos_string_both_paths_go_on_after() -> None:
    sent = tokens("one", EOS, "two")
    candidate = token_stream(sent, raw_text=f"one{EOS}two")
    assert codes(baseline={"tokens": sent}, candidate=candidate) == []
    assert codes(baseline={"tokens": sent[:2]}, candidate=candidate) == ["TOKENS_AFTER_STOP"]
