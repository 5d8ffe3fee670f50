"""The scope line of a verdict: every token in one slice of each dimension, sums in any order."""

from itertools import permutations

import numpy as np
import pytest

from checks.scope import ADDED, GREEDY, PARTS, RECORDED, Scope, TurnScope
from traces.boundaries.label import INDEX

PROSE, STRING = INDEX["prose"], INDEX["tool.string"]


def turn(tokens: int, labels: list[int] | None = None, **other: object) -> TurnScope:
    values = {"prompt": 100, "decoding": GREEDY, "masked": False, "seen": "baseline", **other}
    shown = None if labels is None else np.array(labels, np.int8)
    return TurnScope(tokens=tokens, labels=shown, **values)  # type: ignore[arg-type]


TURNS = [
    turn(6, [PROSE] * 4 + [STRING] * 2),
    turn(2, [STRING] * 2, prompt=9000, seen="unseen"),
    turn(1, prompt=None, decoding=RECORDED, masked=True, seen="parsed"),
    turn(1, [PROSE, PROSE], decoding=ADDED, seen="joined"),  # labels of other tokens
    turn(0, []),
]


def test_sums_are_the_same_in_any_order() -> None:
    parts = [Scope.of(one) for one in TURNS]
    whole = sum(parts, Scope())
    for order in permutations(parts):
        assert sum(order, Scope()) == whole
    assert (whole.turns, whole.tokens) == (4, 10)


def test_every_token_lies_in_one_slice_of_each_dimension() -> None:
    whole = sum(map(Scope.of, TURNS), Scope())
    rows = list(whole.ordered())
    for dimension in PARTS:
        assert sum(tokens for (of, _), tokens, _ in rows if of == dimension) == 10
    assert {name: (tokens, turns) for (of, name), tokens, turns in rows if of == "boundary"} == {
        "prose": (4, 1),
        "tool.string": (4, 2),
        "unknown": (2, 2),
    }
    assert {name: tokens for (of, name), tokens, _ in rows if of == "context"} == {
        "0-8k": 7,
        "8k-16k": 2,
        "unknown": 1,
    }


def test_the_statement_says_it_in_a_line() -> None:
    whole = sum(map(Scope.of, TURNS), Scope())
    assert whole.unseen_share == pytest.approx(2 / 4)
    assert whole.statement == (
        "10 candidate tokens in 4 turns: greedy 80%, sampled 10%, sampled (added) 10%; "
        "context 0-8k 70%, 8k-16k 20%, unknown 10%; prose 40%, tool.string 40%, unknown 20%; "
        "under a grammar 10%; in 40% of the tokens the baseline's text decides nothing, and 50% of "
        "that text no check saw"
    )


def test_a_small_share_is_never_none_and_a_large_one_never_all() -> None:
    whole = Scope.of(turn(9999)) + Scope.of(turn(1, decoding=RECORDED, seen="unseen"))
    assert "greedy over 99%, sampled under 1%" in whole.statement
    assert "in under 1% of the tokens" in whole.statement
    assert "100% of that text no check saw" in whole.statement


def test_nothing_sent_is_said() -> None:
    assert Scope().statement == "no token of the candidate was sent"
    assert Scope().unseen_share is None
    assert "all text is compared" in Scope.of(turn(5)).statement
