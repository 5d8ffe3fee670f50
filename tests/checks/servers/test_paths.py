"""Two paths may differ in speculation and what follows from it, and in nothing else."""

from dataclasses import replace

import pytest

from checks.findings import ERROR, PATHS_DIFFER
from checks.servers.paths import compare_fingerprints, compare_paths, compare_prompts
from traces.journal.observables import Observables
from traces.journal.path_facts import ModelFacts, PathFacts

COMMAND = ("python", "-m", "vllm", "--model", "m", "--port", "8000", "--max-model-len", "16384")
BASELINE = PathFacts(
    path="baseline",
    url="http://b",
    version="0.32.0",
    models=(ModelFacts("m", "/models/m", 16384),),
    cache={"block_size": "16", "cache_dtype": "auto", "num_gpu_blocks": "900"},
    probe_ids=(1, 2, 3),
    parser_probe={"hermes": '{"calls": [["get_weather", "{}"]]}', "mistral": '{"calls": []}'},
    command=COMMAND,
)
CANDIDATE = replace(
    BASELINE,
    path="candidate",
    url="http://c",
    cache={"block_size": "16", "cache_dtype": "auto", "num_gpu_blocks": "810"},
    command=(
        *COMMAND[:6],
        "9000",
        "--max_model_len=16384",
        "--speculative-config",
        '{"method": "eagle3"}',
        "--per-request-spec-decode-metrics=detailed",
    ),
)


def test_paths_that_differ_in_speculation_only_are_equal_and_verified() -> None:
    comparison = compare_paths([BASELINE], [CANDIDATE])
    assert comparison.findings == ()
    assert comparison.unverified == ()
    assert comparison.explained == (
        ("--per-request-spec-decode-metrics", None, "detailed"),
        ("--speculative-config", None, '{"method": "eagle3"}'),
        ("num_gpu_blocks", "900", "810"),
    )
    elsewhere = replace(BASELINE, path="candidate", command=(*COMMAND[:6], "9000", *COMMAND[7:]))
    assert compare_paths([BASELINE], [elsewhere]).explained == ()
    silent = replace(BASELINE, cache=None, command=None)
    assert compare_paths([silent], [CANDIDATE]).explained == ()


@pytest.mark.parametrize(
    ("change", "aspect", "left", "right"),
    [
        ({"version": "0.31.0"}, "vLLM version", "0.32.0", "0.31.0"),
        ({"models": (ModelFacts("m", "/other", 16384),)}, "served models", "/models/m", "/other"),
        ({"models": (ModelFacts("m", "/models/m", 8192),)}, "served models", "16384", "8192"),
        ({"cache": {"block_size": "32", "cache_dtype": "auto"}}, "cache conf", "16", "32"),
        ({"cache": {"block_size": "16", "cache_dtype": "fp8"}}, "cache conf", "auto", "fp8"),
        ({"cache": {"block_size": "16"}}, "cache conf", "auto", "{}"),
        ({"probe_ids": (1, 2, 4)}, "chat template", "3", "4"),
        ({"parser_probe": {"hermes": '{"calls": []}'}}, "parsers", "get_weather", "[]"),
        ({"command": (*COMMAND[:-1], "8192")}, "command line", "16384", "8192"),
        ({"command": (*COMMAND, "--enforce-eager")}, "command line", "{}", "--enforce-eager"),
    ],
)
def test_any_other_difference_is_one_finding_that_shows_both_sides(
    change: dict[str, object], aspect: str, left: str, right: str
) -> None:
    (finding,) = compare_paths([BASELINE], [replace(CANDIDATE, **change)]).findings  # type: ignore[arg-type]
    assert (finding.code, finding.severity) == (PATHS_DIFFER, ERROR)
    assert finding.message.startswith(aspect)
    assert "http://b" in finding.message
    assert "http://c" in finding.message
    assert left in str(finding.baseline)
    assert right in str(finding.candidate)


def test_only_the_entries_that_differ_are_shown() -> None:
    other = replace(CANDIDATE, cache={"block_size": "32", "cache_dtype": "auto"})
    (finding,) = compare_paths([BASELINE], [other]).findings
    assert (finding.baseline, finding.candidate) == (
        "{'block_size': '16'}",
        "{'block_size': '32'}",
    )


def test_a_sample_that_one_server_did_not_finish_is_no_difference() -> None:
    other = replace(CANDIDATE, parser_probe={"mistral": '{"calls": []}'})
    assert compare_paths([BASELINE], [other]).findings == ()


def test_servers_of_one_path_are_compared_too() -> None:
    second = replace(BASELINE, url="http://b2", version="0.31.0")
    (finding,) = compare_paths([BASELINE, second], [CANDIDATE]).findings
    assert "baseline http://b and baseline http://b2 differ" in finding.message


@pytest.mark.parametrize(
    ("field", "aspect"),
    [
        ("version", "vLLM version"),
        ("models", "served models"),
        ("cache", "cache configuration"),
        ("probe_ids", "chat template (probe prompt)"),
        ("parser_probe", "parsers (forced outputs)"),
    ],
)
@pytest.mark.parametrize("side", ["baseline", "candidate"])
def test_silence_is_unverified_and_not_a_difference(field: str, aspect: str, side: str) -> None:
    silent = {field: None}
    left = replace(BASELINE, **silent) if side == "baseline" else BASELINE  # type: ignore[arg-type]
    right = replace(CANDIDATE, **silent) if side == "candidate" else CANDIDATE  # type: ignore[arg-type]
    comparison = compare_paths([left], [right])
    assert comparison.findings == ()
    url = "http://b" if side == "baseline" else "http://c"
    assert comparison.unverified == (f"{aspect}: not reported by {side} {url}",)


def test_attached_servers_leave_flags_template_and_parsers_unverified() -> None:
    comparison = compare_paths(
        [replace(BASELINE, command=None)], [replace(CANDIDATE, command=None)]
    )
    assert comparison.findings == ()
    text = "\n".join(comparison.unverified)
    for hidden in ("drafter flags", "chat template text", "parser names"):
        assert hidden in text


FULL = Observables(
    token_ids=True,
    alternatives=5,
    prompt_token_ids=True,
    usage=True,
    cached_tokens=True,
    speculation=True,
    fingerprint=True,
    prompt_logprobs=True,
)


def test_servers_that_show_everything_leave_nothing_unseen() -> None:
    baseline = replace(BASELINE, observables=replace(FULL, speculation=False))
    candidate = replace(CANDIDATE, observables=FULL)
    assert compare_paths([baseline], [candidate]).unverified == ()


@pytest.mark.parametrize(
    ("lacking", "words"),
    [
        ({"token_ids": False}, "no token codes"),
        ({"alternatives": 1}, "no argmax check"),
        ({"prompt_token_ids": False, "prompt_logprobs": None}, "prompts not compared"),
        ({"usage": False}, "no token accounting"),
        ({"cached_tokens": False}, "no prefix-cache check"),
        ({"speculation": False}, "no acceptance by boundary"),
        ({"prompt_logprobs": False}, "no teacher forcing"),
    ],
)
def test_each_missing_observable_says_what_cannot_be_judged(
    lacking: dict[str, object], words: str
) -> None:
    candidate = replace(CANDIDATE, observables=replace(FULL, **lacking))  # type: ignore[arg-type]
    (line,) = compare_paths([BASELINE], [candidate]).unverified
    assert words in line
    assert "candidate http://c does not send them" in line


def test_a_path_without_servers_cannot_be_compared() -> None:
    with pytest.raises(ValueError, match="at least one server"):
        compare_paths([], [CANDIDATE])


def test_other_prompt_ids_are_placed_at_the_first_difference() -> None:
    finding = compare_prompts("s1", "t2", [1, 2, 3, 4], [1, 2, 9, 4])
    assert finding is not None
    assert (finding.code, finding.session, finding.turn) == (PATHS_DIFFER, "s1", "t2")
    assert finding.detail == {"first_difference": 2}
    shorter = compare_prompts("s1", "t2", [1, 2, 3], [1, 2])
    assert shorter is not None
    assert shorter.detail == {"first_difference": 2}


@pytest.mark.parametrize(("left", "right"), [([1], (1,)), (None, [1]), ([1], None)])
def test_equal_or_unknown_prompts_are_no_finding(left: list[int], right: list[int]) -> None:
    assert compare_prompts("s", "t", left, right) is None


def test_a_fingerprint_that_changes_within_a_path_is_another_server() -> None:
    assert compare_fingerprints("candidate", ["a", None, "a"]) is None
    finding = compare_fingerprints("candidate", ["a", "b", "a"])
    assert finding is not None
    assert finding.detail["fingerprints"] == ["a", "b"]
