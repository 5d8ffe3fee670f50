"""Cases written from pairs: judged again to the same codes, small, and without secrets."""

import json
import re
from dataclasses import replace

import pytest

from checks.cases.judge import judge_case, pair_of_scenario
from checks.cases.redaction import redacted
from checks.cases.writing import case_json, case_of_pair, codes_of
from checks.exact.judge import judge_pair
from checks.findings import Finding
from checks.pair import Pair
from tests.support.case_builder import (
    call,
    chunk,
    message,
    request,
    streamed,
    token,
    token_stream,
    usage,
)
from tests.support.cases import KINDS, TRIALS
from traces.cases.case import Case, CaseScenario, parse_case, read_case
from traces.wire.response import Response

SECRET = "sk-live-0123456789abcdef"


def redact(text: str) -> str:
    return re.sub(r"sk-live-\w+", "[secret]", text)


def pair_of(**parts: object) -> Pair:
    pair = pair_of_scenario(CaseScenario.model_validate({"name": "x", **parts}))
    assert pair is not None
    return pair


def written(pair: Pair) -> list[tuple[Finding, Case]]:
    """A case per error finding, each read back from its JSON text."""
    findings = judge_pair(pair).findings
    result = []
    for finding in findings:
        if finding.severity == "error":
            case = case_of_pair(pair, finding, findings, redact)
            assert case is not None, finding.code
            result.append((finding, parse_case(json.dumps(case_json(case)), "written")))
    return result


def test_every_fault_can_be_written_again() -> None:
    count = 0
    for file in (*KINDS, *TRIALS):
        for scenario in read_case(file).scenarios:
            pair = pair_of_scenario(scenario)
            if pair is None:
                continue
            codes = judge_pair(pair).codes
            for _, case in written(pair):
                (result,) = judge_case(case, "written")
                assert result.as_expected
                assert result.judgement.codes == codes, (file.name, scenario.name)
                count += 1
    assert count >= 30


LOST = {
    "request": request(
        messages=[{"role": "user", "content": f"key {SECRET}"}] * 9, cache_salt="s", seed=3
    ),
    "baseline": {
        "message": message("Now.", None, [call(), call(arguments='{"path": "b.py"}')]),
        "finish_reason": "tool_calls",
    },
    "candidate": streamed("Now.", calls=[call()], finish="tool_calls"),
}


def test_what_is_not_needed_is_left_out() -> None:
    ((_, case),) = written(pair_of(**LOST))
    scenario = case_json(case)["scenarios"][0]
    assert scenario["request"].get("messages", []) == []
    assert "cache_salt" not in scenario["request"]
    assert len(json.dumps(scenario)) < 1200
    assert scenario["expected"] == {
        "verdict": "fail",
        "codes": ["TOOL_CALL_LOST"],
        "note": "1 calls, the baseline has 2",
    }


def test_a_prompt_that_is_needed_is_kept() -> None:
    run = ["SELECT", " ", "invoice_no", " ", "FROM", " ", "ledger"]
    pair = pair_of(
        request=request(messages=[{"role": "user", "content": "FROM ledger"}]),
        baseline={"tokens": [token("return"), token(" x", -0.02)]},
        candidate=token_stream(
            [token(t, -0.01 - i / 1000) for i, t in enumerate(["return", *run])],
            neighbours=[{"id": "n", "text": "SELECT invoice_no FROM ledger WHERE"}],
        ),
    )
    codes = {case.kind: codes_of(case_json(case)["scenarios"][0]) for _, case in written(pair)}
    assert codes == {
        "cross_request_leak": ["CROSS_REQUEST_LEAK", "GREEDY_DIVERGENCE"],
        "greedy_divergence": ["CROSS_REQUEST_LEAK", "GREEDY_DIVERGENCE"],
    }


@pytest.mark.parametrize("place", ["content", "arguments", "tokens", "raw"])
def test_no_secret_is_written(place: str) -> None:
    pieces = [token(t, -0.01) for t in ("key ", "sk-", "live-", "0123456789abcdef", "!")]
    content = f"key {SECRET}!"
    arguments = json.dumps({"path": SECRET})
    parts = {
        "content": {
            "baseline": {"message": message(content), "finish_reason": "stop"},
            "candidate": streamed(f"lost {content}"),
        },
        "arguments": {
            "baseline": {
                "message": message(None, None, [call(arguments=arguments)]),
                "finish_reason": "tool_calls",
            },
            "candidate": streamed(
                calls=[call(arguments=arguments + arguments)], finish="tool_calls"
            ),
        },
        "tokens": {
            "baseline": {"tokens": [*pieces, token(" end", -0.02, **{"\n": -9.0})]},
            "candidate": token_stream([*pieces, token("\n", -0.03)]),
        },
        "raw": {
            "baseline": {"message": message("x"), "finish_reason": "stop"},
            "candidate": streamed("xy", raw_text=f"x<|im_end|>{SECRET}"),
        },
    }[place]
    pair = pair_of(request=request(), **parts)
    codes = judge_pair(pair).codes
    assert codes
    for _, case in written(pair):
        text = json.dumps(case_json(case))
        assert "0123456789abcdef" not in text
        assert "sk-live" not in text
        assert codes_of(case_json(case)["scenarios"][0]) == codes
        if place == "tokens":
            assert str(pieces[3]["id"]) not in text


def test_renumbered_ids_keep_what_is_equal() -> None:
    scenario = {
        "name": "x",
        "request": {"logit_bias": {"7": -100}},
        "candidate": {
            "chunks": [chunk({"content": SECRET}, ids=[7, 9, 7]), usage(3)],
            "tokens": [{"id": 7, "text": SECRET}, {"id": 9}, {"id": 7}],
        },
    }
    clean = redacted(scenario, redact)
    ids = clean["candidate"]["chunks"][0]["choices"][0]["token_ids"]
    assert ids[0] == ids[2] != ids[1]
    assert list(clean["request"]["logit_bias"]) == [str(ids[0])]
    assert [t["id"] for t in clean["candidate"]["tokens"]] == ids
    assert "text" not in clean["candidate"]["tokens"][0]


def test_a_clean_scenario_keeps_its_ids() -> None:
    scenario = {"name": "x", "candidate": {"tokens": [{"id": 7, "text": "ok"}]}}
    assert redacted(scenario, redact) == scenario


def test_a_flaw_of_both_streams_does_not_become_the_candidates() -> None:
    from checks.pair import pair_of_responses
    from traces.wire.reassembly import response_of_chunks

    def stream(content: str):  # type: ignore[no-untyped-def]
        return response_of_chunks([chunk({"content": content}, "stop", [1, 2])], done=False)

    pair = pair_of_responses(request(), stream("one two"), stream("one tow"))
    findings = judge_pair(pair).findings
    error = next(f for f in findings if f.severity == "error")
    assert {f.code for f in findings if f.baseline_too} == {"STREAM_NO_DONE", "USAGE_MISSING"}
    case = case_of_pair(pair, error, findings, redact)
    assert case is not None
    assert codes_of(case_json(case)["scenarios"][0]) == ["CONTENT_DIFF"]


def test_a_stall_keeps_its_gap() -> None:
    base = {"message": message("ok"), "finish_reason": "stop", "gap_p99_ms": 20.0}
    candidate = streamed("ok", chunk_times_ms=[5.0, 10.0, 5000.0])
    ((finding, case),) = written(pair_of(request=request(), baseline=base, candidate=candidate))
    assert finding.code == case.kind.upper() == "CHUNK_STALL"


def test_an_unscored_finding_has_no_case() -> None:
    pair = pair_of(**LOST)
    other = Finding("REGRET_RATE", "only a run shows it")
    assert case_of_pair(pair, other, [other], redact) is None


def test_an_invalid_schema_does_not_make_the_case_unreadable() -> None:
    broken = {"type": "function", "function": {"name": "ls", "parameters": {"type": "strng"}}}
    lost = LOST | {"request": request(tools=[*request()["tools"], broken])}
    for _, case in written(pair_of(**lost)):
        judge_case(case, "written")


def test_a_second_name_of_both_streams_is_left_out_of_a_case() -> None:
    """Such a flaw is the server's, and a case holds the candidate's stream alone."""
    candidate = streamed(finish="tool_calls")
    candidate["chunks"][1:1] = [
        chunk({"tool_calls": [{"index": 0, **call()}]}),
        chunk({"tool_calls": [{"index": 0, "function": {"name": "list_todos"}}]}),
    ]
    alone = pair_of(request=request(), candidate=candidate)
    assert [finding.code for finding, _ in written(alone)] == ["TOOL_HEADER_CHANGED"]
    both = replace(alone, baseline=alone.candidate)
    late = replace(both, candidate=replace(both.candidate, stream=_not_done(both)))
    findings = judge_pair(late).findings
    assert {f.code for f in findings if f.baseline_too} == {"TOOL_HEADER_CHANGED"}
    (finding,) = (f for f in findings if f.severity == "error")
    case = case_of_pair(late, finding, findings, redact)
    assert case is not None
    assert case.scenarios[0].expected.codes == ["STREAM_NO_DONE"]


def _not_done(pair: Pair) -> Response:
    assert pair.candidate.stream is not None
    return replace(pair.candidate.stream, done=False)
