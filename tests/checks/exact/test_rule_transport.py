"""Rule a of docs/case-rules.md (status, cut streams), and every Transport code with near misses."""

import math

import pytest

from checks.exact.judge import judge_pair
from checks.pair import Pair, side_of_response
from tests.support.case_builder import (
    chunk,
    codes,
    judge,
    message,
    request,
    streamed,
    token,
    tokens,
    usage,
)
from traces.wire.reassembly import response_of_chunks

OK = {"message": message("ok"), "finish_reason": "stop"}
GOOD = streamed("ok")


def test_one_path_refuses_and_nothing_else_is_judged() -> None:
    cut = {"chunks": [chunk({"content": "<tool_call>"})], "done": False, "http_status": 400}
    assert codes(baseline=OK, candidate=cut) == ["HTTP_STATUS_MISMATCH"]
    assert codes(baseline={"http_status": 400}, candidate=GOOD) == ["HTTP_STATUS_MISMATCH"]
    assert codes(
        baseline=OK,
        candidate=cut,
        acceptance={"steps": [{"accepted": 2, "committed": 1}], "completion_tokens": 9},
    ) == ["HTTP_STATUS_MISMATCH"]


@pytest.mark.parametrize("candidate", [400, 500])
def test_both_refuse(candidate: int) -> None:
    """No user is served by either; a refusal of another kind is a thing to know."""
    refused = {"chunks": [], "done": False, "http_status": candidate}
    found = judge(request=request(), baseline={"http_status": 400}, candidate=refused)
    assert found.codes == []
    assert [finding.severity for finding in found.findings] == ["warning"] * (candidate != 400)


def test_a_refusal_without_a_known_baseline_is_not_judged() -> None:
    refused = {"chunks": [], "http_status": 400, "error_body": {"error": {"message": "no"}}}
    judgement = judge(request=request(), candidate=refused)
    assert judgement.codes == []
    assert "HTTP_STATUS_MISMATCH" in {item.code for item in judgement.not_judged}


def test_a_cut_stream_is_judged_by_transport_codes_alone() -> None:
    broken = [
        chunk({"content": "<tool_call> \ufffd"}, ids=[1, 2, 3]),
        chunk({"tool_calls": [{"index": 0, "function": {"arguments": "{"}}]}, ids=[4]),
        {"choices": [], "usage": {"prompt_tokens": 9, "completion_tokens": 2}},
    ]
    found = codes(baseline=OK, candidate={"chunks": broken, "done": True})
    assert found == ["STREAM_NO_FINISH", "USAGE_UNDERCOUNT", "UTF8_REPLACEMENT"]


def test_an_error_chunk_silences_content_even_with_a_finish_reason() -> None:
    chunks = [*streamed("other")["chunks"][:2], {"error": {"message": "late", "code": 500}}]
    found = codes(baseline=OK, candidate={"chunks": chunks, "done": True})
    assert found == ["STREAM_ERROR_CHUNK", "USAGE_MISSING"]
    old = [*streamed("ok")["chunks"][:2], {"object": "error", "message": "old form"}]
    assert "STREAM_ERROR_CHUNK" in codes(baseline=OK, candidate={"chunks": old, "done": True})


@pytest.mark.parametrize("odd", [{"choices": 5}, {"choices": [{"delta": {"tool_calls": 3}}]}])
def test_an_event_that_is_no_chunk_is_an_error_in_the_stream(odd: dict) -> None:
    chunks = [*streamed("other")["chunks"], odd]
    found = judge(request=request(), baseline=OK, candidate={"chunks": chunks, "done": True})
    assert found.codes == ["STREAM_ERROR_CHUNK"]
    (finding,) = found.findings
    assert f"event {len(chunks) - 1} is no chat completion chunk" in finding.message


def test_no_done_stands_beside_content_codes() -> None:
    found = codes(baseline=OK, candidate=streamed("other", done=False))
    assert found == ["CONTENT_DIFF", "STREAM_NO_DONE"]


def test_an_unknown_done_is_not_judged() -> None:
    candidate = {"chunks": GOOD["chunks"]}
    assert codes(baseline=OK, candidate=candidate) == []


def test_usage_that_nobody_asked_for_is_not_missing() -> None:
    candidate = {"chunks": GOOD["chunks"][:-1], "done": True}
    assert codes(baseline=OK, candidate=candidate) == ["USAGE_MISSING"]
    assert codes(baseline=OK, candidate=candidate, request=request(stream_options=None)) == []
    asked_not = request(stream_options={"include_usage": False})
    assert codes(baseline=OK, candidate=candidate, request=asked_not) == []


@pytest.mark.parametrize(
    ("ids", "completion", "expected"),
    [(5, 5, []), (5, 4, ["USAGE_UNDERCOUNT"]), (5, 6, ["TOKEN_IDS_GAP"])],
)
def test_ids_against_usage(ids: int, completion: int, expected: list[str]) -> None:
    candidate = streamed("ok", ids=ids, completion=completion)
    assert codes(baseline=OK, candidate=candidate) == expected


@pytest.mark.parametrize(
    ("counted", "code"), [(3, None), (2, "USAGE_UNDERCOUNT"), (9, "TOKEN_IDS_GAP")]
)
@pytest.mark.parametrize("baseline_too", [False, True])
def test_prompt_tokens_that_are_not_the_prompts_are_a_warning(
    counted: int, code: str | None, baseline_too: bool
) -> None:
    chunks = [chunk({"content": "ok"}, "stop", ids=[1], prompt_token_ids=[5, 6, 7])]
    candidate, right = (
        side_of_response(response_of_chunks([*chunks, usage(1, prompt=n)], done=True))
        for n in (counted, 3)
    )
    found = judge_pair(Pair(request(), candidate if baseline_too else right, candidate)).findings
    assert [(f.code, f.severity, f.baseline_too) for f in found] == (
        [(code, "warning", baseline_too)] if code else []
    )


def test_without_prompt_ids_prompt_tokens_are_not_judged() -> None:
    assert judge(request=request(), baseline=OK, candidate=GOOD).findings == ()


def test_ids_hidden_with_the_reasoning_are_no_gap() -> None:
    candidate = streamed("ok", ids=2, completion=9)
    hidden = request(include_reasoning=False)
    assert codes(baseline=OK, candidate=candidate, request=hidden) == []


def test_a_stream_without_ids_has_no_gap() -> None:
    chunks = [chunk({"content": "ok"}, "stop"), usage(7)]
    assert codes(baseline=OK, candidate={"chunks": chunks, "done": True}) == []


def _entry(text: str, logprob: float | None = -0.1) -> dict:
    return {"token": text, "logprob": logprob, "top_logprobs": []}


def test_logprob_entries_against_ids_per_chunk() -> None:
    def stream(first: int, second: int) -> dict:
        chunks = [
            chunk({"content": "a"}, ids=[1], logprobs=[_entry("x")] * first),
            chunk({"content": "b"}, "stop", [2, 3], [_entry("y")] * second),
            usage(3),
        ]
        return {"chunks": chunks, "done": True}

    base = {"message": message("ab"), "finish_reason": "stop"}
    assert codes(baseline=base, candidate=stream(1, 2)) == []
    assert codes(baseline=base, candidate=stream(2, 1)) == ["LOGPROBS_COUNT"]
    assert codes(baseline=base, candidate=stream(1, 0)) == ["LOGPROBS_COUNT"]
    assert codes(baseline=base, candidate=stream(0, 0)) == []


@pytest.mark.parametrize("score", [math.nan, math.inf, -math.inf])
def test_scores_that_are_no_numbers(score: float) -> None:
    bad = [token("a", score), token("b")]
    found = codes(
        baseline={"tokens": tokens("a", "b")}, candidate=streamed("ab", ids=2, tokens=bad)
    )
    assert found == ["NON_FINITE_LOGPROBS"]


def test_a_null_score_in_the_stream_is_a_nan() -> None:
    chunks = [chunk({"content": "a"}, "stop", [1], [_entry("a", None)]), usage(1)]
    base = {"message": message("a"), "finish_reason": "stop"}
    assert codes(baseline=base, candidate={"chunks": chunks, "done": True}) == [
        "NON_FINITE_LOGPROBS"
    ]


def test_vllm_refuses_to_write_a_nan() -> None:
    late = [chunk({"content": "a"}), {"error": {"message": "Out of range float values are not"}}]
    assert codes(baseline=OK, candidate={"chunks": late, "done": True}) == [
        "NON_FINITE_LOGPROBS",
        "STREAM_ERROR_CHUNK",
        "STREAM_NO_FINISH",
        "USAGE_MISSING",
    ]


def test_constant_scores_need_a_baseline_that_varies() -> None:
    flat = [token("a", 0.0), token("b", 0.0), token("c", 0.0)]
    varied = [token("a", -0.4), token("b", -0.1), token("c", -0.9)]
    certain = [token("a", 0.0), token("b", -1e-7), token("c", 0.0)]
    one_zero = [token("a", -0.41), token("b", 0.0), token("c", -0.9)]
    for candidate, baseline, expected in (
        (flat, varied, ["LOGPROBS_CONSTANT"]),
        (flat, flat, []),
        (flat, certain, []),
        (one_zero, varied, []),
    ):
        found = codes(
            baseline={"tokens": baseline}, candidate=streamed("abc", ids=3, tokens=candidate)
        )
        assert found == expected


@pytest.mark.parametrize(
    ("times", "p99", "expected"),
    [
        ([5000.0, 5010.0, 5020.0], 20.0, []),  # TTFT is no gap
        ([10.0, 20.0, 1021.0], 20.0, ["CHUNK_STALL"]),
        ([10.0, 20.0, 1020.0], 20.0, []),  # exactly one second
        ([10.0, 20.0, 1500.0], 200.0, []),  # below 10 × p99
        ([10.0, 20.0, 2100.0], 200.0, ["CHUNK_STALL"]),
        ([10.0, 20.0, 9000.0], None, []),
    ],
)
def test_stalls(times: list[float], p99: float | None, expected: list[str]) -> None:
    base = OK if p99 is None else OK | {"gap_p99_ms": p99}
    assert codes(baseline=base, candidate=streamed("ok", chunk_times_ms=times)) == expected


def test_replacement_characters_are_counted_per_channel() -> None:
    base = {"message": message("byte \ufffd seen", "why"), "finish_reason": "stop"}
    assert codes(baseline=base, candidate=streamed("byte \ufffd seen", "why")) == []
    assert codes(baseline=base, candidate=streamed("byte \ufffd\ufffd seen", "why")) == [
        "CONTENT_DIFF",
        "UTF8_REPLACEMENT",
    ]
    # The same character in another channel excuses nothing.
    assert codes(baseline=base, candidate=streamed("byte \ufffd seen", "why\ufffd")) == [
        "REASONING_DIFF",
        "UTF8_REPLACEMENT",
    ]
    assert codes(baseline={}, candidate=streamed("\ufffd")) == []
