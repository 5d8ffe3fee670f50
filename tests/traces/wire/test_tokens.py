"""Tokens in columns are the tokens they were made of."""

import math

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from traces.coded import Coded
from traces.partial import Partial
from traces.wire.tokens import Token, Tokens, TopLogprob, joined_text, known_ids, known_texts

ids = st.none() | st.integers(0, 2**31)
texts = st.none() | st.text(max_size=3)
scores = st.sampled_from([0.0, -0.5, -1e-9, -math.inf, math.nan])
alternatives = st.lists(st.builds(TopLogprob, ids, texts, scores), max_size=3).map(tuple)
outputs = st.lists(st.builds(Token, ids, texts, st.none() | scores, alternatives), max_size=6)


@given(outputs, st.slices(6))
def test_columns_hold_the_tokens(tokens: list[Token], part: slice) -> None:
    columns = Tokens.of(tokens)
    assert columns == tokens
    assert tokens == columns
    assert columns == Tokens.of(columns)
    assert [columns[i] for i in range(-len(tokens), len(tokens))] == tokens * 2
    assert list(columns[part]) == tokens[part]


@given(outputs)
def test_what_is_known_of_all_tokens_is_the_same_of_columns(tokens: list[Token]) -> None:
    columns = Tokens.of(tokens)
    assert known_ids(columns) == known_ids(tokens)
    assert known_texts(columns) == known_texts(tokens)
    assert joined_text(columns) == joined_text(tokens) == "".join(t.text or "" for t in tokens)
    assert known_ids(None) is None
    assert known_texts(None) is None


@given(outputs)
def test_the_best_of_a_place_is_the_largest_number_known_there(tokens: list[Token]) -> None:
    listed = [[entry.logprob for entry in token.top] for token in tokens]
    own = [[] if token.logprob is None else [token.logprob] for token in tokens]
    columns = Tokens.of(tokens)
    for found, given_values in (
        (columns.best_listed, listed),
        (columns.best, [a + b for a, b in zip(listed, own, strict=True)]),
    ):
        largest = [
            max((v for v in values if not math.isnan(v)), default=math.nan)
            for values in given_values
        ]
        np.testing.assert_array_equal(found, largest)
    assert columns.listed.tolist() == [len(token.top) for token in tokens]


def test_other_tokens_are_not_equal() -> None:
    assert Tokens.of([Token(1)]) != Tokens.of([Token(2)])
    assert Tokens.of([Token(1)]) != [Token(1), Token(1)]
    assert Tokens.of([Token(1)]) != 1
    assert Tokens.of([]) == ()


@given(st.lists(st.none() | st.sampled_from(["prose", "code", ""])), st.slices(4))
def test_coded_texts_are_the_texts(values: list[str | None], part: slice) -> None:
    coded = Coded.of(values)
    assert list(coded) == values
    assert [coded[i] for i in range(len(values))] == values
    assert list(coded[part]) == values[part]
    assert Coded.of(coded) is coded


def test_numbers_that_are_missing_are_none() -> None:
    partial = Partial(np.array([5, 0, 7]), np.array([True, False, True]))
    assert (partial.tolist(), len(partial)) == ([5, None, 7], 3)
