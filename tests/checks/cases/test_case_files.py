"""Every case file is judged exactly as it says, and the case reader speaks plainly."""

import json
from pathlib import Path

import pytest

from checks.cases.judge import judge_case
from checks.findings import CODES
from tests.support.case_builder import request, streamed
from tests.support.cases import KINDS
from traces.cases.case import parse_case, read_case
from traces.errors import InputError


def test_every_kind_is_judged_as_it_says() -> None:
    assert len(KINDS) == 25
    wrong = []
    for file in KINDS:
        for result in judge_case(read_case(file), file.name):
            if not result.as_expected:
                wrong.append((file.name, result.name, result.judgement.codes, result.expected))
    assert wrong == []


def test_every_kind_holds_a_fault_and_a_near_miss() -> None:
    for file in KINDS:
        verdicts = {s.expected.verdict for s in read_case(file).scenarios if s.expected}
        assert verdicts == {"pass", "fail"}, file.name


def case(**scenario: object) -> str:
    return json.dumps(
        {"case": 1, "kind": "k", "scenarios": [{"name": "bad"} | scenario]}, ensure_ascii=False
    )


@pytest.mark.parametrize(
    ("text", "what", "fix"),
    [
        (case(candidat={}), "scenario 'bad': candidat is not a known field", "candidate"),
        (
            case(candidate={"tokens": [{"id": 1, "logprobs": 0.1}]}),
            "scenario 'bad': candidate.tokens[0].logprobs is not a known field",
            "`logprob`",
        ),
        (case(context={"block": 16}), "context.block is not a known field", "block_size"),
        (
            case(acceptance={"profile": [{"boundary": "all"}]}),
            "acceptance.profile[0].context_bucket is missing",
            "add",
        ),
        (
            case(candidate={"neighbours": [{"id": None, "text": "a"}]}),
            "scenario 'bad': candidate.neighbours[0].id is missing",
            "add",
        ),
        (case(candidat=None), "candidat is not a known field", "candidate"),
        (case(baseline={"http_status": "400"}), "scenario 'bad': baseline.http_status", ""),
        (case(expected={"verdict": "maybe"}), "expected.verdict", ""),
        (
            case(candidate={"chunks": [{}], "chunk_times_ms": [1, 2]}),
            "chunk_times_ms has 2 entries for 1 chunks",
            "",
        ),
        ('{"case": 1, "kind": "k", "scenarios": []}', "scenarios", ""),
        ('{"case": 1, "kind": "k", "scenarioes": []}', "scenarios", ""),
        ('{"case": 2, "kind": "k", "scenarios": [{"name": "a"}]}', "case", ""),
        ("[]", "", ""),
        ("{", "not JSON", "one JSON object"),
    ],
)
def test_errors_name_file_scenario_field_and_fix(text: str, what: str, fix: str) -> None:
    with pytest.raises(InputError) as error:
        parse_case(text, "x.case.json")
    assert str(error.value).startswith("x.case.json: ")
    assert what in str(error.value)
    assert fix in error.value.fix
    assert "\n" not in str(error.value)


def test_a_file_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"missing\.json"):
        read_case(tmp_path / "missing.json")


def test_an_invalid_schema_names_its_place() -> None:
    tool = {"type": "function", "function": {"name": "ls", "parameters": {"type": "strng"}}}
    broken = parse_case(case(request=request(tools=[tool]), candidate=streamed("ok")), "x")
    with pytest.raises(InputError, match=r"x: scenario 'bad': .*tool 'ls'.*/type"):
        judge_case(broken, "x")
    wanted = {"type": "json_schema", "json_schema": {"name": "r", "schema": {"required": 1}}}
    broken = parse_case(case(request=request(response_format=wanted)), "x")
    with pytest.raises(InputError, match="output format"):
        judge_case(broken, "x")


def test_non_finite_numbers_can_be_written_in_a_case() -> None:
    text = case(candidate={"tokens": [{"id": 1, "logprob": float("nan")}]})
    (result,) = judge_case(parse_case(text, "x"), "x")
    assert result.judgement.codes == ["NON_FINITE_LOGPROBS"]


def test_an_empty_scenario_passes_and_says_so() -> None:
    (result,) = judge_case(parse_case(case(), "x"), "x")
    assert (result.judgement.verdict, result.as_expected) == ("pass", None)


@pytest.mark.parametrize(
    ("expected", "as_expected"),
    [
        ({"verdict": "fail", "codes": ["STREAM_NO_DONE"]}, True),
        ({"verdict": "fail"}, True),
        ({"verdict": "pass"}, False),
        ({"verdict": "pass", "codes": ["STREAM_NO_DONE"]}, False),
        ({"verdict": "fail", "codes": []}, False),
        ({"verdict": "fail", "codes": ["CONTENT_DIFF"]}, False),
    ],
)
def test_verdict_and_codes_are_both_compared(expected: dict, as_expected: bool) -> None:
    ended = streamed("ok") | {"done": False}
    text = case(request=request(), candidate=ended, expected=expected)
    (result,) = judge_case(parse_case(text, "x"), "x")
    assert result.judgement.codes == ["STREAM_NO_DONE"]
    assert result.as_expected is as_expected


def test_report_order_is_declaration_order() -> None:
    families = list(dict.fromkeys(code.family for code in CODES.values()))
    assert families == [
        "Set-up",
        "Transport",
        "Content",
        "Tool calls",
        "Tokens",
        "Acceptance",
        "Behavior",
    ]
