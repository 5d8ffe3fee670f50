"""A stream ends once: one finish reason, and no output behind it."""

from typing import Any

import pytest

from checks.exact.judge import judge_pair
from checks.pair import Pair, side_of_response
from tests.support.case_builder import call, chunk, judge, message, request, usage
from traces.wire.reassembly import response_of_chunks

OK = {"message": message("ok"), "finish_reason": "stop"}
TOOL = {"index": 0, **call()}
LATE: dict[str, dict[str, Any]] = {
    "content": chunk({"content": " more"}),
    "reasoning": chunk({"reasoning": "hm"}),
    "call": chunk({"tool_calls": [TOOL]}),
    "ids": chunk({}, ids=[7]),
}


def found(*chunks: dict[str, Any], baseline: dict[str, Any] = OK) -> list[str]:
    judged = judge(
        request=request(),
        baseline=baseline,
        candidate={"chunks": [*chunks, usage(1)], "done": True},
    )
    return [f.message for f in judged.findings if f.code == "FINISH_REASON_WRONG"]


def test_one_reason_in_the_last_chunk_of_output_is_right() -> None:
    assert found(chunk({"content": "ok"}, "stop")) == []
    assert found(chunk({"content": "ok"}), chunk({}, "stop")) == []


def test_the_same_reason_twice_is_only_irregular() -> None:
    chunks = [chunk({"content": "ok"}, "stop"), chunk({}, "stop")]
    assert found(*chunks) == []
    assert response_of_chunks(chunks, done=True).irregular == ("the same finish_reason came twice",)


def test_two_reasons_in_one_stream_contradict_each_other() -> None:
    chunks = [chunk({"content": "ok"}, "length"), chunk({}, "stop")]
    assert found(*chunks) == ["one stream carries the finish reasons length, then stop"]
    assert response_of_chunks(chunks, done=True).finish_reason == "stop"


@pytest.mark.parametrize("late", LATE.values(), ids=LATE)
def test_output_behind_a_finish_reason_is_lost_on_clients_that_stop_there(late: Any) -> None:
    wanted = "one chunk of output behind finish_reason stop"
    assert wanted in found(chunk({"content": "ok"}, "stop"), late)
    assert wanted not in found(chunk({"content": "ok"}), late, chunk({}, "stop"))


def test_an_empty_chunk_behind_it_is_none() -> None:
    assert found(chunk({"content": "ok"}, "stop"), chunk({"content": ""}), chunk({})) == []


def test_what_the_baseline_does_too_is_not_the_candidates() -> None:

    chunks = [chunk({"content": "ok"}, "length", ids=[1]), chunk({}, "stop"), usage(1)]
    side = side_of_response(response_of_chunks(chunks, done=True))
    findings = judge_pair(Pair(request(), side, side)).findings
    assert [(f.code, f.baseline_too, f.severity) for f in findings] == [
        ("FINISH_REASON_WRONG", True, "warning")
    ]
