"""Rules b and c of docs/case-rules.md: which texts compare, and how formatted ones do."""

import pytest

from tests.support.case_builder import (
    call,
    codes,
    judge,
    message,
    request,
    streamed,
    token,
    token_stream,
    tokens,
)

EOS = "<|im_end|>"


def base(content: str | None = "ok", **more: object) -> dict:
    return {"message": message(content), "finish_reason": "stop"} | more


@pytest.mark.parametrize(
    ("candidate", "baseline", "expected"),
    [
        ("ok", "ok\n\n", []),
        ("ok  \n", "ok", []),
        ("", None, []),
        (" ok", "ok", ["CONTENT_DIFF"]),
        ("o k", "ok", ["CONTENT_DIFF"]),
        ("ok. more", "ok.", ["CONTENT_DIFF"]),
    ],
)
def test_content(candidate: str, baseline: str | None, expected: list[str]) -> None:
    assert codes(baseline=base(baseline), candidate=streamed(candidate)) == expected


def test_text_that_moved_between_channels_is_two_differences() -> None:
    baseline = {"message": message("b", "a"), "finish_reason": "stop"}
    assert codes(baseline=baseline, candidate=streamed("ab")) == ["CONTENT_DIFF", "REASONING_DIFF"]


def test_both_names_of_reasoning_are_read() -> None:
    candidate = streamed("b")
    candidate["chunks"][1]["choices"][0]["delta"]["reasoning_content"] = "a"
    for name in ("reasoning", "reasoning_content"):
        baseline = {"message": {"content": "b", name: "a"}, "finish_reason": "stop"}
        assert codes(baseline=baseline, candidate=candidate) == []


def test_without_a_baseline_message_nothing_is_compared() -> None:
    judgement = judge(
        request=request(),
        baseline={"tokens": tokens("o", "k")},
        candidate=token_stream(tokens("o", "k")),
    )
    assert judgement.codes == []
    missing = {item.code for item in judgement.not_judged}
    assert {"CONTENT_DIFF", "REASONING_DIFF", "TOOL_CALL_LOST", "ARGS_DIFFER"} <= missing


NEAR = [token("if"), token("not", -0.70, x=-0.72), token("a"), token(EOS)]
OTHER = [token("if"), token("x", -0.70, **{"not": -0.71}), token("b"), token(EOS)]


def test_a_near_tie_fork_silences_every_text_code() -> None:
    baseline = {
        "message": message("plan", "think", [call(), call(arguments='{"path": "b.py"}')]),
        "finish_reason": "tool_calls",
        "tokens": NEAR,
    }
    candidate = token_stream(OTHER, finish="stop")
    judgement = judge(request=request(), baseline=baseline, candidate=candidate)
    assert judgement.codes == []
    assert [f.code for f in judgement.findings] == ["NEAR_TIE_FORK"]


def test_a_hard_fork_speaks_for_itself() -> None:
    baseline = base("ifnot", tokens=[token("if"), token("not", -0.01, x=-5.0), token(EOS)])
    candidate = token_stream([token("if"), token("x"), token(EOS)])
    assert codes(baseline=baseline, candidate=candidate) == ["GREEDY_DIVERGENCE"]


def test_a_prefix_counts_as_tokens_that_differ() -> None:
    baseline = base("abc", tokens=tokens("a", "b", "c"), finish_reason="length")
    candidate = token_stream(tokens("a", "b"), finish="length")
    assert codes(baseline=baseline, candidate=candidate, request=request(max_tokens=2)) == []


def test_equal_tokens_with_other_text_is_a_lost_text() -> None:
    baseline = base("abc", tokens=tokens("a", "b", "c", EOS))
    candidate = token_stream(tokens("a", "b", "c", EOS), content="ab")
    assert codes(baseline=baseline, candidate=candidate) == ["CONTENT_DIFF"]


def test_tokens_on_one_side_only_leave_the_text_comparable() -> None:
    candidate = token_stream(tokens("a", "b", EOS))
    assert codes(baseline=base("other"), candidate=candidate) == ["CONTENT_DIFF"]


def test_sampled_tokens_may_differ() -> None:
    baseline = base("ab", tokens=tokens("a", "b"))
    candidate = token_stream(tokens("a", "c"))
    assert codes(baseline=baseline, candidate=candidate, request=request(temperature=0.7)) == []


SCHEMA = {"type": "object", "properties": {"ok": {"type": "boolean"}}, "required": ["ok"]}
JSON = {"type": "json_schema", "json_schema": {"name": "r", "schema": SCHEMA}}


@pytest.mark.parametrize(
    ("candidate", "expected"),
    [
        ('{"ok": true}', []),
        ('{\n "ok" : true }', []),
        ('{"ok": false}', ["CONTENT_DIFF"]),
        ('{"ok": 1}', ["STRUCTURED_OUTPUT_INVALID"]),
        ('{"ok": true}}', ["STRUCTURED_OUTPUT_INVALID"]),
        ('```json\n{"ok": true}\n```', ["STRUCTURED_OUTPUT_INVALID"]),
        ("", ["PREMATURE_EOS", "STRUCTURED_OUTPUT_INVALID"]),
        ('{"ok": NaN}', ["STRUCTURED_OUTPUT_INVALID"]),
    ],
)
def test_json_content(candidate: str, expected: list[str]) -> None:
    for asked in (
        {"response_format": JSON},
        {"structured_outputs": {"json": SCHEMA}},
    ):
        found = codes(
            request=request(tools=None, tool_choice=None, **asked),
            baseline=base('{"ok": true}'),
            candidate=streamed(candidate),
        )
        assert found == expected


def test_other_codes_stay_beside_invalid_output() -> None:
    found = codes(
        request=request(response_format=JSON),
        baseline={"message": message('{"ok": true}', "why"), "finish_reason": "stop"},
        candidate=streamed('<think>{"ok": true}'),
    )
    assert found == ["MARKER_LEAK_CONTENT", "REASONING_DIFF", "STRUCTURED_OUTPUT_INVALID"]


def test_invalid_output_that_the_baseline_shows_too() -> None:
    found = codes(
        request=request(response_format=JSON), baseline=base("no"), candidate=streamed("no")
    )
    assert found == []


@pytest.mark.parametrize("baseline", ['{"ok": true}', '{"ok": tr'])
def test_formatted_content_cut_by_length_is_not_judged(baseline: str) -> None:
    found = codes(
        request=request(response_format=JSON, max_tokens=3),
        baseline=base(baseline, finish_reason="length"),
        candidate=streamed('{"ok" : tr', finish="length", ids=3),
    )
    assert found == []


def test_calls_under_a_format_are_not_content() -> None:
    baseline = {"message": message(None, None, [call()]), "finish_reason": "tool_calls"}
    candidate = streamed(calls=[call()], finish="tool_calls")
    asked = request(response_format=JSON)
    assert codes(request=asked, baseline=baseline, candidate=candidate) == []


@pytest.mark.parametrize(
    ("rule", "candidate", "expected"),
    [
        ({"regex": r"\d+"}, "12", []),
        ({"regex": r"\d+"}, "12a", ["STRUCTURED_OUTPUT_INVALID"]),
        ({"regex": "("}, "12a", ["CONTENT_DIFF"]),  # a pattern Python cannot read: text decides
        ({"choice": ["12", "13"]}, "12", []),
        ({"choice": ["12", "13"]}, "13", ["CONTENT_DIFF"]),
        ({"choice": ["12", "13"]}, "14", ["STRUCTURED_OUTPUT_INVALID"]),
        ({"grammar": "root ::= x"}, "12", []),
        ({"json_object": True}, "12x", ["STRUCTURED_OUTPUT_INVALID"]),
    ],
)
def test_other_formats(rule: dict, candidate: str, expected: list[str]) -> None:
    found = codes(
        request=request(structured_outputs=rule), baseline=base("12"), candidate=streamed(candidate)
    )
    assert found == expected


def test_structured_output_is_judged_without_a_baseline() -> None:
    found = codes(request=request(response_format=JSON), candidate=streamed("no"))
    assert found == ["STRUCTURED_OUTPUT_INVALID"]
