"""vLLM's own parsers under other cuts; skipped where vLLM is not installed."""

import json
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

pytest.importorskip("vllm")

from checks.cases.judge import judge_case
from checks.splits.cuts import one_by_one, random_cuts
from checks.splits.judge import judge_splits
from checks.splits.markup import FORMATS, UNWRITTEN, CallToWrite
from checks.splits.samples import SAMPLES, TOOLS, samples_for
from checks.vllm.cuts import judge_cuts, tokenizer_named
from checks.vllm.names import reasoning_parser_names, tool_parser_names
from checks.vllm.parsers import ParserUnavailable, ParserUnderTest
from traces.cases.case import parse_case
from traces.errors import InputError

pytestmark = pytest.mark.vllm


@pytest.fixture(scope="module")
def tokenizer() -> Any:
    return tokenizer_named("built-in")


@pytest.fixture(scope="module")
def hermes(tokenizer: Any) -> ParserUnderTest:
    return ParserUnderTest("hermes", None, tokenizer, TOOLS)


def test_every_tool_parser_has_a_format_or_a_reason() -> None:
    assert set(tool_parser_names()) == set(FORMATS) | set(UNWRITTEN)


def test_vllm_0_32_knows_54_tool_and_38_reasoning_parsers() -> None:
    assert (len(tool_parser_names()), len(reasoning_parser_names())) == (54, 38)


@pytest.mark.parametrize("name", ["hermes", "kimi_k2", "qwen3_coder", "glm45", "deepseek_v31"])
def test_the_formats_are_right(tokenizer: Any, name: str) -> None:
    """The non-streaming parse gives back the calls that were written."""
    parser = ParserUnderTest(name, None, tokenizer, TOOLS)
    for sample in SAMPLES:
        result = parser.whole(parser.tokenize(sample.text(FORMATS[name])))
        assert [call[0] for call in result.calls] == [call.name for call in sample.calls]
        for (_, text), call in zip(result.calls, sample.calls, strict=True):
            assert json.loads(text) == call.arguments, (name, sample.name)


def test_pieces_hold_back_unfinished_characters(hermes: ParserUnderTest) -> None:
    tokens = hermes.tokenize("Ω≈ 日本 done")
    assert tokens.text == "Ω≈ 日本 done"
    assert "" in tokens.pieces
    assert not any("\ufffd" in piece for piece in tokens.pieces)


def test_step3_loses_arguments_when_the_last_two_markers_arrive_together(tokenizer: Any) -> None:
    parser = ParserUnderTest("step3", None, tokenizer, TOOLS)
    tokens = parser.tokenize(dict(samples_for("step3"))["plain"])
    judged = judge_splits(
        tokens.pieces,
        lambda cut: parser.streamed(tokens, cut),
        parser.whole(tokens),
        largest=4,
        count=20,
        seed=0,
    )
    (finding,) = judged.findings()
    assert finding.severity == "error"
    assert "<｜tool_call_end｜><｜tool_calls_end｜>" in finding.message
    assert judged.parser_fault is None


names = st.sampled_from(["read_file", "write_file", "search", "list_todos"])
hostile = st.sampled_from(
    ["<tool_call>", "</tool_call>", '"}', "\\", "{", "\n", "é✅", "\U0001f468", "}}", ""]
)
words = st.lists(st.text(max_size=6) | hostile, max_size=4).map("".join)
clean = words.filter(lambda text: not any(0xD800 <= ord(c) <= 0xDFFF for c in text))
values = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**9), 10**9) | clean,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(clean, inner, max_size=2),
    max_leaves=5,
)
arguments = st.dictionaries(st.text("abc", min_size=1), values, max_size=3)
calls = st.builds(CallToWrite, names, arguments)
prose = st.sampled_from(["", "Reading it.\n\n", "a < b, [1], {x}\n"])


@settings(deadline=None, max_examples=25, suppress_health_check=list(HealthCheck))
@given(prose, st.lists(calls, min_size=1, max_size=3), prose, st.integers(0, 10_000))
def test_kimi_k2_is_invariant_on_generated_calls(
    tokenizer: Any, before: str, made: list[CallToWrite], after: str, seed: int
) -> None:
    parser = ParserUnderTest("kimi_k2", None, tokenizer, TOOLS)
    tokens = parser.tokenize(before + FORMATS["kimi_k2"].write(made) + after)
    reference = parser.streamed(tokens, one_by_one(len(tokens.ids)))
    for cut in [*random_cuts(len(tokens.ids), 4, 4, seed), ()]:
        assert parser.streamed(tokens, cut).same(reference), cut


def test_errors_name_what_is_wrong(tokenizer: Any) -> None:
    with pytest.raises(InputError, match="no tool parser 'hermse'") as error:
        ParserUnderTest("hermse", None, tokenizer)
    assert error.value.fix.startswith("did you mean hermes?")
    with pytest.raises(ParserUnavailable, match="melody"):
        ParserUnderTest("cohere_command3", None, tokenizer, TOOLS)


def case(**context: object) -> str:
    scenario = {
        "name": "cut",
        "request": {"tools": TOOLS},
        "candidate": {"raw_text": dict(samples_for("step3"))["plain"]},
        "context": {"tokenizer": "built-in", **context},
    }
    return json.dumps({"case": 1, "kind": "split_variant", "scenarios": [scenario]})


def test_cuts_of_a_case_file() -> None:
    size = len(tokenizer_named("built-in").encode(dict(samples_for("step3"))["plain"]))
    joined = [place for place in range(1, size) if place != size - 1]
    for cuts, codes in ((joined, ["SPLIT_VARIANT"]), (list(range(1, size)), []), ([[]], [])):
        parsed = parse_case(case(tool_parser="step3", cuts=cuts), "x")
        (result,) = judge_case(parsed, "x", judge_cuts)
        assert result.judgement.codes == codes
    parsed = parse_case(case(tool_parser="step3", cuts=[[]]), "x")
    (result,) = judge_case(parsed, "x", judge_cuts)
    assert [f.severity for f in result.judgement.findings] == ["warning"]


@pytest.mark.parametrize(
    ("context", "message"),
    [
        ({"tool_parser": "nope", "cuts": [1]}, "no tool parser 'nope'"),
        ({"tool_parser": "step3", "cuts": [9999]}, "context.cuts names 9999"),
        ({"tool_parser": "cohere_command3", "cuts": [1]}, "do not go together: "),
        ({"tool_parser": "step3", "cuts": [0]}, "context.cuts names 0"),
    ],
)
def test_case_errors_name_file_scenario_and_fix(context: dict, message: str) -> None:
    with pytest.raises(InputError, match=r"^x\.json: scenario 'cut'") as error:
        judge_case(parse_case(case(**context), "x.json"), "x.json", judge_cuts)
    assert message in str(error.value)
    assert error.value.fix


def cut_codes(candidate: dict[str, Any], cuts: Any) -> list[tuple[str, str]]:
    """(code, severity) of what the cuts of a step3 case show."""
    scenario = json.loads(case(tool_parser="step3", cuts=cuts))["scenarios"][0]
    scenario["candidate"] = candidate
    text = json.dumps({"case": 1, "kind": "k", "scenarios": [scenario]})
    (result,) = judge_case(parse_case(text, "x"), "x", judge_cuts)
    return [(f.code, f.severity) for f in result.judgement.findings]


def test_an_empty_list_of_cuts_is_one_delta_and_the_end_token_is_no_text() -> None:
    plain = dict(samples_for("step3"))["plain"]
    alone = [("SPLIT_VARIANT", "warning")]
    assert cut_codes({"raw_text": plain}, []) == alone
    assert cut_codes({"raw_text": plain}, [[]]) == alone
    assert cut_codes({"raw_text": plain + "<|im_end|>"}, [[]]) == alone
    assert cut_codes({"raw_text": "Done.<|im_end|>"}, [[], [1], [1, 1, 2]]) == []


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        (10**6, "no id 1000000"),
        (2**40, "tokens.1..id: Input should be less than"),
        (-1, "tokens.1..id: Input should be greater than"),
    ],
)
def test_ids_of_another_tokenizer_are_an_error(wrong: int, said: str) -> None:
    with pytest.raises(InputError, match=f"scenario 'cut'.*{said}"):
        cut_codes({"tokens": [{"id": 5}, {"id": wrong}]}, [1])


@pytest.mark.parametrize(
    "name", ["/no/such/folder", "nobody/no-such-model", "no such name", "../x"]
)
def test_a_tokenizer_that_is_not_here_leaves_the_code_not_judged(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And nothing is asked for over the network: a case is judged without one."""

    def dial(*place: object) -> None:
        raise AssertionError(f"a connection to {place}")

    monkeypatch.setattr("socket.getaddrinfo", dial)
    parsed = parse_case(case(tool_parser="step3", cuts=[1], tokenizer=name), "x")
    (result,) = judge_case(parsed, "x", judge_cuts)
    assert [item.code for item in result.judgement.not_judged if item.code == "SPLIT_VARIANT"]
