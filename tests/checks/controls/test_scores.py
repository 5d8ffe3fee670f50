"""Control: scores of equal tokens moved by a tenth of a nat."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from checks.bounds import ControlResult
from checks.controls import scores
from checks.controls.scores import SHIFT, judge_scores_control, moved, planted_shift
from checks.findings import LOGPROBS_SHIFTED, WARNING
from checks.greedy import shift
from checks.greedy.shift import LEAST_SESSIONS, LEAST_TOKENS, judge_shift, shift_of
from checks.greedy.turn import GreedyTurn
from checks.policy import Policy
from checks.tokens.regret import Scored
from tests.support.synthetic_model import response_of
from traces.wire.response import Response, Token, TopLogprob
from traces.wire.tokens import Tokens

POLICY = Policy()
TOKENS = 120
STEPS = [3] * (TOKENS // 3)
PLENTY = 24


def stream(values: np.ndarray) -> Response:
    return response_of(
        (9,),
        [
            Token(i, "x", v, (TopLogprob(i, None, v), TopLogprob(900, None, v - 2)))
            for i, v in enumerate(values.tolist())
        ],
    )


def run(
    sessions: int = PLENTY, rounding: float = 0.002, added: float = 0.0, read: bool = True
) -> list[GreedyTurn]:
    """A turn a session; every capture of it rounds alike, and the candidate's scores are `added`
    nat too high."""
    rng = np.random.default_rng(3)
    turns = []
    for place in range(sessions):
        base = -rng.exponential(0.5, TOKENS)

        def again(base: np.ndarray = base) -> np.ndarray:
            return base + rng.normal(0, rounding, TOKENS)

        known = again()
        turns.append(
            GreedyTurn(
                f"s{place}",
                "t",
                stream(again() + added),
                stream(base),
                stream(again()),
                scored_baseline=Scored(0, tuple(range(TOKENS)), known, known) if read else None,
            )
        )
    return turns


def control(turns: list[GreedyTurn], policy: Policy = POLICY) -> ControlResult:
    """As the run has it: `shift_of` and `planted_shift` of every turn, then both judged."""
    own = [found for turn in turns if (found := shift_of(turn, STEPS)) is not None]
    planted = [found for turn in turns if (found := planted_shift(turn, STEPS)) is not None]
    return judge_scores_control(planted, judge_shift(own, policy), policy)


def test_it_is_caught() -> None:
    result = control(run())
    assert (result.state, result.expected) == ("caught", LOGPROBS_SHIFTED)
    assert result.fired == (LOGPROBS_SHIFTED,)
    assert f"{PLENTY * TOKENS:,} scores" in result.detail


@pytest.mark.parametrize("added", [-3 * SHIFT, -SHIFT, SHIFT, 3 * SHIFT])
def test_a_candidate_that_is_shifted_itself_cannot_cancel_it(added: float) -> None:
    assert control(run(added=added)).state == "caught"


@pytest.mark.parametrize(
    ("turns", "policy", "reason"),
    [
        ([], POLICY, "no greedy turn has scores"),
        (run(sessions=8), POLICY, str(LEAST_TOKENS)),
        (run(read=False), POLICY, "read again"),
        (run(sessions=LEAST_SESSIONS - 1), POLICY, f"{LEAST_SESSIONS} are wanted"),
        (run(rounding=0.2), POLICY, "beside rounding"),
        (run(), Policy(noise_scale=100), "beside rounding"),
    ],
    ids=[
        "none",
        "few tokens",
        "not read again",
        "few sessions",
        "rounding",
        "a margin of the user",
    ],
)
def test_a_run_that_could_not_show_it_is_asked_for_nothing(
    turns: list[GreedyTurn], policy: Policy, reason: str
) -> None:
    result = control(turns, policy)
    assert result.state == "not_applicable"
    assert reason in result.detail


def candidate_as_baseline(other: Response, base: Response, scores: np.ndarray) -> np.ndarray:
    """`checks.greedy.shift._stream` that reads no difference."""
    return np.zeros(len(scores))


def finding_of_less_weight(*given: Any) -> list[Any]:
    return [replace(one, severity=WARNING) for one in FINDING(*given)]


FINDING = shift._finding


@pytest.mark.parametrize(
    ("name", "broken"),
    [
        ("_stream", candidate_as_baseline),
        ("_finding", lambda worst, policy: []),
        ("_finding", finding_of_less_weight),
    ],
    ids=["no difference is read", "nothing is found", "a warning"],
)
def test_a_check_that_is_blind_does_not_pass_unnoticed(
    monkeypatch: pytest.MonkeyPatch, name: str, broken: Any
) -> None:
    monkeypatch.setattr(shift, name, broken)
    assert control(run()).state == "missed"


def test_noise_that_holds_the_candidate_is_missed(monkeypatch: pytest.MonkeyPatch) -> None:
    """A check that compares the candidate with itself allows whatever it shows."""

    def measured(turn: GreedyTurn, committed: list[int]) -> shift.TurnShift | None:
        return shift_of(replace(turn, repeat=turn.candidate), committed)

    monkeypatch.setattr(scores, "shift_of", measured)
    assert control(run()).state == "missed"


def test_whatever_the_size_it_is_caught_wherever_it_applies() -> None:
    """Runs around the edge of what shows: none is missed, and both other states occur."""
    found = [
        control(run(sessions, rounding)).state
        for sessions in (13, 14, 15, 20, 40)
        for rounding in (0.002, 0.02, 0.04, 0.05, 0.055, 0.06, 0.1)
    ]
    assert set(found) == {"caught", "not_applicable"}
    assert min(found.count("caught"), found.count("not_applicable")) >= 5


def test_every_score_is_moved_and_its_alternatives_with_it() -> None:
    base = np.array([-0.5, -0.25, -1.0])
    own = np.array([-0.4, -0.25, -1.5])
    tokens = Tokens.of(moved(stream(own), stream(base)).tokens or ())
    assert tokens.logprobs == pytest.approx(base - np.abs(own - base) - SHIFT)
    assert tokens.top_logprobs.reshape(3, 2) == pytest.approx(
        np.column_stack([tokens.logprobs, tokens.logprobs - 2])
    )
    longer = Tokens.of(moved(stream(own), stream(base[:1])).tokens or ())
    assert longer.logprobs[1:] == pytest.approx(own[1:]), "nothing to be moved away from"


def test_scores_that_are_missing_stay_missing() -> None:
    silent = replace(stream(np.array([-0.5])), tokens=None)
    assert planted_shift(GreedyTurn("s", "t", silent, silent), None) is None
    holed = stream(np.array([float("nan"), -0.5]))
    assert np.isnan(Tokens.of(moved(holed, holed).tokens or ()).logprobs).tolist() == [True, False]
