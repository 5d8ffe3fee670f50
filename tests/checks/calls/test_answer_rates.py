"""Answers not compared word by word: how often they call, how long they are, how they end."""

from dataclasses import replace

import numpy as np
import pytest

from checks.calls.answer_rates import (
    LEAST_SESSIONS,
    QUANTITIES,
    TurnRates,
    judge_rates,
    turn_rates,
)
from checks.findings import ANSWERS_SHIFTED
from tests.support.synthetic_model import response_of
from traces.wire.response import Response, Token, ToolCall

CALL = ToolCall(0, "a", "read", "{}")


def answer(tokens: int = 3, **fields: object) -> Response:
    whole = response_of((1,), [Token(i, "x") for i in range(tokens)])
    return replace(whole, **fields)  # type: ignore[arg-type]


def run(
    sessions: int,
    seed: int,
    calls: tuple[float, float] = (0.4, 0.4),
    tokens: tuple[float, float] = (80, 80),
    cut: tuple[float, float] = (0.1, 0.1),
) -> list[TurnRates]:
    """Sessions of 12 turns; how often one calls, and how long its answers are, is its own."""
    rng = np.random.default_rng(seed)
    found = []
    for place in range(sessions):
        likes, long = rng.normal(0, 0.1), rng.lognormal(0, 0.4)
        for _ in range(12):
            values = [
                [float(rng.random() < min(max(rate + likes, 0), 1)) for rate in calls],
                [float(rng.gamma(2, mean * long / 2)) for mean in tokens],
                [float(rng.random() < rate) for rate in cut],
                [0.0, 0.0],
            ]
            found.append(TurnRates(f"s{place}", tuple((b, c) for b, c in values)))
    return found


def fired(turns: list[TurnRates]) -> list[str]:
    return [str(finding.detail["quantity"]) for finding in judge_rates(turns, 0).findings]


def test_what_an_answer_holds() -> None:
    called = answer(tokens=5, content="", tool_calls=(CALL,), finish_reason="tool_calls")
    empty = answer(tokens=2, content=" \n", finish_reason="length")
    found = turn_rates("s", called, empty)
    assert found is not None
    assert dict(zip(QUANTITIES, found.values, strict=True)) == {
        "calls": (1.0, 0.0),
        "tokens": (5.0, 2.0),
        "cut": (0.0, 1.0),
        "empty": (0.0, 1.0),
    }


def test_without_ids_usage_says_how_long_an_answer_is() -> None:
    plain = replace(answer(tokens=4), tokens=None)
    assert turn_rates("s", plain, plain).values[1] == (4.0, 4.0)  # type: ignore[union-attr]
    assert turn_rates("s", plain, replace(plain, usage=None)) is None
    assert turn_rates("s", plain, replace(plain, status=500)) is None


@pytest.mark.parametrize(
    ("shift", "quantity"),
    [
        ({"calls": (0.5, 0.2)}, "calls"),
        ({"calls": (0.2, 0.5)}, "calls"),
        ({"tokens": (80, 160)}, "tokens"),
        ({"tokens": (160, 80)}, "tokens"),
        ({"cut": (0.05, 0.4)}, "cut"),
    ],
)
def test_a_shift_of_a_rate_is_found_either_way(
    shift: dict[str, tuple[float, float]], quantity: str
) -> None:
    assert fired(run(40, seed=3, **shift)) == [quantity]  # type: ignore[arg-type]


def test_answers_that_grow_empty_are_found() -> None:
    turns = [
        replace(turn, values=(*turn.values[:3], (0.0, float(place % 3 == 0))))
        for place, turn in enumerate(run(30, seed=1))
    ]
    (finding,) = judge_rates(turns, 0).findings
    assert (finding.code, finding.severity) == (ANSWERS_SHIFTED, "error")
    assert finding.detail == {"quantity": "empty"}


def test_what_nobody_would_miss_is_no_finding() -> None:
    """A rate 1 point higher in every session is certain, and inside the margin."""
    turns = [
        TurnRates(f"s{s}", ((0.0, float(t == 0)), (80.0, 82.0), (0.0, 0.0), (0.0, 0.0)))
        for s in range(30)
        for t in range(100)
    ]
    assert fired(turns) == []


def test_few_sessions_are_not_judged_and_none_say_nothing() -> None:
    few = judge_rates(run(LEAST_SESSIONS - 1, seed=1, calls=(0.9, 0.1)), 0)
    assert few.findings == ()
    assert str(LEAST_SESSIONS) in few.not_judged[0].reason
    enough = judge_rates(run(LEAST_SESSIONS, seed=1, calls=(0.95, 0.05)), 0)
    assert [finding.detail["quantity"] for finding in enough.findings] == ["calls"]
    assert judge_rates([], 0).not_judged == ()


def test_sound_paths_are_called_shifted_no_more_often_than_stated() -> None:
    """60 runs at 0.1%: more than 1 have a chance of 0.2%."""
    assert sum(bool(fired(run(24, seed=100 + place))) for place in range(60)) <= 1


def under_one_seed(seed: int | None) -> list[TurnRates]:
    """Sampled turns of 30 sessions that all draw the same numbers: the candidate always happens to
    write on, the baseline to call."""
    values = ((1.0, 0.0), (40.0, 90.0), (0.0, 1.0), (0.0, 0.0))
    return [TurnRates(f"s{s}", values, seed) for s in range(30) for _ in range(5)]


def test_sessions_that_draw_the_same_numbers_are_one() -> None:
    assert fired(under_one_seed(None)) == ["calls", "tokens", "cut"]
    judged = judge_rates(under_one_seed(7), 0)
    assert judged.findings == ()
    assert "share a seed" in judged.not_judged[0].reason


def test_a_seed_of_its_own_for_each_session_changes_nothing() -> None:
    own = [replace(turn, seed=int(turn.session[1:])) for turn in under_one_seed(None)]
    assert judge_rates(own, 0) == judge_rates(under_one_seed(None), 0)
