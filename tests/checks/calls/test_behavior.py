"""Tool-call success, paired by turn."""

from dataclasses import replace

import numpy as np
import pytest

from checks.calls.behavior import PairedOutcome, judge_behavior, limits_of, table_of
from checks.calls.outcomes import tool_pair, tool_success
from checks.policy import Policy
from tests.support.synthetic_model import response_of
from traces.wire.response import Response, ToolCall

POLICY = Policy()
REQUEST = {
    "tools": [
        {
            "type": "function",
            "function": {
                "name": "read",
                "parameters": {
                    "type": "object",
                    "properties": {"path": {"type": "string"}},
                    "required": ["path"],
                },
            },
        }
    ]
}


def _outcomes(both: int, lost: int, won: int, neither: int = 0) -> list[PairedOutcome]:
    """Spread evenly over 20 sessions."""
    kinds = [(True, True)] * both + [(True, False)] * lost
    kinds += [(False, True)] * won + [(False, False)] * neither
    return [PairedOutcome(f"s{i % 20}", f"t{i}", b, c) for i, (b, c) in enumerate(kinds)]


@pytest.mark.parametrize(
    ("outcomes", "state"),
    [
        (_outcomes(149, 0, 0), "pass"),
        (_outcomes(148, 0, 0), "inconclusive"),
        (_outcomes(1900, 10, 10), "pass"),
        (_outcomes(180, 10, 10), "inconclusive"),
        (_outcomes(180, 20, 0), "fail"),
        (_outcomes(198, 2, 0), "inconclusive"),
        (_outcomes(180, 15, 3), "inconclusive"),  # McNemar p = 0.0075
        ([], "not_applicable"),
    ],
)
def test_states(outcomes: list[PairedOutcome], state: str) -> None:
    judged = judge_behavior(outcomes, POLICY, seed=0)
    assert judged.bound.state == state
    assert bool(judged.findings) == (state == "fail")
    assert (judged.bound.needed is not None) == (state == "inconclusive")


def test_losses_in_one_session_widen_the_interval() -> None:
    spread = [PairedOutcome(f"s{i % 40}", f"t{i}", True, i >= 20) for i in range(400)]
    heaped = [PairedOutcome(f"s{i // 10}", f"t{i}", True, i >= 20) for i in range(400)]
    wide, narrow = (
        judge_behavior(heaped, POLICY, 0).bound,
        judge_behavior(spread, POLICY, 0).bound,
    )
    assert wide.low < narrow.low - 0.02


def test_limits_of_few_sessions_are_differences_of_shares() -> None:
    few = [PairedOutcome(f"s{i % 3}", f"t{i}", i % 3 != 0, i % 3 == 0) for i in range(9)]
    low, high = limits_of(few, table_of(few), seed=0)
    assert -1 <= low < high <= 1


def test_losses_in_one_session_do_not_condemn() -> None:
    heaped = [PairedOutcome(f"s{i // 20}", f"t{i}", True, i >= 20) for i in range(400)]
    judged = judge_behavior(heaped, POLICY, 0)
    assert judged.p is not None
    assert judged.p < 1e-5  # by turns it would be certain
    assert judged.bound.state == "inconclusive"


@pytest.mark.parametrize("discordant", [0.1, 0.3])
def test_calls_that_forks_break_on_either_path_do_not_fail(discordant: float) -> None:
    for seed in range(60):
        rng = np.random.default_rng(seed)
        lost, won = rng.multinomial(300, [discordant / 2, discordant / 2, 1 - discordant])[:2]
        outcomes = _outcomes(300 - lost - won, int(lost), int(won))
        assert judge_behavior(outcomes, POLICY, seed).bound.state != "fail"


def _response(arguments: str, name: str = "read", finish: str | None = "tool_calls") -> Response:
    call = ToolCall(0, "id", name, arguments)
    return replace(response_of((1,), ()), tool_calls=(call,), finish_reason=finish)


@pytest.mark.parametrize(
    ("response", "success"),
    [
        (_response('{"path": "a"}'), True),
        (_response('{"path": 1}'), False),
        (_response("{}"), False),
        (_response('{"path": "a"'), False),
        (_response('{"path": "a"}', name="write"), False),
        (_response('{"path": "a"}', finish=None), False),
        (response_of((1,), ()), False),
    ],
)
def test_what_a_client_can_run(response: Response, success: bool) -> None:
    assert tool_success(REQUEST, response) is success


def test_turns_without_calls_are_not_about_tools() -> None:
    silent = response_of((1,), ())
    assert tool_pair(REQUEST, silent, silent) is None
    assert tool_pair({}, _response("{}"), silent) is None
    assert tool_pair(REQUEST, _response('{"path": "a"}'), silent) == (True, False)


def test_losses_of_sessions_that_draw_the_same_numbers_are_one() -> None:
    """One seed for all sampled turns: what one of them loses by chance, all of them lose."""
    lost = _outcomes(180, 20, 0)
    one = judge_behavior([replace(outcome, seed=7) for outcome in lost], POLICY, 0)
    assert (one.bound.state, one.bound.sessions) == ("inconclusive", 1)
    own = [replace(outcome, seed=int(outcome.session[1:])) for outcome in lost]
    assert judge_behavior(own, POLICY, 0) == judge_behavior(lost, POLICY, 0)
