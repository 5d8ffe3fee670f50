"""The share of turns whose calls change, beyond the baseline's repeat, by sessions."""

from dataclasses import replace

import numpy as np
import pytest

from checks.calls.agreement import Change
from checks.calls.call_agreement import (
    FAIL_LEVEL,
    TurnChange,
    judge_agreement,
    sessions_for,
)
from checks.calls.turns import run_calls, turn_change
from checks.policy import Policy
from checks.stats.effective_share import effective_share, excess_limits
from evidence.simulated.call_sizes import CALLS, notices, run_of
from tests.support.synthetic_model import response_of
from traces.wire.response import Token, ToolCall

POLICY = Policy()
CHANGED: Change = "consequential"


def turns(
    sessions: int, each: int, changed: int, repeats: int = 0, repeated: bool = True
) -> list[TurnChange]:
    """`changed` turns of the candidate and `repeats` of A/A, spread evenly over the sessions."""
    found = []
    for place in range(sessions * each):
        own: Change = CHANGED if place < changed else "same"
        other: Change = CHANGED if sessions * each - place <= repeats else "same"
        again = other if repeated else None
        found.append(TurnChange(f"s{place % sessions}", f"t{place}", own, again, repeated))
    return found


@pytest.mark.parametrize(
    ("found", "state", "severity"),
    [
        (turns(24, 10, 0), "pass", None),
        (turns(24, 10, 5), "pass", None),
        (turns(24, 10, 8), "inconclusive", "warning"),
        (turns(24, 10, 48), "fail", "error"),
        (turns(24, 10, 48, repeats=48), "inconclusive", None),
        (turns(24, 2, 0), "inconclusive", None),
        (turns(9, 30, 90), "inconclusive", "warning"),
        (turns(24, 10, 48, repeated=False), "inconclusive", None),
        (turns(24, 10, 0, repeated=False), "pass", None),
        (turns(1, 200, 0), "inconclusive", None),
    ],
    ids=[
        "none",
        "a few",
        "more than the repeat",
        "every fifth",
        "and the repeat too",
        "too few turns",
        "too few sessions",
        "not repeated",
        "none, not repeated",
        "one session",
    ],
)
def test_states(found: list[TurnChange], state: str, severity: str | None) -> None:
    judged = judge_agreement(found, POLICY, seed=0)
    assert judged.bound.state == state
    assert [finding.severity for finding in judged.findings] == ([severity] if severity else [])
    assert (judged.bound.needed is not None) == (state == "inconclusive")


def test_only_consequential_changes_count() -> None:
    cosmetic: list[TurnChange] = [
        TurnChange(f"s{i % 24}", f"t{i}", "cosmetic" if i % 2 else "spelling", "same", True)
        for i in range(240)
    ]
    judged = judge_agreement(cosmetic, POLICY, 0)
    assert (judged.bound.state, judged.bound.value) == ("pass", 0.0)
    assert judged.changes == {"cosmetic": 120, "spelling": 120}


def test_changes_in_few_sessions_do_not_condemn() -> None:
    heaped = [
        TurnChange(f"s{i // 20}", f"t{i}", CHANGED if i < 120 else "same", "same", True)
        for i in range(480)
    ]
    assert judge_agreement(heaped, POLICY, 0).bound.state == "inconclusive"


def test_a_run_without_calls_is_not_applicable() -> None:
    quiet = [TurnChange("s", "t", None, None, True)]
    assert judge_agreement(quiet, POLICY, 0).bound.state == "not_applicable"
    assert judge_agreement([], POLICY, 0).bound.state == "not_applicable"


def test_the_margin_is_the_users() -> None:
    found = turns(24, 10, 48)
    assert judge_agreement(found, Policy(call_margin=0.3), 0).bound.state == "pass"
    assert judge_agreement(turns(24, 10, 5), Policy(call_margin=0.01), 0).bound.state == (
        "inconclusive"
    )


def test_limits_of_none_of_n_are_the_rule_of_three_with_t() -> None:
    sums = np.column_stack([np.zeros(1000), np.full(1000, 1.0)])
    share = effective_share(sums, 0.95)
    assert share is not None
    assert share.low == 0
    assert share.high == pytest.approx(1 - 0.05 ** (1 / 1000), rel=0.01)
    assert excess_limits(share, share)[1] == pytest.approx(share.high)


def test_sessions_that_change_as_one_widen_the_limits() -> None:
    spread = effective_share(np.column_stack([np.full(40, 1.0), np.full(40, 10.0)]), 0.95)
    heaped = effective_share(
        np.column_stack([np.r_[np.full(4, 10.0), np.zeros(36)], np.full(40, 10.0)]), 0.95
    )
    assert spread is not None
    assert heaped is not None
    assert heaped.high - heaped.low > 2 * (spread.high - spread.low)
    assert effective_share(np.array([[1.0, 10.0]]), 0.95) is None


def test_a_call_cut_at_max_tokens_is_no_call() -> None:
    answer = response_of((1,), (Token(5, "x"),))
    whole = ToolCall(0, "a", "read", '{"path": "a"}')
    cut = ToolCall(1, "b", "read", '{"path": "')
    response = replace(answer, tool_calls=(whole, cut), finish_reason="length")
    assert run_calls(response) == (whole,)
    ended = replace(response, finish_reason="tool_calls")
    assert run_calls(ended) == (whole, cut)
    assert run_calls(replace(response, tool_calls=(whole,))) == (whole,)


def test_a_turn_that_a_path_did_not_answer_is_none() -> None:
    answered = response_of((1,), (Token(5, "x"),))
    refused = replace(answered, status=500)
    assert turn_change(("s", "t"), {}, answered, refused, None) is None
    found = turn_change(("s", "t"), {}, answered, answered, refused)
    assert found == TurnChange("s", "t", None, None, False)


def test_equal_paths_are_noticed_no_more_often_than_their_level() -> None:
    """100 runs at 1%: more than 5 have a chance of 0.05%."""
    runs = [run_of(np.random.default_rng((3, run)), 24, 0.02, 0.0) for run in range(100)]
    judged = [judge_agreement(found, POLICY, run) for run, found in enumerate(runs)]
    assert sum(any(one.findings) for one in judged) <= 5
    assert all(one.bound.state != "fail" for one in judged)


@pytest.mark.parametrize("rate", [0.03, 0.1])
def test_planted_changes_are_noticed_at_the_predicted_number_of_sessions(rate: float) -> None:
    """80% of 100 runs; the standard error is 4 points."""
    sessions = sessions_for(rate, 0.01, CALLS)
    assert sessions is not None
    share = notices(sessions, 0.01, rate, runs=100, seed=5)
    assert 0.68 <= share <= 0.96


def test_more_changes_need_fewer_sessions_and_more_noise_more() -> None:
    ten = (10,)
    assert sessions_for(0.1, 0.0, ten) < sessions_for(0.03, 0.0, ten) < sessions_for(0.01, 0.0, ten)
    assert sessions_for(0.03, 0.0, ten) < sessions_for(0.03, 0.02, ten)
    assert sessions_for(0.03, 0.0, (4, 16)) > sessions_for(0.03, 0.0, ten), (
        "a few long ones help less"
    )
    assert sessions_for(0.0, 0.01, ten) is None
    assert sessions_for(1.0, 0.0, (1,)) == 7, (
        f"2^-7 is the first power of a half below {FAIL_LEVEL}"
    )
