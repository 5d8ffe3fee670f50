"""Control: an argument swapped in half of the turns with calls."""

from dataclasses import replace

import pytest

from checks.calls.agreement import Change
from checks.calls.call_agreement import TurnChange
from checks.controls.argument import PlantedCall, judge_argument_control, planted_call, planted_turn
from checks.policy import Policy
from tests.support.synthetic_model import response_of
from traces.wire.response import Token, ToolCall

POLICY = Policy()


def turns(sessions: int, each: int, repeated: bool = True) -> list[TurnChange]:
    return [
        TurnChange(f"s{s}", f"t{t}", "same", "same" if repeated else None, repeated)
        for s in range(sessions)
        for t in range(each)
    ]


def planted(found: list[TurnChange], change: Change) -> list[PlantedCall]:
    return [PlantedCall(turn.session, turn.turn, change) for turn in found]


@pytest.mark.parametrize(
    ("found", "change", "margin", "state"),
    [
        (turns(24, 10), "consequential", 0.05, "caught"),
        (turns(24, 10), "cosmetic", 0.05, "missed"),
        (turns(24, 10), "consequential", 0.6, "not_applicable"),
        (turns(5, 10), "consequential", 0.05, "not_applicable"),
        (turns(24, 10, repeated=False), "consequential", 0.05, "not_applicable"),
        ([], "consequential", 0.05, "not_applicable"),
    ],
    ids=["awake", "asleep", "a margin that lets it pass", "few sessions", "not repeated", "none"],
)
def test_states(found: list[TurnChange], change: Change, margin: float, state: str) -> None:
    policy = Policy(call_margin=margin)
    result = judge_argument_control(planted(found, change), found, policy, 0)
    assert result.state == state
    assert ("CALLS_CHANGED" in result.fired) == (state == "caught")


def test_one_string_argument_is_swapped() -> None:
    calls = (ToolCall(0, "a", "n", '{"n": 1}'), ToolCall(1, "b", "read", '{"n": 1, "path": "a"}'))
    swapped = planted_call(calls)
    assert swapped is not None
    assert swapped[0] == calls[0]
    assert swapped[1].arguments == '{"n": 1, "path": "draftgate-control a"}'
    assert planted_call(calls[:1]) is None
    assert planted_call((replace(calls[1], arguments='{"path": "'),)) is None
    assert planted_call((replace(calls[1], arguments="[]"),)) is None


@pytest.mark.parametrize("name", ["bash", "read", "apply_patch", "edit"])
@pytest.mark.parametrize(
    "arguments",
    ['{"command": "ls -la"}', '{"path": "a/b"}', '{"input": "*** Begin Patch\\n"}', '{"x": ""}'],
)
def test_what_is_planted_is_consequential_whatever_the_argument_holds(
    name: str, arguments: str
) -> None:
    response = replace(
        response_of((1,), (Token(5, "x"),)), tool_calls=(ToolCall(0, "a", name, arguments),)
    )
    found = planted_turn(("s", "t"), {}, response, response)
    assert found == PlantedCall("s", "t", "consequential")
    assert planted_turn(("s", "t"), {}, replace(response, status=500), response) is None
