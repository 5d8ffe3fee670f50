"""Turns have an order of their own, whatever was answered first."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.capture import capture
from traces.journal.exchange import Evidence, exchange_of, turn_order

IN_ORDER = [
    ("", "t1"),
    ("s", "t1"),
    ("s2", "t1"),
    ("s2", "t02"),  # as many as the next, written otherwise: the text decides
    ("s2", "t2"),
    ("s2", "t10"),
    ("s10", "t0000"),
    ("s10", "t0001"),
    ("s10", "t0001/again"),
    ("s10-a", "t0"),
    ("s10-b", "t0"),
    ("s" + "9" * 5000, "t0"),
    ("tail", "t0"),
]


@pytest.mark.parametrize("seed", range(5))
def test_numbers_in_ids_are_compared_as_numbers(seed: int) -> None:
    shuffled = random.Random(seed).sample(IN_ORDER, len(IN_ORDER))
    assert sorted(shuffled, key=turn_order) == IN_ORDER


@given(st.lists(st.tuples(st.text(), st.text()), unique=True), st.randoms(use_true_random=False))
def test_the_order_is_one_whatever_the_names(names: list[tuple[str, str]], chance) -> None:
    shuffled = chance.sample(names, len(names))
    assert sorted(shuffled, key=turn_order) == sorted(names, key=turn_order)


def test_evidence_in_order() -> None:
    main = ("candidate", "main")
    evidence = Evidence({main: {("s1", t): exchange_of(capture(t)) for t in ("t2", "t10", "t1")}})
    assert list(evidence.in_order().of(*main)) == [("s1", "t1"), ("s1", "t2"), ("s1", "t10")]
