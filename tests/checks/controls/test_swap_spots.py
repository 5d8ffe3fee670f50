"""The cost of a runner-up in columns is that of `regret_at`, token by token."""

import math

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from checks.controls.swap_spots import runner_up_regrets
from checks.tokens.regret import regret_at
from traces.wire.tokens import Token, Tokens, TopLogprob

NUMBERS = st.sampled_from([-0.5, -1.0, -1.0, -2.0, -math.inf, math.nan])
IDS = st.sampled_from([1, 2, 3, 4, None])
TOP = st.lists(st.builds(TopLogprob, IDS, st.none(), NUMBERS), max_size=4).map(tuple)
OWN = st.sampled_from([-0.5, -1.0, math.nan, None])
TOKEN = st.builds(Token, IDS, st.none(), OWN, TOP)


def by_hand(candidate: Token, baseline: Token) -> float:
    """NaN where there is no other token, or the baseline does not list it."""
    rivals = [t for t in candidate.top if t.id != candidate.id and t.logprob > -math.inf]
    if not rivals:
        return math.nan
    found = regret_at(baseline, max(rivals, key=lambda t: t.logprob).id)
    return math.nan if found is None or found.at_least else found.value


@given(st.lists(st.tuples(TOKEN, TOKEN), max_size=5))
def test_the_cost_of_runner_ups(pairs: list[tuple[Token, Token]]) -> None:
    candidate, baseline = (Tokens.of([pair[side] for pair in pairs]) for side in (0, 1))
    expected = [by_hand(*pair) for pair in pairs]
    np.testing.assert_array_equal(runner_up_regrets(candidate, baseline), expected)
