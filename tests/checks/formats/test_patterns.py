"""Patterns of strangers: the same answers as `re`, and never long."""

import contextlib
import re
import time
import warnings
from contextlib import nullcontext
from typing import Any

import pytest
from hypothesis import given, reject
from hypothesis import strategies as st

from checks.formats import schema
from checks.formats.output_format import OutputFormat
from checks.formats.patterns import NotCheckable, PatternUnusable, found_in, matches
from checks.formats.schema import UnusableSchema

SLOW = r"^(a|aa)+$"
TEXT = "a" * 60 + "!"
"""A backtracking matcher needs 10^12 steps to see that it does not match."""


@given(st.from_regex(r"\A[ab.*+?|()\[\]^$]{0,8}\Z"), st.text("ab\n", max_size=8))
def test_the_same_answers_as_re(pattern: str, text: str) -> None:
    try:
        with warnings.catch_warnings(action="error"):
            compiled, dotted = re.compile(pattern), re.compile(pattern, re.DOTALL)
    except (re.error, FutureWarning):  # no pattern, or one that a later `re` will read otherwise
        return
    try:
        assert found_in(pattern, text) == (compiled.search(text) is not None)
        assert matches(pattern, text) == (dotted.fullmatch(text) is not None)
    except PatternUnusable:
        reject()  # `re` reads a pattern that `regex` does not


@pytest.mark.parametrize("pattern", [SLOW, r"^(\w+\s?)*\d$", r"^(([a-z])+.)+[A-Z]([a-z])+$"])
def test_no_pattern_takes_long(pattern: str) -> None:
    start = time.process_time()
    for text in (TEXT, "a" * 4000 + "!"):
        with contextlib.suppress(PatternUnusable):
            assert not found_in(pattern, text)
    assert time.process_time() - start < 5


def test_a_pattern_that_takes_too_long_says_so() -> None:
    with pytest.raises(PatternUnusable, match=r"'\^\(a\|aa\)\+\$' takes too long"):
        found_in(SLOW, TEXT)


@pytest.mark.parametrize("pattern", ["(", "(?P<n>a)(?P<n>b", 5, "[z-a]"])
def test_what_cannot_be_read_says_so(pattern: Any) -> None:
    with pytest.raises(PatternUnusable, match="pattern"):
        found_in(pattern, "a")


RULES: list[dict[str, Any]] = [
    {"properties": {"name": {"pattern": SLOW}}},
    {"propertyNames": {"pattern": SLOW}},
    {"patternProperties": {SLOW: {"type": "string"}}},
    {"patternProperties": {SLOW: {}}, "additionalProperties": False},
    {"patternProperties": {SLOW: {}}, "unevaluatedProperties": False},
    {
        "properties": {
            "name": {"$schema": "http://json-schema.org/draft-07/schema#", "pattern": SLOW}
        }
    },
    {"$defs": {"x": {"pattern": SLOW}}, "properties": {"name": {"$ref": "#/$defs/x"}}},
]


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("draft", ["2020-12/schema", "2019-09/schema", "draft-07", "draft-04"])
def test_a_hostile_schema_is_not_judged(rule: dict[str, Any], draft: str) -> None:
    base = "https://json-schema.org/draft/" if "/" in draft else "http://json-schema.org/"
    dialect = base + draft + ("" if "/" in draft else "/schema#")
    start = time.process_time()
    known = "propertyNames" not in rule or "draft-04" not in draft
    with pytest.raises(UnusableSchema, match=r"too long|not checked") if known else nullcontext():
        schema.violations({"$schema": dialect, **rule}, {"name": TEXT, TEXT: 1})
    assert time.process_time() - start < 5


@pytest.mark.parametrize("depth", [50, 300, 900, 5000])
def test_a_deep_schema_is_judged_or_said_to_be_too_deep(depth: int) -> None:
    rule: dict[str, Any] = {"type": "string"}
    for _ in range(depth):
        rule = {"not": {"not": rule}} if depth < 100 else {"properties": {"a": rule}}
    with contextlib.suppress(UnusableSchema):
        assert schema.violations(rule, "x") == []


@pytest.mark.parametrize(
    ("rule", "value", "wrong"),
    [
        ({"pattern": "^a"}, "ba", True),
        ({"pattern": "^a"}, "ab", False),
        ({"pattern": "^a"}, 5, False),
        ({"patternProperties": {"^n": {"type": "integer"}}}, {"n1": "x"}, True),
        ({"patternProperties": {"^n": {"type": "integer"}}}, {"n1": 1, "m": "x"}, False),
        (
            {"patternProperties": {"^n": {}}, "additionalProperties": False},
            {"n1": 1, "m": 2},
            True,
        ),
        ({"patternProperties": {"^n": {}}, "additionalProperties": False}, {"n1": 1}, False),
        ({"properties": {"a": {}}, "additionalProperties": False}, {"a": 1, "b": 2}, True),
        ({"additionalProperties": {"type": "string"}}, {"a": 1}, True),
        ({"additionalProperties": True}, {"a": 1}, False),
        ({"properties": {"$schema": {"type": "string"}}}, {"$schema": 5}, True),
    ],
)
def test_patterns_are_judged_as_ever(rule: dict[str, Any], value: Any, wrong: bool) -> None:
    assert bool(schema.violations(rule, value)) is wrong


def test_a_slow_output_format_is_not_checkable() -> None:
    with pytest.raises(NotCheckable, match="takes too long"):
        OutputFormat("regex", SLOW).violation("a" * 5000 + "!")
