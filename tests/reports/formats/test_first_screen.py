"""What every report says first: the verdict in words, reasons made short, what to do next."""

import json
from collections.abc import Iterator

import pytest

from checks.findings import CODES, ERROR, INVALIDATING
from reports.formats.headline import found, length_text, strip, verdict_words
from reports.formats.markdown import render_markdown
from reports.formats.next_steps import CODE_STEPS, FAMILY_STEPS, INVALID_STEPS, next_steps
from reports.formats.reasons import reasons
from reports.store.store import Store
from reports.store.summary import Row, Summary, read_summary
from tests.support.synthetic_run import synthetic_run


@pytest.fixture(scope="module")
def store() -> Iterator[Store]:
    with Store.in_memory() as store:
        store.load(synthetic_run("r", sessions=12, tokens=100))
        yield store


@pytest.fixture
def summary(store: Store) -> Summary:
    return read_summary(store, "r")


def changed(summary: Summary, run: Row | None = None, **sections: list[Row]) -> Summary:
    return Summary({**summary.run, **(run or {})}, {**summary.sections, **sections})


@pytest.mark.parametrize(
    ("value", "low", "high", "words"),
    [
        (0.812, 0.741, 0.884, "safe, and slower: 0.81× (0.74 … 0.88)"),
        (1.6, 1.41, 1.8, "safe, and faster: 1.60× (1.41 … 1.80)"),
        (0.97, 0.9, 1.05, "safe; speed not decided: 0.97× (0.90 … 1.05)"),
        (0.5, None, None, "safe; speed not decided: 0.50× (n/a)"),
        (None, None, None, "safe; the speed was not measured"),
    ],
)
def test_a_pass_says_what_it_costs(
    summary: Summary, value: float | None, low: float | None, high: float | None, words: str
) -> None:
    (whole, *rest) = summary["speedup"]
    row = {**whole, "token_speedup": value, "token_low": low, "token_high": high}
    said = changed(summary, speedup=[row, *rest])
    assert verdict_words(said) == words
    assert words in render_markdown(said)
    first = next_steps(said)[0].text
    assert ("slower" in first) == ("slower" in words)
    assert first.startswith("Enable the drafter") == ("faster" in words)


def test_a_fail_names_the_most_frequent_fault_first(summary: Summary) -> None:
    one = {**summary["findings"][0], "severity": ERROR, "baseline_too": False}
    codes = ["ARGS_DIFFER", "GREEDY_DIVERGENCE", "GREEDY_DIVERGENCE", "DROPPED_TOKEN"]
    rows = [{**one, "code": code, "ordinal": i} for i, code in enumerate(codes)]
    said = changed(summary, {"verdict": "fail"}, findings=rows)
    assert verdict_words(said) == "not safe: GREEDY_DIVERGENCE x 2 and 2 other kinds of fault"
    assert found(said) == "4 errors (GREEDY_DIVERGENCE, ARGS_DIFFER and 1 more kinds)"
    bounds = [{**summary["bounds"][0], "state": "fail"}]
    assert verdict_words(changed(summary, {"verdict": "fail"}, findings=[], bounds=bounds)) == (
        "not safe: regret_rate"
    )


@pytest.mark.parametrize("verdict", ["pass", "aa-pass", "fail", "inconclusive", "invalid"])
def test_every_verdict_has_words_and_a_next_step(summary: Summary, verdict: str) -> None:
    said = changed(summary, {"verdict": verdict, "reasons": ["something"]})
    assert verdict_words(said)
    assert next_steps(said)


def test_every_code_has_a_next_step() -> None:
    assert set(INVALID_STEPS) == INVALIDATING
    errors = [c for c in CODES.values() if c.severity == ERROR and c.name not in INVALIDATING]
    missing = {c.name for c in errors if c.name not in CODE_STEPS and c.family not in FAMILY_STEPS}
    assert missing == {c.name for c in errors if c.family == "Set-up"} - set(CODE_STEPS)


def test_an_invalid_run_says_what_to_fix(summary: Summary) -> None:
    wrong = {**summary["differences"][0], "field": "vLLM", "allowed": False}
    run = {
        "verdict": "invalid",
        "reasons": ["PATHS_DIFFER x 1: baseline: vLLM 0.32.0, candidate …"],
    }
    texts = [step.text for step in next_steps(changed(summary, run, differences=[wrong]))]
    assert texts[0] == INVALID_STEPS["PATHS_DIFFER"]
    assert texts[1] == "These differ and may not: vLLM."
    run = {"verdict": "invalid", "reasons": ["no turn was answered"]}
    assert next_steps(changed(summary, run))[0].text == "Fix what the first reason names."


def test_an_undecided_run_says_how_much_more(summary: Summary) -> None:
    open_bound = {**summary["bounds"][0], "state": "inconclusive", "needed": "8,000 more tokens"}
    run = {"verdict": "inconclusive", "config": json.dumps({"run": {"max_sessions": 12}})}
    texts = [s.text for s in next_steps(changed(summary, run, bounds=[open_bound]))]
    assert texts == [
        "Replay more: raise `max_sessions` (now 12).",
        "`regret_rate` needs 8,000 more tokens.",
    ]
    run["config"] = json.dumps({"run": {"max_sessions": 40, "max_turns": 48}})
    texts = [s.text for s in next_steps(changed(summary, run, bounds=[open_bound]))]
    assert texts[0] == "Replay more: raise `max_turns` (now 48)."
    run["config"] = json.dumps({"run": {"max_sessions": None}})
    assert "[run] sessions" in next_steps(changed(summary, run, bounds=[open_bound]))[0].text


def test_reasons_are_short_and_keep_all_that_is_behind_them(summary: Summary) -> None:
    long = "GREEDY_DIVERGENCE x 69: " + "regret of token 4 " * 30
    message = "308 of 29143 candidate tokens; " * 9
    bound = f"regret_rate: {message}"
    given = [long, bound, "no control was planted", "evil\x1b[2J: x"]
    first, second, third, fourth = reasons(changed(summary, {"reasons": given}))
    assert (first.head, first.code, first.detail) == (
        "GREEDY_DIVERGENCE x 69",
        "GREEDY_DIVERGENCE",
        long,
    )
    assert len(first.text) <= 162
    assert first.text.endswith(" …")
    assert (second.head, second.detail) == ("regret_rate", message)
    assert second.text == "0.0001 per token (0 … 0.0002), margin 0.0003 per token"
    assert (third.head, third.text, third.detail) == ("", "no control was planted", None)
    assert fourth.text == "evil\\x1b[2J: x"


def test_a_fail_gives_its_most_frequent_fault_first(summary: Summary) -> None:
    given = ["ARGS_DIFFER x 2: a", "DROPPED_TOKEN x 11: b", "regret_rate: c", "ARGS_SCHEMA x 2: d"]
    heads = [r.head for r in reasons(changed(summary, {"verdict": "fail", "reasons": given}))]
    assert heads == ["DROPPED_TOKEN x 11", "ARGS_DIFFER x 2", "ARGS_SCHEMA x 2", "regret_rate"]


def test_few_sessions_show_the_length_without_an_interval(summary: Summary) -> None:
    (whole,) = summary["acceptance"]
    few = {**whole, "enough": False, "sessions": 8}
    value = f"{whole['acceptance_length']:.3f}"
    assert length_text(few) == f"{value} (few sessions)"
    assert length_text({**few, "acceptance_length": None}) == "n/a"
    said = changed(summary, acceptance=[few])
    assert dict(strip(said))["acceptance length"] == f"{value} (few sessions)"


def test_the_strip_of_a_run_that_never_got_far(summary: Summary) -> None:
    nothing = [{"sessions": 0, "turns": 0, "tokens": 0}]
    bare = changed(summary, paths=[], acceptance=[], speedup=[], findings=[], replayed=nothing)
    facts = dict(strip(bare))
    assert facts["drafter"] == facts["k"] == facts["speed"] == facts["acceptance length"] == "n/a"
    assert facts["found"] == "no error, no warning"
