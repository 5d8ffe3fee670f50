"""Rules d, e, f and j of docs/case-rules.md: calls, their arguments, and how they end."""

import pytest

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
    usage,
)

A, B, C = (call(arguments=f'{{"path": "{name}.py"}}') for name in "abc")


def called(*calls: dict, finish: str = "tool_calls", content: str | None = None) -> dict:
    return {"message": message(content, None, list(calls)), "finish_reason": finish}


def stream(*calls: dict, finish: str = "tool_calls", **more: object) -> dict:
    return streamed(calls=list(calls), finish=finish, **more)


def deltas(*parts: dict, finish: str | None = "tool_calls") -> dict:
    chunks = [chunk({"tool_calls": [part]}) for part in parts]
    return {"chunks": [*chunks, chunk({}, finish, [1, 2]), usage(2)], "done": True}


def part(index: int, arguments: str, **header: object) -> dict:
    name = header.pop("name", None)
    return {"index": index, "function": {"name": name, "arguments": arguments}, **header}


@pytest.mark.parametrize(
    ("candidate", "expected"),
    [
        ('{"path": "a.py"}', []),
        ('{ "path":"\\u0061.py" }', []),
        ('{"path": "a.py"', ["ARGS_NOT_JSON"]),
        ("", ["ARGS_NOT_JSON"]),
        ('{"path": "a.py"} x', ["ARGS_NOT_JSON"]),
        ('{"path": "b.py"}', ["ARGS_DIFFER"]),
        ('{"path": 1}', ["ARGS_DIFFER", "ARGS_SCHEMA"]),
        ('{"path": "a.py", "lines": 3}', ["ARGS_DIFFER"]),
        ("{}", ["ARGS_DIFFER", "ARGS_SCHEMA"]),
        ('{"path": "a.py"}{"path": "a.py"}', ["ARGS_DUPLICATED", "ARGS_NOT_JSON"]),
        ('{"path": "a.py"} {"path":"a.py"}', ["ARGS_DUPLICATED", "ARGS_NOT_JSON"]),
        ('{"path": "a.py"}}', ["ARGS_DUPLICATED", "ARGS_NOT_JSON"]),
        ('{"path": "a.py"}{"path": "b.py"}', ["ARGS_NOT_JSON"]),
        ('{{"path": "a.py"}', ["ARGS_NOT_JSON"]),
    ],
)
def test_arguments(candidate: str, expected: list[str]) -> None:
    assert codes(baseline=called(A), candidate=stream(call(arguments=candidate))) == expected


@pytest.mark.parametrize(
    ("candidate_value", "baseline_value", "expected"),
    [
        ("1", "1.0", []),
        ("1e2", "100", []),
        ("1", "true", ["ARGS_DIFFER"]),
        ("0", "false", ["ARGS_DIFFER"]),
        ("1", '"1"', ["ARGS_DIFFER"]),
        ("null", '""', ["ARGS_DIFFER"]),
        ("[1, 2]", "[2, 1]", ["ARGS_DIFFER"]),
        ("[]", "{}", ["ARGS_DIFFER"]),
        ("12345678901234567890", "12345678901234567891", ["ARGS_DIFFER"]),
        ('{"a": 1, "b": 2}', '{"b": 2, "a": 1}', []),
        ('"{\\"a\\": 1}{\\"a\\": 1}"', '"{\\"a\\": 1}{\\"a\\": 1}"', []),
    ],
)
def test_typed_comparison(candidate_value: str, baseline_value: str, expected: list[str]) -> None:
    base = called(call("list_todos", f'{{"v": {baseline_value}}}'))
    candidate = stream(call("list_todos", f'{{"v": {candidate_value}}}'))
    assert codes(baseline=base, candidate=candidate) == expected


def test_text_that_is_no_json_is_excused_by_the_same_text_and_reason_only() -> None:
    cut = call(arguments='{"path": "a')
    assert codes(baseline=called(cut), candidate=stream(cut)) == []
    lengthy = called(cut, finish="length")
    short = request(max_tokens=3)
    assert codes(baseline=lengthy, candidate=stream(cut, finish="length"), request=short) == []
    assert codes(baseline=lengthy, candidate=stream(cut), request=short) == [
        "ARGS_NOT_JSON",
        "FINISH_REASON_WRONG",
    ]
    other = call(arguments='{"path": "b')
    assert codes(baseline=called(other), candidate=stream(cut)) == ["ARGS_NOT_JSON"]


def test_a_baseline_that_shows_it_too_is_distinguished() -> None:
    cut = call(arguments='{"path": "a')
    judgement = judge(request=request(), baseline=called(cut), candidate=stream(cut))
    (finding,) = judgement.findings
    assert (finding.code, finding.baseline_too, finding.severity) == (
        "ARGS_NOT_JSON",
        True,
        "warning",
    )


def test_a_schema_that_the_reference_violates_too() -> None:
    wrong = call(arguments='{"path": 1}')
    assert codes(baseline=called(wrong), candidate=stream(wrong)) == []
    also = call(arguments='{"path": 2}')
    assert codes(baseline=called(wrong), candidate=stream(also)) == ["ARGS_DIFFER"]


@pytest.mark.parametrize(
    ("schema", "arguments", "expected"),
    [
        ({"$ref": "#/$defs/p", "$defs": {"p": {"required": ["path"]}}}, "{}", ["ARGS_SCHEMA"]),
        ({"$ref": "https://example.com/never-fetched.json"}, "{}", []),
        ({"properties": {"d": {"format": "date"}}}, '{"d": "no date"}', []),
        (
            {
                "$schema": "http://json-schema.org/draft-04/schema#",
                "properties": {"n": {"maximum": 3, "exclusiveMaximum": True}},
            },
            '{"n": 3}',
            ["ARGS_SCHEMA"],
        ),
        ({"properties": {"n": {"type": "integer"}}}, '{"n": 1.0}', []),
    ],
)
def test_schema_dialects(schema: dict, arguments: str, expected: list[str]) -> None:
    tool = {"type": "function", "function": {"name": "read_file", "parameters": schema}}
    found = codes(
        request=request(tools=[tool]),
        baseline=called(call(arguments='{"path": "a.py", "n": 1, "d": "2026-01-01"}')),
        candidate=stream(call(arguments=arguments)),
    )
    assert [code for code in found if code != "ARGS_DIFFER"] == expected


def test_arguments_are_not_judged_where_tokens_differ() -> None:
    baseline = called(A) | {"tokens": tokens("a", "b")}
    candidate = token_stream(tokens("a", "c"), finish="tool_calls")
    candidate["chunks"].insert(1, chunk({"tool_calls": [{"index": 0, **call(arguments="{")}]}))
    found = codes(baseline=baseline, candidate=candidate)
    assert found == ["GREEDY_DIVERGENCE"]


def test_a_lost_call_does_not_make_its_followers_differ() -> None:
    assert codes(baseline=called(A, B, C), candidate=stream(B, C)) == ["TOOL_CALL_LOST"]
    assert codes(baseline=called(A, B, C), candidate=stream(C, A)) == ["TOOL_CALL_LOST"]
    changed = call(arguments='{"path": "x.py"}')
    assert codes(baseline=called(A, B, C), candidate=stream(changed, C)) == [
        "ARGS_DIFFER",
        "TOOL_CALL_LOST",
    ]


def test_calls_compare_in_order_where_none_is_lost() -> None:
    assert codes(baseline=called(A, B), candidate=stream(B, A)) == ["ARGS_DIFFER"]
    assert codes(baseline=called(A), candidate=stream(A, B)) == []


def test_two_ids_on_one_index_are_one_call() -> None:
    reused = deltas(
        part(0, '{"path": "a.py"}', id="one", name="read_file"),
        part(0, '{"path": "b.py"}', id="two", name="list_todos"),
    )
    assert codes(baseline=called(A, B), candidate=reused) == [
        "ARGS_NOT_JSON",
        "TOOL_CALL_LOST",
        "TOOL_INDEX_REUSED",
    ]
    same_id = deltas(part(0, '{"path": ', id="one", name="read_file"), part(0, '"a.py"}', id="one"))
    assert codes(baseline=called(A), candidate=same_id) == []


def test_calls_are_assembled_by_index_not_by_arrival() -> None:
    mixed = deltas(
        part(1, '{"path": ', id="b", name="read_file"),
        part(0, '{"path": "a.py"}', id="a", name="read_file"),
        part(1, '"b.py"}'),
    )
    assert codes(baseline=called(A, B), candidate=mixed) == []


def test_headers() -> None:
    late = deltas(part(0, '{"path": ', id="one"), part(0, '"a.py"}', name="read_file", id="one"))
    assert codes(baseline=called(A), candidate=late) == ["TOOL_HEADER_MISSING"]
    no_id = deltas(part(0, '{"path": "a.py"}', name="read_file"))
    assert codes(baseline=called(A), candidate=no_id) == ["TOOL_HEADER_MISSING"]
    padded = deltas(part(0, "", id="one", name="read_file"), part(0, '{"path": "a.py"}', id=None))
    assert codes(baseline=called(A), candidate=padded) == []
    late_arguments = deltas(part(0, '{"path": "c.py"}', id="one"), part(0, "", name="read_file"))
    assert codes(baseline=called(A), candidate=late_arguments) == [
        "ARGS_DIFFER",
        "TOOL_HEADER_MISSING",
    ]


def test_a_call_that_never_gets_a_name() -> None:
    nameless = deltas(part(0, '{"pa', id="one"))
    assert codes(baseline=called(A), candidate=nameless) == [
        "EMPTY_TOOL_CALL",
        "TOOL_HEADER_MISSING",
    ]
    stopped = deltas(part(0, '{"pa', id="one"), finish="stop")
    assert codes(baseline=called(A), candidate=stopped) == ["TOOL_HEADER_MISSING"]
    beside = deltas(
        part(0, '{"path": "a.py"}', id="one", name="read_file"), part(1, '{"x', id="two")
    )
    assert codes(baseline=called(A, B), candidate=beside) == ["TOOL_HEADER_MISSING"]


def test_no_call_at_all() -> None:
    nothing = streamed("", finish="tool_calls")
    assert codes(baseline=called(A), candidate=nothing) == ["EMPTY_TOOL_CALL", "TOOL_CALL_LOST"]
    assert codes(baseline={}, candidate=nothing) == ["EMPTY_TOOL_CALL"]
    assert codes(baseline=called(finish="tool_calls"), candidate=nothing) == []


def test_tool_names() -> None:
    odd = call("rm_rf")
    assert codes(baseline=called(call("rm_rf")), candidate=stream(odd)) == []
    assert codes(baseline=called(A), candidate=stream(odd)) == ["TOOL_UNKNOWN"]
    assert codes(baseline={}, candidate=stream(odd)) == ["TOOL_UNKNOWN"]
    differs = call("rm_rf", '{"path": "z"}')
    assert codes(baseline=called(A), candidate=stream(differs)) == ["ARGS_DIFFER", "TOOL_UNKNOWN"]
    assert codes(baseline=called(A), candidate=stream(odd), request=None) == []


NAMED = {"type": "function", "function": {"name": "read_file"}}


@pytest.mark.parametrize(
    ("baseline", "candidate", "choice", "expected"),
    [
        ("tool_calls", "stop", "auto", ["FINISH_REASON_WRONG"]),
        ("tool_calls", "length", "auto", ["FINISH_REASON_WRONG"]),
        ("tool_calls", "content_filter", "auto", ["FINISH_REASON_WRONG"]),
        ("stop", "stop", NAMED, []),
        ("tool_calls", "tool_calls", NAMED, []),
        ("stop", "tool_calls", NAMED, ["FINISH_REASON_WRONG"]),
        ("stop", "stop", "auto", []),  # the server's own habit, on both paths
        ("length", "tool_calls", "auto", ["FINISH_REASON_WRONG"]),
    ],
)
def test_finish_reason_of_calls(
    baseline: str, candidate: str, choice: object, expected: list[str]
) -> None:
    found = codes(
        request=request(tool_choice=choice, max_tokens=3),
        baseline=called(A, finish=baseline),
        candidate=stream(A, finish=candidate),
    )
    assert found == expected


def test_another_output_may_end_for_another_reason() -> None:
    found = codes(baseline=called(A, B), candidate=stream(A, finish="length", ids=512))
    assert found == ["TOOL_CALL_LOST"]
    plain = {"message": message("ok"), "finish_reason": "stop"}
    assert codes(baseline=plain, candidate=streamed("ok", finish="length", ids=512)) == [
        "FINISH_REASON_WRONG"
    ]


def test_equal_text_after_other_tokens_may_end_for_another_reason() -> None:
    baseline = {
        "message": message("ok"),
        "finish_reason": "stop",
        "tokens": tokens("o", "k", "<|im_end|>"),
    }
    candidate = token_stream(tokens("o", "k"), finish="length")
    assert codes(baseline=baseline, candidate=candidate, request=request(max_tokens=2)) == []
