"""Split invariance of a run's own outputs, streamed by vLLM's parsers as a server streams them."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from checks.sessions.pairs import LivePair
from checks.splits.markup import FORMATS, CallToWrite
from checks.vllm import cutter
from checks.vllm.split_run import SplitRun
from checks.vllm.splits import judge_split_invariance
from draftgate.cli import run
from draftgate.config.config import Config
from draftgate.config.file import parse_config
from draftgate.run.conclusion import write_cases
from draftgate.run.target import served_parsers
from tests.support.parsed_stream import capture
from traces.journal.exchange import Exchange, TurnId, exchange_of
from traces.journal.path_facts import ModelFacts, PathFacts
from traces.journal.served_parsers import ServedParsers
from traces.wire.capture import Capture

READ = CallToWrite("read_file", {"path": "src/a.py", "lines": 12})
WRITE = CallToWrite("write_file", {"path": "b.md", "content": "if x < 3:\n    print('é✅')\n"})
K = 3


@pytest.fixture(scope="module", autouse=True)
def _vllm() -> None:
    pytest.importorskip("vllm")


def exchanges(*captures: Capture) -> Mapping[TurnId, Exchange]:
    return {(c.key.session, c.key.turn): exchange_of(c) for c in captures}


def judge(*captures: Capture, tool: str | None, reasoning: str | None = None) -> SplitRun:
    served = ServedParsers(tool, reasoning, "built-in")
    return judge_split_invariance(exchanges(*captures), {}, served, K, seed=0)


def calls(name: str, *written: CallToWrite) -> str:
    return FORMATS[name].write(written)


def without(found: Capture, *keys: str) -> Capture:
    """The capture as it is after its deltas lost these fields on the way."""
    events = []
    for at, text in found.events:
        assert isinstance(text, str)
        if text.startswith("data: {"):
            chunk = json.loads(text.removeprefix("data: "))
            delta = chunk["choices"][0]["delta"]
            chunk["choices"][0]["delta"] = {k: v for k, v in delta.items() if k not in keys}
            text = f"data: {json.dumps(chunk)}\n\n"
        events.append((at, text))
    return replace(found, events=tuple(events))


HERMES = ("hermes", None)
OTHERWISE = "Then reading.\n" + calls("hermes", WRITE)


@pytest.mark.parametrize(
    ("text", "lost", "baseline", "codes"),
    [
        ("Reading.\n" + calls("hermes", READ), ("content",), OTHERWISE, ["CONTENT_DIFF"]),
        ("Reading.\n" + calls("hermes", READ), ("tool_calls",), OTHERWISE, ["TOOL_CALL_LOST"]),
        ("Reading.\n" + calls("hermes", READ), (), OTHERWISE, []),
        # Equal tokens: the baseline's message is the reference, and the exact checks speak.
        (OTHERWISE, ("content",), OTHERWISE, []),
    ],
)
def test_what_a_forked_output_lost_on_the_way_is_seen(
    text: str, lost: tuple[str, ...], baseline: str, codes: list[str]
) -> None:
    sent = without(capture("t", text, HERMES), *lost)
    baseline_answer = capture("t", baseline, HERMES)
    served = ServedParsers("hermes", None, "built-in")
    done = judge_split_invariance(exchanges(sent), exchanges(baseline_answer), served, K, seed=0)
    assert [finding.code for finding in done.findings if finding.severity == "error"] == codes


def test_what_an_output_beyond_the_budget_lost_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nine outputs lost their content; one of them is cut, and the others are parsed."""
    monkeypatch.setattr(cutter, "BUDGET", 1)
    text = "Reading.\n" + calls("hermes", READ)
    sent = [without(capture(f"t{n}", text, HERMES), "content") for n in range(9)]
    answers = [capture(f"t{n}", OTHERWISE, HERMES) for n in range(9)]
    served = ServedParsers("hermes", None, "built-in")
    done = judge_split_invariance(exchanges(*sent), exchanges(*answers), served, K, seed=0)
    assert [finding.code for finding in done.findings] == ["CONTENT_DIFF"] * 9
    assert {finding.turn for finding in done.findings} == {f"t{n}" for n in range(9)}
    assert done.counts["split_left_out"] == 8
    sound = [capture(f"t{n}", text, HERMES) for n in range(9)]
    done = judge_split_invariance(exchanges(*sound), exchanges(*answers), served, K, seed=0)
    assert [finding for finding in done.findings if finding.severity == "error"] == []


def test_a_parser_that_is_not_the_servers_accuses_nobody() -> None:
    sent = without(capture("t", "Reading.\n" + calls("hermes", READ), HERMES), "content")
    baseline_answer = without(capture("t", OTHERWISE, HERMES), "content")
    served = ServedParsers("hermes", None, "built-in")
    done = judge_split_invariance(exchanges(sent), exchanges(baseline_answer), served, K, seed=0)
    assert done.findings == ()


def test_a_sound_parser_passes_with_its_end_token() -> None:
    texts = [calls("hermes", READ), "Reading.\n" + calls("hermes", READ, WRITE), "Just prose."]
    outputs = [capture(f"t{n}", text, ("hermes", None)) for n, text in enumerate(texts)]
    done = judge(*outputs, tool="hermes")
    assert done.findings == ()
    assert done.counts["split_cut"] == 3
    assert done.counts["split_cuts"] > 100
    assert "hermes parsed 3 outputs" in done.statements[0]
    (control,) = done.controls
    assert (control.state, control.fired) == ("caught", ("SPLIT_VARIANT",))


def test_a_cut_sensitive_parser_is_an_error_with_a_case(tmp_path: Path) -> None:
    secret = CallToWrite("read_file", {"path": "AKIA" + "Q7ZXCVBNM2L4K6J8"})
    output = capture("t0", calls("step3", secret), ("step3", None), step=1)
    done = judge(output, tool="step3")
    (finding,) = done.findings
    assert (finding.code, finding.severity) == ("SPLIT_VARIANT", "error")
    assert (finding.session, finding.turn) == ("s", "t0")
    assert "as one step of up to 4 tokens sends it" in finding.message
    live = [LivePair(("s", "t0"), "main", pair=None)]  # type: ignore[arg-type]
    (name,) = write_cases(tmp_path / "cases", done.findings, live, done.cases, redact=True).values()
    text = Path(name).read_text(encoding="utf-8")
    assert "AKIA" not in text
    case = json.loads(text)["scenarios"][0]
    assert case["context"]["tokenizer"] == "built-in"
    assert run(["check", name]) == 1
    assert case["expected"]["codes"] == ["SPLIT_VARIANT"]


def test_so_many_variant_outputs_are_enough() -> None:
    outputs = [capture(f"t{n}", calls("step3", READ), ("step3", None), step=1) for n in range(9)]
    done = judge(*outputs, tool="step3")
    assert (len(done.findings), done.counts["split_left_out"]) == (5, 4)


def test_the_budget_leaves_outputs_out_and_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cutter, "BUDGET", 1)
    outputs = [capture(f"t{n}", calls("hermes", READ), ("hermes", None)) for n in range(3)]
    done = judge(*outputs, tool="hermes")
    assert (done.counts["split_cut"], done.counts["split_left_out"]) == (1, 2)
    assert [item.reason for item in done.not_judged] == ["beyond what is cut in one run (2 turns)"]


def test_the_draw_is_seeded() -> None:
    texts = [f"Answer {n}. " * 3 for n in range(12)]
    outputs = exchanges(*[capture(f"t{n}", t, ("hermes", None)) for n, t in enumerate(texts)])
    served = ServedParsers("hermes", None, "built-in")
    first, again, other = (
        judge_split_invariance(outputs, {}, served, K, seed) for seed in (1, 1, 2)
    )
    assert first.counts == again.counts == other.counts


@pytest.mark.parametrize(
    ("output", "fate"),
    [
        ({"text": calls("hermes", READ)[:-20], "finish": "length", "end": ""}, "unfinished"),
        ({"text": calls("hermes", READ).replace("}}", "]}")}, "malformed"),
        ({"text": "<tool_call>read_file` is the name.", "finish": "stop"}, "malformed"),
        ({"text": "word " * 3000, "finish": "stop", "step": 50}, "too_long"),
    ],
)
def test_what_is_not_cut_is_counted(output: dict[str, Any], fate: str) -> None:
    text = output.pop("text")
    done = judge(capture("t0", text, ("hermes", None), **output), tool="hermes")
    assert done.findings == ()
    assert done.counts == {"split_cuts": 0, f"split_{fate}": 1}
    assert len(done.not_judged) == 1


def test_a_parser_the_server_does_not_run_condemns_nobody() -> None:
    """The outputs are step3's; hermes gives other results than the client got."""
    done = judge(capture("t0", calls("hermes", READ), ("hermes", None)), tool="step3")
    assert done.findings == ()
    assert done.counts["split_not_reproduced"] == 1
    assert "do not give what the client got" in done.not_judged[0].reason


@pytest.mark.parametrize("wrong", [10**6, 2**40, -1])
def test_ids_of_another_tokenizer_condemn_nobody(wrong: int) -> None:
    found = capture("t0", calls("hermes", READ), ("hermes", None))
    at, text = found.events[0]
    chunk = json.loads(str(text).removeprefix("data: "))
    chunk["choices"][0]["token_ids"] = [wrong, wrong]
    events = ((at, f"data: {json.dumps(chunk)}\n\n"), *found.events[1:])
    done = judge(replace(found, events=events), tool="hermes")
    assert (done.findings, done.counts["split_not_reproduced"]) == ((), 1)


def test_a_parsers_own_fault_is_a_warning_of_both_paths() -> None:
    """phi4_mini_json streams no call that its non-streaming parse finds."""
    text = calls("phi4_mini_json", READ)
    outputs = [capture(f"t{n}", text, ("phi4_mini_json", None)) for n in range(3)]
    done = judge(*outputs, tool="phi4_mini_json")
    (finding,) = done.findings
    assert (finding.severity, finding.baseline_too) == ("warning", True)
    assert "the parser's own fault, with or without speculation" in finding.message
    assert "3 of the outputs" in finding.message


def test_a_reasoning_parser_is_cut_too() -> None:
    text = "<think>\nLook first: a < b.\n</think>\n\n" + calls("hermes", READ)
    done = judge(capture("t0", text, ("hermes", "qwen3")), tool="hermes", reasoning="qwen3")
    assert (done.findings, done.counts["split_cut"]) == ((), 1)


@pytest.mark.parametrize(
    ("served", "reason"),
    [
        (ServedParsers(), "no parser of the server is known"),
        (ServedParsers("hermes"), "tokenizer is not known"),
        (ServedParsers("hermes", None, "/no/such/folder"), "is not on this machine"),
        (ServedParsers("nope", None, "built-in"), "has no tool parser 'nope'"),
        (ServedParsers("hermes", None, "built-in", "0.31.0"), "the server runs vLLM 0.31.0"),
        (ServedParsers("cohere_command3", None, "built-in"), "melody"),
    ],
)
def test_what_is_missing_is_said(served: ServedParsers, reason: str) -> None:
    outputs = exchanges(capture("t0", calls("hermes", READ), ("hermes", None)))
    done = judge_split_invariance(outputs, {}, served, K, seed=0)
    assert done.findings == ()
    (item,) = done.not_judged
    assert item.code == "SPLIT_VARIANT"
    assert reason in item.reason


def test_without_vllm_nothing_is_judged(monkeypatch: pytest.MonkeyPatch) -> None:
    outputs = exchanges(capture("t0", calls("hermes", READ), ("hermes", None)))
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    done = judge_split_invariance(outputs, {}, ServedParsers("hermes", None, "built-in"), K, seed=0)
    assert [item.reason for item in done.not_judged] == [
        "vLLM, whose parsers are needed, is not importable"
    ]


def test_a_vllm_that_cannot_be_imported_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(name: str) -> None:
        raise ImportError("libcudart.so.13: cannot open shared object file")

    monkeypatch.setattr("checks.vllm.names.vllm_version", lambda: broken("vllm"))
    outputs = exchanges(capture("t0", calls("hermes", READ), ("hermes", None)))
    served = ServedParsers("hermes", None, "built-in", "0.32.0")
    done = judge_split_invariance(outputs, {}, served, K, seed=0)
    assert [item.reason for item in done.not_judged] == [
        "vLLM's parsers cannot be used here: libcudart.so.13: cannot open shared object file"
    ]


def config(run_: Mapping[str, Any], flags: Sequence[str] = ()) -> Config:
    return parse_config(
        {
            "run": {"sessions": ["x"], **run_},
            "server": {"model": "m", "flags": list(flags)},
            "candidate": {"speculative_config": {"method": "ngram"}},
        },
        "test",
    )


def test_parsers_come_from_the_configuration_then_from_the_flags(tmp_path: Path) -> None:
    flags = ("--tool-call-parser", "hermes", "--reasoning-parser=qwen3")
    silent = {"candidate": [PathFacts("candidate", "http://x")]}

    def candidate(config: Config, facts: Mapping[str, Sequence[PathFacts]]) -> ServedParsers:
        return served_parsers(config, facts)["candidate"]

    assert candidate(config({}, flags), silent) == ServedParsers("hermes", "qwen3", "m")
    launched = {
        "candidate": [PathFacts("candidate", "u", version="0.32.0", command=("vllm", *flags))]
    }
    assert candidate(config({}), launched) == ServedParsers("hermes", "qwen3", "m", "0.32.0")
    named = {"tool_parser": "glm45", "reasoning_parser": "glm45", "tokenizer": "t"}
    assert candidate(config(named, flags), launched) == ServedParsers(
        "glm45", "glm45", "t", "0.32.0"
    )
    model = ModelFacts("m", str(tmp_path), None)
    attached = {"candidate": [PathFacts("candidate", "u", models=(model,))]}
    unnamed = Config.model_construct()
    assert candidate(unnamed, attached) == ServedParsers(None, None, str(tmp_path))


def test_a_tokenizer_that_is_not_on_this_machine_is_not_waited_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def no_network(*arguments: object) -> None:
        raise AssertionError(f"a connection is opened: {arguments}")

    monkeypatch.setattr("socket.socket.connect", no_network)
    served = ServedParsers("hermes", None, "nobody/has-this-model")
    found = judge_split_invariance({}, {}, served, K, seed=0)
    assert "tokenizer 'nobody/has-this-model' is not on this machine" in found.unavailable
