"""What holds for any text, in any family: cover, order, streaming, look-back, linear work."""

import re
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.sessions.labelled_texts import TEXTS, Labelled
from traces.boundaries import (
    LOOK_BACK,
    Labeller,
    Span,
    label,
    label_arguments,
    token_labels,
    token_starts,
)
from traces.boundaries.families import FAMILIES, family
from traces.boundaries.label import LABELS
from traces.errors import InputError

by_name = pytest.mark.parametrize("case", TEXTS, ids=[case.name for case in TEXTS])
FRAGMENTS = sorted(
    {part for case in TEXTS for part in re.findall(r"\s+|\w+|[^\w\s]+|<[^>\n]*>", case.text)}
)


@st.composite
def outputs(draw: st.DrawFn) -> tuple[str, str]:
    """A family, and a text of its markers, of pieces of real outputs, and of noise."""
    name = draw(st.sampled_from(sorted(FAMILIES)))
    markers = sorted({tag for mode in FAMILIES[name].modes.values() for tag in mode.tags})
    lines = st.sampled_from(
        [
            "\n--- a/x\n",
            "+++ b/x\n",
            "@@ -1,2 +1 @@\n",
            "```diff\n",
            "\n```\n",
            '{"name": "',
            '"}',
            "\\n",
        ]
    )
    noise = st.text(st.sampled_from('ab "\\{}[]<>|\n-+@`:,=()é😀'), max_size=40)
    piece = st.one_of(st.sampled_from(markers), st.sampled_from(FRAGMENTS), lines, noise)
    return name, "".join(draw(st.lists(piece, max_size=25)))


def kinds(spans: list[Span]) -> list[tuple[str, str | None, str | None]]:
    return [
        (span.label, span.language, span.tool)
        for span in spans
        for _ in range(span.start, span.end)
    ]


def covers(spans: list[Span], length: int) -> bool:
    ends = [0, *(span.end for span in spans)]
    return (
        [s.start for s in spans] == ends[:-1]
        and ends[-1] == length
        and all(s.start < s.end for s in spans)
    )


@settings(max_examples=400, deadline=None)
@given(outputs(), st.booleans())
def test_every_character_has_one_label(output: tuple[str, str], thinking: bool) -> None:
    name, text = output
    spans = label(text, name, thinking=thinking)
    assert covers(spans, len(text))
    assert "".join(text[s.start : s.end] for s in spans) == text
    assert {span.label for span in spans} <= set(LABELS)


@settings(max_examples=400, deadline=None)
@given(outputs(), st.lists(st.integers(1, 40), min_size=1, max_size=60))
def test_a_stream_gets_the_labels_of_the_whole(output: tuple[str, str], cuts: list[int]) -> None:
    """However it is cut; and never are more than LOOK_BACK characters held back."""
    name, text = output
    labeller = Labeller(name)
    spans: list[Span] = []
    at = 0
    for size in cuts:
        spans += labeller.feed(text[at : at + size])
        at += size
        assert labeller.held <= LOOK_BACK
    spans += labeller.feed(text[at:])
    assert labeller.held <= LOOK_BACK
    spans += labeller.close()
    assert kinds(spans) == kinds(label(text, name))


@by_name
def test_a_prefix_has_the_final_labels_but_for_the_look_back(case: Labelled) -> None:
    final = kinds(label(case.text, case.family, case.tools, thinking=case.thinking))
    for length in range(len(case.text)):
        labeller = Labeller(case.family, case.tools, thinking=case.thinking)
        certain = kinds(labeller.feed(case.text[:length]))
        assert certain == final[: len(certain)]
        assert length - len(certain) <= LOOK_BACK


@by_name
def test_one_character_at_a_time(case: Labelled) -> None:
    labeller = Labeller(case.family, case.tools, thinking=case.thinking)
    spans = [span for character in case.text for span in labeller.feed(character)]
    spans += labeller.close()
    assert kinds(spans) == kinds(label(case.text, case.family, case.tools, thinking=case.thinking))


@pytest.mark.parametrize(
    "line", ["x" * 5000, "--- " + "x" * 5000, '{"a": "' + "y\\n" * 3000, "<" * 999]
)
@pytest.mark.parametrize(
    "name", ["plain", "hermes", "qwen3_coder", "kimi_k2", "gemma4", "pythonic"]
)
def test_long_lines_are_not_held_back(name: str, line: str) -> None:
    labeller = Labeller(name)
    for at in range(0, len(line), 50):
        labeller.feed(line[at : at + 50])
        assert labeller.held <= LOOK_BACK


@given(outputs(), st.lists(st.integers(0, 7), min_size=1))
@settings(max_examples=200, deadline=None)
def test_every_token_takes_the_label_of_its_first_character(
    output: tuple[str, str], sizes: list[int]
) -> None:
    name, text = output
    tokens, at = [], 0
    while at < len(text):
        size = sizes[len(tokens) % len(sizes)] if any(sizes) else 1
        tokens.append(text[at : at + size])
        at += size
    labels = token_labels(label(text, name), token_starts(tokens))
    final = kinds(label(text, name))
    assert len(labels) == len(tokens)
    for start, token, found in zip(token_starts(tokens), tokens, labels.names, strict=True):
        assert found == final[start][0], token


def test_a_token_at_the_end_takes_the_last_label() -> None:
    """An incomplete character at the end has no text; it belongs to what it ends."""
    assert list(token_labels(label("ab"), [0, 2]).names) == ["prose", "prose"]
    with pytest.raises(ValueError):
        token_labels([], [0])
    assert len(token_labels([], [])) == 0


def test_tools_of_tokens() -> None:
    text = '<tool_call>{"name": "ls", "arguments": {}}</tool_call>ok'
    labels = token_labels(
        label(text, "hermes"), [0, text.index("arg"), text.index("{}"), len(text) - 1]
    )
    assert tuple(labels.tools) == (None, "ls", "ls", None)


def test_arguments_alone() -> None:
    spans = label_arguments("Bash", '{"command": "ls", "n": 1} x')
    assert [(s.label, s.tool) for s in spans][3] == ("shell.command", "Bash")
    assert covers(spans, 27)
    assert label_arguments(None, "") == []


def test_an_unknown_family_is_an_error_that_names_the_known() -> None:
    with pytest.raises(InputError) as caught:
        family("hermess")
    assert "hermess" in str(caught.value)
    assert "hermes" in caught.value.fix


@pytest.mark.parametrize(
    ("name", "unit"),
    [
        ("plain", "a line of prose, not long\n"),
        ("hermes", '<tool_call>{"name": "f", "arguments": {"content": "a\\nb\\"c"}}</tool_call>\n'),
        ("plain", "`" * 50),
        ("hermes", "<tool_call>"),
        ("hermes", "<tool_cal"),
        ("kimi_k2", '<|tool_calls_section_begin|>{"'),
        ("qwen3_coder", "<parameter="),
    ],
)
def test_time_grows_with_the_text_and_no_faster(name: str, unit: str) -> None:
    """Eight times the text takes about eight times as long; 24 allows for a busy machine."""

    def seconds(times: int) -> float:
        text = unit * (times // len(unit))
        best = float("inf")
        for _ in range(3):
            begin = time.process_time()
            label(text, name)
            best = min(best, time.process_time() - begin)
        return best

    assert seconds(400_000) < 24 * max(seconds(50_000), 0.005)
