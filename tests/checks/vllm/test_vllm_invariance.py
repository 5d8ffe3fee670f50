"""What draftgate relies on: vLLM's parsers that are called invariant are, on whatever is generated.

Hypothesis makes the calls (nested JSON, unicode, escapes, markup inside strings, no arguments,
several calls), reasoning before them, prose around them, and the cuts. Only outputs that parse
un-cut count, as in a gate. What is known to fail is left out, and `docs/parsers/known` shows it.
"""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, assume, given, settings
from hypothesis import strategies as st

pytest.importorskip("vllm")

from checks.cases.judge import judge_case
from checks.splits.cuts import one_by_one
from checks.splits.fitness import FIT, fitness
from checks.splits.judge import SplitJudgement, judge_given
from checks.splits.markup import FORMATS, CallToWrite
from checks.splits.samples import TOOLS
from checks.vllm.cuts import judge_cuts, tokenizer_named
from checks.vllm.parsers import ParserUnderTest
from traces.cases.case import read_case

pytestmark = pytest.mark.vllm

DRAFTS = 3
INVARIANT = [
    ("hermes", None),
    ("hermes", "qwen3"),
    ("kimi_k2", None),
    ("qwen3_coder", None),
    ("glm45", None),
    ("deepseek_v32", None),
]

markup = [
    "<tool_call>",
    "</tool_call>",
    "</function>",
    "<think>",
    '"}',
    "\\",
    "\\n",
    "{",
    "]",
    "}}",
]
unicode = ["\n", "\t", "é✅", "\U0001f468\u200d\U0001f4bb", "\u2028", "日本", "<", "</", ""]
hostile = st.sampled_from([*markup, *unicode])
words = st.lists(st.text(max_size=5) | hostile, max_size=4).map("".join)
texts = words.filter(lambda text: not any(0xD800 <= ord(c) <= 0xDFFF for c in text))
values = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**9), 10**9) | texts,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text("abc", max_size=2), inner),
    max_leaves=4,
)
names = st.sampled_from(["read_file", "write_file", "search", "list_todos"])
keys = st.sampled_from(["path", "content", "query", "options", "x"])
calls = st.builds(CallToWrite, names, st.dictionaries(keys, values, max_size=3))
prose = st.sampled_from(["", "Reading it.\n\n", "a < b, [1], {x}\n", "é✅ Done."])
sizes = st.lists(st.integers(1, DRAFTS + 1), min_size=1, max_size=30)
places = st.sets(st.integers(1, 400), max_size=4)


@pytest.fixture(scope="module")
def tokenizer() -> Any:
    return tokenizer_named("built-in")


def as_steps(tokens: int, drawn: list[int]) -> tuple[int, ...]:
    """Deltas of the drawn sizes, over and over."""
    ends, at = [], 0
    while at < tokens:
        at += drawn[len(ends) % len(drawn)]
        ends.append(at)
    return tuple(end for end in ends if end < tokens)


def judged_where_fit(
    parser: ParserUnderTest, text: str, steps: list[int], cut: set[int]
) -> SplitJudgement:
    """Assume that the text parses un-cut, and judge it under steps and under a coarse cut."""
    tokens = parser.tokenize(text)
    size = len(tokens.ids)
    one = parser.streamed(tokens, one_by_one(size))
    assume(fitness(one, parser.whole(tokens)) == FIT)
    coarse = tuple(sorted(place for place in cut if place < size))
    cuts = [c for c in (as_steps(size, steps), coarse) if c]
    return judge_given(tokens.pieces, lambda c: parser.streamed(tokens, c), cuts)


QUICK = settings(max_examples=40, suppress_health_check=list(HealthCheck))


@pytest.mark.parametrize(("tool", "reasoning"), INVARIANT)
@QUICK
@given(texts, prose, st.lists(calls, min_size=1, max_size=3), prose, sizes, places)
def test_generated_outputs_parse_the_same_under_every_cut(
    tokenizer: Any,
    tool: str,
    reasoning: str | None,
    thought: str,
    before: str,
    made: list[CallToWrite],
    after: str,
    steps: list[int],
    cut: set[int],
) -> None:
    text = before + FORMATS[tool].write(made) + after
    if reasoning is not None:
        text = f"<think>\nLook. {thought}\n</think>\n\n{text}"
    judged = judged_where_fit(ParserUnderTest(tool, reasoning, tokenizer, TOOLS), text, steps, cut)
    assert judged.failure is None or judged.minor, list(judged.findings())


@pytest.mark.parametrize("name", ["step3", "deepseek_v31"])
def test_the_same_property_finds_a_parser_that_is_cut_sensitive(tokenizer: Any, name: str) -> None:
    parser = ParserUnderTest(name, None, tokenizer, TOOLS)

    @settings(QUICK, phases=[Phase.generate], database=None)
    @given(st.lists(calls, min_size=1, max_size=2), sizes, places)
    def holds(made: list[CallToWrite], steps: list[int], cut: set[int]) -> None:
        judged = judged_where_fit(parser, FORMATS[name].write(made), steps, cut)
        assert judged.failure is None or judged.minor

    with pytest.raises((AssertionError, ExceptionGroup)):
        holds()


def known(root: Path) -> list[Path]:
    return sorted((root / "docs" / "parsers" / "known").glob("*.case.json"))


def test_what_is_known_to_fail_still_does(root: Path) -> None:
    """Where one is fixed upstream, the case goes, and the property above covers it."""
    assert len(known(root)) == 2
    for file in known(root):
        for result in judge_case(read_case(file), file.name, judge_cuts):
            assert result.as_expected, (file.name, result.name, result.judgement.codes)
            shown = [f for f in result.judgement.findings if f.code == "SPLIT_VARIANT"]
            assert shown or result.name.startswith("deltas of 1"), (file.name, result.name)
