"""The assertions: what passes, what fails and how it reads, and what can be neither."""

import json
import string
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from checks.bounds import Bound
from checks.verdict import Verdict
from draftgate.run.outcome import GateOutcome
from draftgate.testing import (
    Inconclusive,
    SplitWarning,
    assert_equivalent,
    assert_gate_passed,
    assert_split_invariant,
    assert_stream_intact,
    assert_tool_calls_valid,
)
from draftgate.testing.both_paths import BothPaths
from draftgate.testing.masking import SHORTEST, Mask
from draftgate.testing.pieces import pieces_of
from tests.support.answers import answer, both
from traces.cases.case import CaseScenario
from traces.wire.response import Usage

A, B, C = (1, "a", -0.1), (2, " b", -0.2), (3, " c", -0.15)


def test_equal_tokens_pass() -> None:
    assert_equivalent(both({}, {}, content="a b", tokens=[A, B]))


def test_cache_hits_are_left_to_a_whole_run() -> None:
    """A turn alone does not tell the block size: one block of 128 tokens is no loss."""
    pair = both({}, {}, content="a b", tokens=[A, B])
    cached = [
        replace(a, response=replace(a.response, usage=Usage(1000, 2, cached=n)))
        for a, n in ((pair.baseline, 512), (pair.candidate, 384))
    ]
    assert_equivalent(BothPaths(*cached))


def test_lost_text_is_shown_as_a_difference() -> None:
    pair = both({"content": "first\nsecond"}, {"content": "first"}, tokens=[A, B])
    with pytest.raises(AssertionError) as caught:
        assert_equivalent(pair)
    lines = str(caught.value).splitlines()
    assert lines[0] == "chat-t0001-ls: CONTENT_DIFF"
    assert lines[2:4] == ["--- baseline: content", "+++ candidate: content"]
    assert "-second" in lines


def test_lost_calls_are_shown_as_a_difference() -> None:
    calls = [("ls", '{"path": "a"}'), ("ls", '{"path": "b"}')]
    pair = both({"calls": calls}, {"calls": calls[:1]}, tokens=[A, B], finish="tool_calls")
    with pytest.raises(AssertionError, match="TOOL_CALL_LOST") as caught:
        assert_equivalent(pair)
    assert '- "path": "b"' in str(caught.value).splitlines()


def test_a_hard_fork_is_shown_with_the_tokens_around_it() -> None:
    baseline = [A, (2, " b", -0.1, {3: -4.0})]
    pair = both({"content": "a b", "tokens": baseline}, {"content": "a c", "tokens": [A, C]})
    with pytest.raises(AssertionError, match="GREEDY_DIVERGENCE") as caught:
        assert_equivalent(pair)
    text = str(caught.value)
    assert "  baseline   'a' ▸' b'" in text
    assert "  candidate  'a' ▸' c'" in text
    assert "-4.00" in text
    assert_equivalent(pair, hard_bound=5.0)


def test_a_near_tie_passes() -> None:
    baseline = [A, (2, " b", -0.7, {3: -0.8})]
    assert_equivalent(
        both({"content": "a b", "tokens": baseline}, {"content": "a c", "tokens": [A, C]})
    )


@pytest.mark.parametrize(
    ("pair", "reason"),
    [
        (both({}, {}, status=400), "both paths refuse the turn (400 and 400)"),
        (
            both({"tokens": [A, B]}, {"tokens": [A, C]}, request={"temperature": 1}),
            "only a run judges the distribution",
        ),
        (
            both({"tokens": [A, (2, " b", -0.9)]}, {"tokens": [A, C]}),
            "the baseline's scores do not tell by how much",
        ),
        (both({"content": "a"}, {"content": "b"}), "without token ids"),
    ],
)
def test_what_cannot_be_known_is_inconclusive(pair: Any, reason: str) -> None:
    with pytest.raises(Inconclusive) as caught:
        assert_equivalent(pair)
    assert reason in str(caught.value)


def test_equal_texts_pass_without_token_ids() -> None:
    calls = [("ls", '{"path": "a"}')]
    pair = both({"calls": calls}, {"calls": [("ls", '{"path":"a"}')]}, finish="tool_calls")
    assert_equivalent(pair)


def test_one_path_that_refuses_fails() -> None:
    with pytest.raises(AssertionError, match="HTTP_STATUS_MISMATCH"):
        assert_equivalent(both({}, {"status": 400}))
    with pytest.raises(AssertionError, match="HTTP_STATUS_MISMATCH"):
        assert_equivalent(both({}, {"status": None}))


def test_a_whole_stream_passes_and_a_cut_one_fails() -> None:
    request = {"stream_options": {"include_usage": True}}
    assert_stream_intact(answer("a", request=request))
    with pytest.raises(AssertionError, match="STREAM_NO_FINISH, STREAM_NO_DONE"):
        assert_stream_intact(answer("a", finish=None, done=False))
    with pytest.raises(AssertionError, match="TOKEN_IDS_GAP"):
        assert_stream_intact(answer("a b", tokens=[A, B], completion=3))
    with pytest.raises(AssertionError, match="candidate of chat-t0001-ls: 503"):
        assert_stream_intact(answer(status=503))


def test_what_the_baseline_does_too_is_not_the_candidates_fault() -> None:
    assert_stream_intact(both({}, {}, content="a", done=False))
    with pytest.raises(AssertionError, match="STREAM_NO_DONE"):
        assert_stream_intact(both({}, {"done": False}, content="a"))


@pytest.mark.parametrize(
    ("calls", "code"),
    [
        ([("ls", '{"path": "a"')], "ARGS_NOT_JSON"),
        ([("ls", '{"path": 1}')], "ARGS_SCHEMA"),
        ([("rm", "{}")], "TOOL_UNKNOWN"),
        ([("", "{}")], "TOOL_HEADER_MISSING"),
    ],
)
def test_calls_a_client_cannot_run_fail(calls: list[tuple[str, str]], code: str) -> None:
    with pytest.raises(AssertionError, match=code):
        assert_tool_calls_valid(answer(calls=calls, finish="tool_calls"))


def test_calls_a_client_can_run_pass() -> None:
    good = answer(calls=[("ls", '{"path": "a"}')], finish="tool_calls")
    assert_tool_calls_valid(good, at_least=1)
    assert_tool_calls_valid(answer("no call"))
    assert_tool_calls_valid(answer(calls=[("ls", '{"pa')], finish="length"))
    with pytest.raises(AssertionError, match="1 tool calls, expected at least 2"):
        assert_tool_calls_valid(good, at_least=2)


def test_calls_are_compared_with_the_baseline_s() -> None:
    calls = {"calls": [("ls", '{"path": "a"}')]}
    other = {"calls": [("ls", '{"path": "b"}')]}
    shared: dict[str, Any] = {"tokens": [A], "finish": "tool_calls"}
    assert_tool_calls_valid(both(calls, calls, **shared))
    with pytest.raises(AssertionError, match="ARGS_DIFFER"):
        assert_tool_calls_valid(both(calls, other, **shared))


TEXT = 'Reading.\n<tool_call>{"name": "ls", "arguments": {"path": "a"}}</tool_call>'


def sound(deltas: Sequence[str]) -> dict[str, Any]:
    """Waits for the whole text."""
    head, _, rest = "".join(deltas).partition("<tool_call>")
    call = json.loads(rest.partition("</tool_call>")[0])
    return {"content": head, "tool_calls": [call]}


def hasty(deltas: Sequence[str]) -> dict[str, Any]:
    """Loses what follows the opening marker in the same delta."""
    content, call, inside = "", "", False
    for delta in deltas:
        if not inside and "<tool_call>" in delta:
            content += delta.partition("<tool_call>")[0]
            inside = True
        elif inside:
            call += delta.replace("</tool_call>", "")
        else:
            content += delta
    return {"content": content, "tool_calls": [{"name": "ls", "arguments": call}]}


def test_a_sound_parser_passes() -> None:
    assert_split_invariant(sound, TEXT)
    assert_split_invariant("".join, TEXT)


def test_a_hasty_parser_fails_with_the_smallest_cut_and_both_results() -> None:
    with pytest.raises(AssertionError) as caught:
        assert_split_invariant(hasty, TEXT)
    text = str(caught.value)
    assert "in one delta: '<tool_call>{'" in text
    assert "--- one token per delta" in text
    assert "+++ so cut" in text


def test_an_exception_is_a_result() -> None:
    def fragile(deltas: Sequence[str]) -> str:
        if any("<tool_call>{" in delta for delta in deltas):
            raise ValueError("no brace expected")
        return "".join(deltas)

    with pytest.raises(AssertionError, match="no brace expected"):
        assert_split_invariant(fragile, TEXT)


def test_only_one_single_delta_is_a_warning() -> None:
    def odd(deltas: Sequence[str]) -> str:
        return "" if len(deltas) == 1 else "".join(deltas)

    with pytest.warns(SplitWarning, match="everything arrives in one delta"):
        assert_split_invariant(odd, TEXT)


def spacing(deltas: Sequence[str]) -> str:
    """Drops the line end that begins a delta."""
    return "".join(d.removeprefix("\n") if i else d for i, d in enumerate(deltas))


@pytest.mark.parametrize(
    "parse",
    [
        spacing,
        lambda deltas: {"content": spacing(deltas), "tool_calls": []},
        lambda deltas: {"content": "", "reasoning": spacing(deltas)},
    ],
)
def test_white_space_of_the_text_alone_is_a_warning_as_in_the_gate(parse: Any) -> None:
    """docs/findings.md, SPLIT_VARIANT."""
    with pytest.warns(SplitWarning, match="other white space when"):
        assert_split_invariant(parse, TEXT)


@pytest.mark.parametrize(
    "parse",
    [
        lambda deltas: [spacing(deltas)],
        lambda deltas: {"arguments": spacing(deltas)},
        lambda deltas: {"content": "", "tool_calls": [{"name": "f", "arguments": spacing(deltas)}]},
    ],
)
def test_white_space_of_anything_else_counts(parse: Any) -> None:
    """A tool that writes a file writes another one."""
    with pytest.raises(AssertionError, match="arrives in one delta"):
        assert_split_invariant(parse, TEXT)


def test_a_warning_shows_no_secret() -> None:
    with pytest.warns(SplitWarning, match="REDACTED") as caught:
        assert_split_invariant(spacing, ["key ", SECRET, "\n", "here"])
    assert "api03" not in str(caught[0].message)


def test_recorded_tokens_and_their_cut_are_used() -> None:
    """The cut that was recorded is tried even where none other would be."""

    def parse(deltas: Sequence[str]) -> str:
        return "lost" if list(deltas) == ["ab", "c", "de"] else "".join(deltas)

    candidate = {"tokens": [{"text": letter} for letter in "abcde"], "step_tokens": [2, 1, 2]}
    scenario = CaseScenario.model_validate({"name": "seen", "candidate": candidate})
    with pytest.raises(AssertionError, match="lost"):
        assert_split_invariant(parse, scenario, cuts=0)
    raw = CaseScenario.model_validate({"name": "seen", "candidate": {"raw_text": TEXT}})
    assert_split_invariant(sound, raw)
    tokens = [(i, text, -0.1) for i, text in enumerate(pieces_of(TEXT))]
    assert_split_invariant(sound, answer(tokens=[*tokens, (99, "<|im_end|>", -0.1)]))


@pytest.mark.parametrize(
    "output", ["", ["one"], answer("text"), CaseScenario.model_validate({"name": "empty"})]
)
def test_an_output_that_cannot_be_cut_is_inconclusive(output: Any) -> None:
    with pytest.raises(Inconclusive):
        assert_split_invariant("".join, output)


@given(st.text() | st.text(alphabet="<>|tool_call/{}\"' \n[]A"))
def test_pieces_join_to_the_text(text: str) -> None:
    assert "".join(pieces_of(text)) == text


def test_markers_are_one_piece() -> None:
    text = '<tool_call>{"path": "src/main.py"}<|im_end|><｜tool▁sep｜>[TOOL_CALLS]</think>'
    pieces = pieces_of(text)
    for marker in ("<tool_call>", "<|im_end|>", "<｜tool▁sep｜>", "[TOOL_CALLS]", "</think>"):
        assert marker in pieces


SECRET = "sk-ant-" + "api03-Zq1Xw2Ec3Rv4Tb5Yn6Um7Ik8Ol9Pa0Sd"


@given(st.integers(0, len(SECRET)), st.integers(0, len(SECRET)), st.text(string.ascii_letters))
def test_no_piece_of_a_secret_is_printed(start: int, end: int, around: str) -> None:
    shown = Mask([f"key {SECRET} here"])(f"{around} {SECRET[start:end]} {around}")
    pieces = {SECRET[i : i + SHORTEST] for i in range(len(SECRET) - SHORTEST + 1)}
    assert not any(piece in shown for piece in pieces)


def test_masking_leaves_the_rest() -> None:
    mask = Mask([f"key {SECRET}"])
    assert mask("nothing here\n\tat all") == "nothing here\n\tat all"
    assert mask(f"a {SECRET} b") == "a REDACTED_ANTHROPIC_KEY_1 b"
    assert mask("\x1b[2J") == "\\x1b[2J"


def test_failures_show_no_secret_and_nothing_a_terminal_obeys() -> None:
    long = f"export KEY={SECRET}\n" + "x" * 40 + "\x1b]0;owned\x07"
    texts = (long, long.replace("Ol9", "Ol8"))
    pair = both({"content": texts[0]}, {"content": texts[1]}, tokens=[A, B])
    with pytest.raises(AssertionError) as caught:
        assert_equivalent(pair)
    text = str(caught.value)
    assert "api03" not in text
    assert "Zq1Xw2Ec" not in text
    assert "\x1b" not in text
    calls = [("ls", json.dumps({"path": SECRET, "n": 1})[:-1])]
    with pytest.raises(AssertionError) as caught:
        assert_tool_calls_valid(answer(calls=calls, finish="tool_calls"))
    assert "api03" not in str(caught.value)


def test_reprs_hold_no_recorded_text() -> None:
    pair = both({}, {}, content="recorded words", tokens=[A, B])
    assert "recorded" not in repr(pair) + repr(pair.candidate)
    assert repr(pair.candidate) == "<candidate of chat-t0001-ls: 200, 2 tokens, finish stop>"


def outcome(word: Any, *reasons: str, needed: tuple[str, ...] = ()) -> GateOutcome:
    from pathlib import Path

    bound = Bound("sessions", "pass", "enough")
    verdict = Verdict(word, reasons, (bound,), (), (), needed)
    return GateOutcome("run-1", verdict, {"ARGS_NOT_JSON": 2}, {}, None, None, Path("gone"))


def test_verdicts() -> None:
    assert_gate_passed(outcome("pass"))
    with pytest.raises(AssertionError, match="run-1: fail\nbecause\ncodes: ARGS_NOT_JSON × 2"):
        assert_gate_passed(outcome("fail", "because"))
    with pytest.raises(AssertionError, match="invalid"):
        assert_gate_passed(outcome("invalid", "because"))
    with pytest.raises(Inconclusive, match="too few\n17 more sessions"):
        assert_gate_passed(outcome("inconclusive", "too few", needed=("17 more sessions",)))
