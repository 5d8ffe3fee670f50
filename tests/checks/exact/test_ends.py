"""Amendments on ends: every finish reason, every stop, text behind a whole value, half a call.

Each row's codes are written from the rules of docs/findings.md.
"""

import pytest

from tests.support.case_builder import (
    call,
    chunk,
    codes,
    judge,
    message,
    request,
    streamed,
    token_id,
    token_stream,
    tokens,
)

EOS = "<|im_end|>"
WORDS = ("Prune", " the", " row", ".", EOS)


def whole(**more: object) -> dict:
    """A baseline that says all of it."""
    return {
        "message": message("Prune the row."),
        "finish_reason": "stop",
        "tokens": tokens(*WORDS),
    } | more


def _with_calls(made: list[dict], calls: list[dict], finish: str) -> dict:
    """A candidate with these tokens, which make these calls."""
    return streamed(calls=calls, finish=finish, ids=[t["id"] for t in made], tokens=made)


@pytest.mark.parametrize(
    ("finish", "expected"),
    [
        ("stop", ["PREMATURE_EOS"]),
        ("length", ["MAX_TOKENS_ACCOUNTING"]),
        ("abort", ["FINISH_REASON_WRONG"]),
        ("repetition", ["FINISH_REASON_WRONG"]),
        ("error", ["FINISH_REASON_WRONG"]),
        ("content_filter", ["FINISH_REASON_WRONG"]),
        ("function_call", ["FINISH_REASON_WRONG"]),
        ("abc", ["FINISH_REASON_WRONG"]),
    ],
)
def test_an_end_inside_the_baselines_tokens(finish: str, expected: list[str]) -> None:
    candidate = token_stream(tokens(*WORDS[:2]), finish=finish)
    assert codes(baseline=whole(), candidate=candidate) == expected


def test_length_without_a_limit_does_not_end_inside_the_baseline() -> None:
    candidate = token_stream(tokens(*WORDS[:2]), finish="length")
    asked = request(max_tokens=None)
    assert codes(baseline=whole(), candidate=candidate, request=asked) == ["FINISH_REASON_WRONG"]
    full = token_stream(tokens(*WORDS[:2]), finish="length")
    limited = request(max_tokens=2)
    assert codes(baseline=whole(), candidate=full, request=limited) == []


@pytest.mark.parametrize("finish", ["abort", "repetition", "abc"])
def test_a_reason_of_both_paths_is_no_fault(finish: str) -> None:
    same = whole(finish_reason=finish)
    candidate = token_stream(tokens(*WORDS), content="Prune the row.", finish=finish)
    assert codes(baseline=same, candidate=candidate) == []
    alone = whole(finish_reason="stop")
    assert codes(baseline=alone, candidate=candidate) == ["FINISH_REASON_WRONG"]


def test_an_unknown_reason_of_a_sampled_turn() -> None:
    candidate = token_stream(tokens("Cut", " it", "."), finish="abort")
    sampled = request(temperature=0.8)
    assert codes(baseline=whole(), candidate=candidate, request=sampled) == ["FINISH_REASON_WRONG"]


def test_a_loss_that_the_text_shows_is_reported_once() -> None:
    baseline = {"message": message("Prune the row."), "finish_reason": "stop"}
    assert codes(baseline=baseline, candidate=streamed("Prune", finish="abort")) == ["CONTENT_DIFF"]


ONE, TWO = call(arguments='{"path": "a"}'), call(arguments='{"path": "b"}')
MARKUP = ("<tool_call>", "a", "</tool_call>", "<tool_call>", "b", "</tool_call>", EOS)


def test_a_second_call_that_was_never_written() -> None:
    baseline = {
        "message": message(None, None, [ONE, TWO]),
        "finish_reason": "tool_calls",
        "tokens": tokens(*MARKUP),
    }
    candidate = _with_calls(tokens(*MARKUP[:3]), [ONE], "tool_calls")
    assert codes(baseline=baseline, candidate=candidate) == ["PREMATURE_EOS"]
    both = _with_calls(tokens(*MARKUP), [ONE, TWO], "tool_calls")
    assert codes(baseline=baseline, candidate=both) == []
    without_eos = tokens(*MARKUP[:-1])
    same = _with_calls(without_eos, [ONE, TWO], "tool_calls")
    assert codes(baseline=baseline, candidate=same) == []


@pytest.mark.parametrize(
    ("finish", "expected"),
    [
        ("abort", ["ARGS_NOT_JSON", "FINISH_REASON_WRONG"]),
        ("stop", ["ARGS_NOT_JSON", "FINISH_REASON_WRONG", "PREMATURE_EOS"]),
        ("tool_calls", ["ARGS_NOT_JSON", "PREMATURE_EOS"]),
        ("length", ["MAX_TOKENS_ACCOUNTING"]),
    ],
)
def test_half_a_call_at_the_end_of_a_prefix(finish: str, expected: list[str]) -> None:
    baseline = {
        "message": message(None, None, [ONE]),
        "finish_reason": "tool_calls",
        "tokens": tokens(*MARKUP[:3]),
    }
    half = call(arguments='{"path": "')
    candidate = _with_calls(tokens(*MARKUP[:2]), [half], finish)
    assert codes(baseline=baseline, candidate=candidate) == expected


# Stops


@pytest.mark.parametrize(
    ("stop", "included", "content", "wrong"),
    [
        (["END"], False, "one END", True),
        (["END"], False, "one ", False),
        (["END"], True, "one END", False),
        (["END"], True, "one END two", True),
        (["\n", ";"], False, "let a = 7; let b", True),  # the later of the list comes first
        (["\n", ";"], True, "let a = 7;", False),
        (["\n", ";"], True, "let a = 7; let b\n", True),
        (["E", "END"], True, "one END", True),  # E is complete two characters before END
        (["ND", "END"], True, "one END", False),  # both are complete at once
        (["ND", "END"], False, "one E", False),
        ("END", False, "one END", True),
    ],
)
@pytest.mark.parametrize("match", [None, "\n", "END"])
def test_the_earliest_stop_string_wins(
    stop: object, included: bool, content: str, wrong: bool, match: str | None
) -> None:
    asked = request(stop=stop, include_stop_str_in_output=included)
    if match is not None and match not in stop:
        match = None
    judged = judge(request=asked, candidate=streamed(content), context={"stop_match": match})
    assert judged.codes == (["TOKENS_AFTER_STOP"] if wrong else [])


def test_a_stop_string_both_paths_show_is_the_servers() -> None:
    baseline = {"message": message("a; b"), "finish_reason": "stop"}
    asked = request(stop=[";"])
    assert codes(request=asked, baseline=baseline, candidate=streamed("a; b")) == []


@pytest.mark.parametrize(
    ("words", "least", "wrong"),
    [
        ("a STOP", 0, False),
        ("a STOP b", 0, True),
        ("a STOP b STOP", 0, True),
        ("a STOP b STOP", 3, False),  # the first is below min_tokens
        ("a STOP b", 2, True),
        ("a b c", 0, False),
    ],
)
def test_stop_token_ids(words: str, least: int, wrong: bool) -> None:
    asked = request(stop_token_ids=[token_id("STOP")], min_tokens=least or None)
    candidate = token_stream(tokens(*words.split()))
    assert codes(request=asked, candidate=candidate) == (["TOKENS_AFTER_STOP"] if wrong else [])
    text = "".join(words.split())
    baseline = {"message": message(text), "tokens": tokens(*words.split()), "finish_reason": "stop"}
    assert codes(request=asked, candidate=candidate, baseline=baseline) == []


def test_stop_token_ids_without_ids_are_not_judged() -> None:
    plain = {"chunks": [chunk({"content": "a"}, "stop")], "done": True}
    judged = judge(request=request(stop_token_ids=[7]), candidate=plain)
    reasons = [n.reason for n in judged.not_judged if n.code == "TOKENS_AFTER_STOP"]
    assert "stop_token_ids need token ids" in reasons


@pytest.mark.parametrize(
    ("words", "ignored", "wrong"),
    [
        (["a", EOS], False, False),
        (["a", EOS, EOS], False, False),
        (["a", EOS, "b"], False, True),
        (["a", EOS, "b"], True, False),
        (["a", "<|im_", "end|>", "b"], False, False),  # spelled as text, token by token
    ],
)
def test_eos_without_raw_text(words: list[str], ignored: bool, wrong: bool) -> None:
    asked = request(ignore_eos=ignored or None)
    candidate = token_stream(tokens(*words), content="a")
    baseline = {"message": message("a"), "finish_reason": "stop"}
    assert codes(request=asked, candidate=candidate, baseline=baseline) == (
        ["TOKENS_AFTER_STOP"] if wrong else []
    )


def test_eos_that_cannot_be_seen_is_listed() -> None:
    judged = judge(request=request(), candidate=streamed("a"))
    assert any(n.reason.startswith("EOS: ") for n in judged.not_judged)


# Under length


FORMAT = {"type": "json_object"}


@pytest.mark.parametrize(
    ("content", "wrong"),
    [
        ('{"a": 1', False),
        ('{"a": 1}', False),
        ('{"a": 1}\n ', False),
        ('{"a": 1} and', True),
        ('{"a": 1}{"a"', True),
        ('[1, 2]"', True),
        ("nothing", False),
    ],
)
def test_content_behind_a_whole_value(content: str, wrong: bool) -> None:
    asked = request(response_format=FORMAT, max_tokens=4)
    candidate = streamed(content, finish="length", ids=4)
    expected = ["STRUCTURED_OUTPUT_INVALID"] if wrong else []
    assert codes(request=asked, candidate=candidate) == expected
    same = {"message": message(content), "finish_reason": "length"}
    assert codes(request=asked, candidate=candidate, baseline=same) == []


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ('{"path": "a"', []),
        ('{"path": "a"} and', ["ARGS_NOT_JSON"]),
        ('{"path": "a"}}', ["ARGS_DUPLICATED", "ARGS_NOT_JSON"]),
    ],
)
def test_arguments_behind_a_whole_value(arguments: str, expected: list[str]) -> None:
    baseline = {"message": message(None, None, [ONE]), "finish_reason": "tool_calls"}
    candidate = streamed(calls=[call(arguments=arguments)], finish="length", ids=4)
    found = codes(request=request(max_tokens=4), candidate=candidate, baseline=baseline)
    assert found == expected


# Arguments that are JSON on neither side


@pytest.mark.parametrize("finish", ["tool_calls", "length"])
@pytest.mark.parametrize(
    ("candidate", "expected"),
    [
        ('{"path": "a', []),
        ('{"path": "b', ["ARGS_DIFFER"]),
        ('{"path": ', ["ARGS_DIFFER"]),
        ('{"path": "a\n', []),  # white space at the seam: a warning
    ],
)
def test_broken_arguments_at_equal_tokens(finish: str, candidate: str, expected: list[str]) -> None:
    made = tokens("<tool_call>", "x", EOS)
    baseline = {
        "message": message(None, None, [call(arguments='{"path": "a')]),
        "finish_reason": finish,
        "tokens": made,
    }
    stream = _with_calls(made, [call(arguments=candidate)], finish)
    judged = judge(request=request(max_tokens=3), baseline=baseline, candidate=stream)
    assert judged.codes == expected
    without = {key: value for key, value in baseline.items() if key != "tokens"}
    plain = judge(request=request(max_tokens=3), baseline=without, candidate=stream)
    assert "ARGS_DIFFER" not in plain.codes


# Names, markers


def _delta(index: int, **fields: object) -> dict:
    name = fields.pop("name", None)
    function = {"arguments": fields.pop("arguments", ""), **({"name": name} if name else {})}
    return {"index": index, **fields, "function": function}


def _calls(*deltas: dict) -> dict:
    chunks = [{"choices": [{"index": 0, "delta": {"tool_calls": [d]}}]} for d in deltas]
    chunks.append({"choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}]})
    return {"chunks": chunks, "done": True}


FIRST = _delta(0, id="c0", name="read_file", arguments='{"path": "a"}')


@pytest.mark.parametrize(
    ("deltas", "expected"),
    [
        ([FIRST], []),
        ([FIRST, _delta(0, id="c0", name="read_file")], []),
        ([FIRST, _delta(0, id="c0", name="list_todos")], ["TOOL_HEADER_CHANGED"]),
        ([FIRST, _delta(0, name="list_todos")], ["TOOL_HEADER_CHANGED"]),
        ([FIRST, _delta(0, id="c1", name="list_todos")], ["TOOL_INDEX_REUSED"]),
        (
            [FIRST, _delta(1, id="c0", name="list_todos", arguments="{}")],
            ["TOOL_HEADER_CHANGED"],
        ),
        ([FIRST, _delta(1, id="c1", name="list_todos", arguments="{}")], []),
    ],
)
def test_a_second_name(deltas: list[dict], expected: list[str]) -> None:
    asked = request(stream_options=None)
    assert codes(request=asked, candidate=_calls(*deltas)) == expected


@pytest.mark.parametrize(
    ("content", "wrong"),
    [
        ("ok</think>", True),
        ("ok</think", True),
        ("ok</think\n\nAnswer", True),
        ('<tool_call\n{"name"', True),
        ('<tool_call{"name"', True),
        ("ok <|im_end|", True),
        ("[TOOL_CALLS", True),
        ("<thinking> aloud", False),
        ('<function name="f">', True),  # a whole marker of its own
        ('<answer id="1">', False),
        ("a<b and think", False),
        ("std::function<int> f", False),
        ("usage: run [ARGS ...]", False),
    ],
)
def test_a_marker_short_of_its_last_character(content: str, wrong: bool) -> None:
    found = codes(candidate=streamed(content), request=request())
    assert ("MARKER_LEAK_CONTENT" in found) is wrong
    same = {"message": message(content), "finish_reason": "stop"}
    assert codes(candidate=streamed(content), baseline=same) == []
