"""The rebuilt distribution against direct computation over the full vocabulary."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from checks.sampled.distribution import LARGEST_VOCABULARY, TopLists, distribution_of
from checks.sampled.sampling import Sampling, obstacles, sampling_of

VOCABULARY = 12


def _direct(probs, sampling):
    """vLLM's order, over everything: temperature, top-k (ties stay), top-p, for one row."""
    weights = probs ** (1 / sampling.temperature)
    if sampling.top_k:
        weights = np.where(weights >= np.sort(weights)[-sampling.top_k], weights, 0)
    weights = weights / weights.sum()
    order = np.argsort(weights)
    masked = np.cumsum(weights[order]) <= 1 - sampling.top_p
    masked[-1] = False
    weights[order[masked]] = 0
    return weights / weights.sum()


def _leftover(temperature: float) -> float:
    """What rounding leaves of a whole of probabilities, at the largest weight it can have when a
    temperature above 1 spreads it over all the tokens that a vocabulary may hold."""
    rest = VOCABULARY * np.finfo(float).eps
    inverse = 1 / max(1.0, temperature)
    return float(LARGEST_VOCABULARY ** (1 - inverse) * rest**inverse)


def _lists(probs, width, tokens):
    order = np.argsort(-probs, axis=1)[:, :width]
    return TopLists(np.asarray(tokens), order, np.log(np.take_along_axis(probs, order, axis=1)))


distributions = st.builds(
    Sampling,
    temperature=st.floats(0.3, 1.6),
    top_k=st.sampled_from([0, 1, 3, 5]),
    top_p=st.sampled_from([1.0, 0.95, 0.7]),
)


@given(distributions, st.integers(0, 10_000))
def test_with_everything_listed_the_distribution_is_exact(sampling: Sampling, seed: int) -> None:
    rng = np.random.default_rng(seed)
    probs = rng.dirichlet(np.full(VOCABULARY, 0.5), size=4)
    distribution = distribution_of(_lists(probs, VOCABULARY, [0, 1, 2, 3]), sampling)
    assert distribution.judged.all()
    for row in range(4):
        wanted = _direct(probs[row], sampling)
        rounding = _leftover(sampling.temperature)
        assert distribution.probs[row, :-1] == pytest.approx(
            wanted[distribution.ids[row]], abs=1e-9 + rounding
        )
        assert distribution.probs[row, -1] == pytest.approx(0, abs=1e-9 + rounding)


@given(st.integers(0, 10_000), st.integers(2, 10))
def test_unlisted_tokens_share_one_cell(seed: int, width: int) -> None:
    rng = np.random.default_rng(seed)
    probs = rng.dirichlet(np.full(VOCABULARY, 0.5), size=3)
    tokens = rng.integers(0, VOCABULARY, 3)
    distribution = distribution_of(_lists(probs, width, tokens), Sampling(1.0))
    assert distribution.judged.all()
    assert distribution.probs.sum(axis=1) == pytest.approx(1)
    for row, token in enumerate(tokens):
        place = np.flatnonzero(distribution.ids[row] == token)
        assert distribution.chosen[row] == (place[0] if len(place) else width)
        if len(place):
            assert distribution.probs[row, place[0]] == pytest.approx(probs[row, token])


@given(st.integers(0, 10_000), st.sampled_from([0.5, 0.8, 1.3]), st.integers(3, 11))
def test_what_is_judged_is_right_within_the_slack(
    seed: int, temperature: float, width: int
) -> None:
    rng = np.random.default_rng(seed)
    probs = rng.dirichlet(np.full(VOCABULARY, 0.2), size=6)
    distribution = distribution_of(_lists(probs, width, [0] * 6), Sampling(temperature))
    for row in np.flatnonzero(distribution.judged):
        wanted = _direct(probs[row], Sampling(temperature))
        assert distribution.probs[row, :-1] == pytest.approx(
            wanted[distribution.ids[row]], abs=1.1e-3
        )


def test_a_flat_position_above_temperature_1_is_left_open() -> None:
    probs = np.full((1, VOCABULARY), 1 / VOCABULARY)
    assert not distribution_of(_lists(probs, 5, [0]), Sampling(1.3)).judged[0]
    assert distribution_of(_lists(probs, 5, [0]), Sampling(1.0)).judged[0]


def test_presence_penalty_lowers_what_was_emitted() -> None:
    probs = np.array([[0.5, 0.3, 0.2], [0.5, 0.3, 0.2]])
    distribution = distribution_of(_lists(probs, 3, [0, 1]), Sampling(1.0, presence_penalty=1.0))
    first = np.array([0.5 * np.exp(-1.0), 0.3, 0.2])
    assert distribution.probs[0, :-1] == pytest.approx([0.5, 0.3, 0.2])
    assert dict(zip(distribution.ids[1], distribution.probs[1], strict=False)) == pytest.approx(
        dict(enumerate(first / first.sum()))
    )


def test_a_token_just_outside_the_nucleus_shares_the_edge_cell() -> None:
    probs = np.array([[0.6, 0.36, 0.03, 0.01]])
    distribution = distribution_of(_lists(probs, 4, [2]), Sampling(1.0, top_p=0.95))
    assert distribution.chosen[0] == 1
    far = distribution_of(_lists(probs, 4, [3]), Sampling(1.0, top_p=0.95))
    assert far.chosen[0] == 4
    assert far.probs[0, 4] == 0


def test_a_nucleus_that_may_reach_beyond_the_list_is_not_judged() -> None:
    """0.9985 of the mass is listed: the nucleus of 0.998 lies inside, that of 0.999 does not."""
    probs = np.array([[0.9, 0.0985, 0.001, 0.0005]])
    lists = _lists(probs, 2, [0])
    assert distribution_of(lists, Sampling(1.0, top_p=0.998)).judged[0]
    assert not distribution_of(lists, Sampling(1.0, top_p=0.999)).judged[0]


def test_requests() -> None:
    assert sampling_of({"temperature": 0.001}).temperature == 0.01
    assert sampling_of({"temperature": 1, "top_k": -1, "top_p": None}) == Sampling(1.0)
    assert obstacles({"temperature": 1, "repetition_penalty": 1.0}) == ()
    assert obstacles({"repetition_penalty": 1.1}) == ("repetition_penalty",)
    assert obstacles({"response_format": {"type": "json_object"}}) == ("a grammar masks tokens",)
