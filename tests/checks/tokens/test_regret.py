"""Regret from listed log probabilities."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from checks.exact.judge import judge_pair
from checks.greedy.judge import judge_greedy
from checks.greedy.turn import GreedyTurn
from checks.pair import pair_of_responses
from checks.policy import Policy
from checks.tokens.argmax import below_best, not_argmax
from checks.tokens.fork import bf16_grid, first_divergence, fork_between
from checks.tokens.regret import (
    ScoreError,
    regret_at,
    scored_of,
    scored_regrets,
    stream_regrets,
)
from tests.support.synthetic_model import response_of
from traces.journal.score import Score
from traces.wire.response import Token, TopLogprob
from traces.wire.tokens import Tokens


def _token(own: int, *listed: tuple[int, float]) -> Token:
    values = dict(listed)
    return Token(own, str(own), values[own], tuple(TopLogprob(i, None, p) for i, p in listed))


def test_regret_is_the_gap_to_the_best() -> None:
    token = _token(1, (1, -0.5), (2, -1.25), (3, -4.0))
    assert regret_at(token, 1) == (0.0, False)
    assert regret_at(token, 2) == (0.75, False)


def test_a_missing_token_has_at_most_what_is_left() -> None:
    token = _token(1, (1, math.log(0.7)), (2, math.log(0.2)))
    value, bounded = regret_at(token, 9)
    assert bounded
    assert value == pytest.approx(math.log(0.7) - math.log(0.1))


def test_a_list_that_sums_to_one_leaves_almost_nothing() -> None:
    token = _token(1, (1, math.log(0.75)), (2, math.log(0.25)))
    assert regret_at(token, 9) == (pytest.approx(math.log(0.75) - math.log(1e-6)), True)


def test_nothing_listed_is_not_known() -> None:
    assert regret_at(Token(1), 1) is None
    assert regret_at(_token(1, (1, -0.1), (2, -3.0)), None) is None


@pytest.mark.parametrize("bad", [math.nan])
def test_a_score_that_is_no_number_is_not_known(bad: float) -> None:
    assert regret_at(_token(1, (1, -0.5), (2, bad)), 2) is None
    assert regret_at(_token(1, (1, bad), (2, -0.5)), 1) is None
    assert regret_at(_token(1, (1, -0.5), (2, bad), (3, -0.75)), 3) == (0.25, False)
    assert bf16_grid([-0.5, bad, -1.0]) is None


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
@pytest.mark.parametrize("place", ["logprobs", "top_logprobs"])
def test_scores_that_are_no_numbers_are_no_scores(bad: float, place: str) -> None:
    values = {"logprobs": (-0.5, -1.0), "top_logprobs": (-0.5, -0.5), "top_ids": (1, 3)}
    assert scored_of(Score("scored", **values), (1, 2)) is not None
    values[place] = (-0.5, bad)
    assert scored_of(Score("scored", **values), (1, 2)) is None


@given(st.lists(st.floats(0.01, 1), min_size=3, max_size=8), st.integers(2, 7))
def test_the_bound_never_exceeds_the_truth(weights: list[float], shown: int) -> None:
    probs = sorted((w / sum(weights) for w in weights), reverse=True)
    listed = [(i, math.log(p)) for i, p in enumerate(probs)][: min(shown, len(probs) - 1)]
    hidden = len(listed)
    value, bounded = regret_at(_token(0, *listed), hidden)
    truth = math.log(probs[0]) - math.log(probs[hidden])
    assert bounded
    assert value <= truth + 1e-6


def test_free_regrets_end_with_the_first_divergence() -> None:
    stream = [_token(1, (1, -0.1), (2, -2.6)), _token(3, (3, -0.2), (4, -1.2)), _token(5, (5, 0.0))]
    free = stream_regrets((1, 4, 9), stream, 1)
    assert free.values.tolist() == pytest.approx([0.0, 1.0])
    assert (free.start, free.shape) == (0, "decode")
    assert stream_regrets((1,), [Token(1)], None) is None


@given(st.lists(st.integers(0, 2), max_size=8), st.lists(st.integers(0, 2), max_size=8))
def test_first_divergence(left: list[int], right: list[int]) -> None:
    at = first_divergence(left, right)
    assert at == first_divergence(right, left)
    if at is None:
        assert left == right
    else:
        assert left[:at] == right[:at]
        assert left[at : at + 1] != right[at : at + 1]


def test_scores_belong_to_the_tokens_they_came_for() -> None:
    score = Score("scored", (-0.5, -3.0), (-0.5, -1.0), (7, 9))
    scored = scored_of(score, (6, 7, 8), start=1)
    assert scored_regrets(scored, 1).values.tolist() == [0.0, 2.0]
    assert scored_regrets(scored, 2).values.tolist() == [2.0]
    assert scored_regrets(scored, 2).start == 2
    assert scored_regrets(scored, 2).shape == "prefill"
    lockstep = Score("scored", (-0.5,), (-0.5,), (7,), shape="decode")
    assert scored_regrets(scored_of(lockstep, (7,)), 0).shape == "decode"
    assert scored_of(Score("too_long"), (6, 7)) is None
    with pytest.raises(ScoreError, match="2 scores for 3 tokens"):
        scored_of(score, (6, 7, 8))


def test_a_fork_tells_both_sides() -> None:
    candidate = [_token(4, (4, -0.6), (3, -0.85), (8, -3.1))]
    baseline = [_token(3, (3, -0.6), (4, -0.85), (8, -3.225))]
    fork = fork_between(candidate, baseline, 1.0)
    assert (fork.index, fork.kind) == (0, "near_tie")
    assert fork.regret == pytest.approx(0.25)
    assert fork.margin == pytest.approx(0.25)
    assert fork.ulp == pytest.approx(2.0)
    assert [entry[0] for entry in fork.top[1]] == [4, 3]
    assert fork_between(candidate, candidate, 1.0) is None
    assert fork_between(candidate, [*candidate, *candidate], 1.0).kind == "prefix"


@given(
    st.lists(st.integers(0, 40), min_size=3, max_size=6),
    st.sampled_from([0.25, 0.125, 0.0625, 0.03125]),
    st.floats(-3, 0),
)
def test_the_bf16_grid_divides_every_gap(steps: list[int], grid: float, top: float) -> None:
    values = [float(np.float32(top - step * grid)) for step in steps]
    found = bf16_grid(values)
    assert found is not None
    assert found >= grid or len(set(steps)) == 1


def test_float32_logits_have_no_grid() -> None:
    assert bf16_grid([-0.1234567, -1.7654321, -2.3456789]) is None
    assert bf16_grid([-0.5, -1.0]) is None


def test_a_token_below_its_own_list_is_no_argmax() -> None:
    right = _token(1, (1, -0.5), (2, -0.5))
    wrong = _token(2, (2, -0.6), (1, -0.5))
    alone = _token(2, (2, -0.6))
    response = response_of((1,), [right, wrong, alone])
    assert not_argmax(response) == (1,)
    assert below_best(Tokens.of(response.tokens)).tolist()[:2] == pytest.approx([0.0, 0.1])


@pytest.mark.parametrize(("below", "wrong"), [(9e-6, False), (1.1e-5, True)])
def test_one_tolerance_for_cases_runs_and_rows(below: float, wrong: bool) -> None:
    """A hundred-thousandth of a nat, as in vLLM's own test, wherever an argmax is looked at."""
    response = response_of((1,), [_token(2, (2, -0.5 - below), (1, -0.5))])
    assert (not_argmax(response) == (0,)) is wrong
    pair = pair_of_responses({"temperature": 0}, response, response)
    assert any(f.code == "SAMPLER_NOT_ARGMAX" for f in judge_pair(pair).findings) is wrong
    sound = response_of((1,), [_token(2, (2, -0.5), (1, -0.6))])
    turn = GreedyTurn("s", "t", response, sound)
    bounds = {bound.name: bound for bound in judge_greedy([turn], Policy(), 0).bounds}
    assert (bounds["candidate_argmax"].state == "fail") is wrong
