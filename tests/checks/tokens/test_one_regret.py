"""One regret and one fork: the same tokens get the same answer in a case file and in a run.

Each row is a position of the baseline, the token the candidate emits there, and the right values,
computed by hand: the regret (nat), whether it is a lower bound, and what the fork is at a bound of
1.0 nat.
"""

import math

import pytest

from checks.exact.judge import judge_pair
from checks.findings import GREEDY_DIVERGENCE, NEAR_TIE_FORK
from checks.greedy.judge import judge_greedy
from checks.greedy.turn import GreedyTurn
from checks.pair import pair_of_responses
from checks.policy import Policy
from checks.tokens.fork import fork_between
from checks.tokens.regret import regret_at
from tests.support.synthetic_model import response_of
from traces.wire.response import Response, Token, TopLogprob

WANTED = 9
FIRST = Token(7, "a", -0.01, (TopLogprob(7, "a", -0.01), TopLogprob(8, "b", -6.0)))
REQUEST = {"temperature": 0, "messages": []}


def _at(*listed: tuple[int | None, float], own: float) -> Token:
    """The baseline emits token 1 at log probability `own` and lists what is given."""
    return Token(1, "x", own, tuple(TopLogprob(i, None, p) for i, p in listed))


ROWS = {
    # one entry is enough: 0.1 is left for any other token; ln 0.9 - ln 0.1 = ln 9
    "one entry, hard": (_at(own=math.log(0.9)), 2.197225, True, 2.197225, "hard"),
    # ln 0.55 - ln 0.45 = 0.2007: it may be more, so nothing is known
    "one entry, open": (_at(own=math.log(0.55)), 0.200671, True, 0.200671, "unscored"),
    # a list that sums to one leaves 1e-6, what float32 cannot tell from 0: ln 0.75 - ln 1e-6
    "nothing left": (
        _at((1, math.log(0.75)), (2, math.log(0.25)), own=math.log(0.75)),
        13.527828,
        True,
        13.527828,
        "hard",
    ),
    # an entry that is no number is no entry: 0.2 is left beside 0.8; ln 0.8 - ln 0.2 = ln 4
    "no number beside": (
        _at((1, math.log(0.8)), (2, math.nan), own=math.log(0.8)),
        1.386294,
        True,
        1.386294,
        "hard",
    ),
    # an entry of unknown id may be the token: its mass stays with the rest
    "unknown id beside": (
        _at((1, math.log(0.8)), (None, math.log(0.1)), own=math.log(0.8)),
        1.386294,
        True,
        1.386294,
        "hard",
    ),
    # the baseline's own token is not its best: 2.3 below the best, 0.5 below its own
    "baseline not greedy": (
        _at((2, -0.2), (1, -2.0), (WANTED, -2.5), own=-2.0),
        2.3,
        False,
        0.5,
        "near_tie",
    ),
    # better than the baseline's own
    "better": (_at((WANTED, -0.2), (1, -2.0), own=-2.0), 0.0, False, -1.8, "near_tie"),
    # 1.3 and 3.8 below the best: 2.5 below its own
    "far below its own too": (
        _at((2, -0.2), (1, -1.5), (WANTED, -4.0), own=-1.5),
        3.8,
        False,
        2.5,
        "hard",
    ),
    # one nat exactly, in decimals (1.0000000000000002 in binary) is not above one nat
    "one nat": (_at((1, -1.39), (WANTED, -2.39), own=-1.39), 1.0, False, 1.0, "near_tie"),
    "above one nat": (_at((1, -1.39), (WANTED, -2.391), own=-1.39), 1.001, False, 1.001, "hard"),
}
UNKNOWN = {
    "no score": Token(1, "x"),
    "its own score is no number": _at((WANTED, -0.5), own=math.nan),
    "its own token is impossible": _at((WANTED, -0.5), own=-math.inf),
    "the wanted score is no number": _at((1, -0.5), (WANTED, math.nan), own=-0.5),
}


@pytest.mark.parametrize("name", ROWS)
def test_regret_and_fork(name: str) -> None:
    baseline, value, at_least, of_fork, kind = ROWS[name]
    assert regret_at(baseline, WANTED) == (pytest.approx(value, abs=1e-6), at_least)
    fork = fork_between([FIRST, Token(WANTED)], [FIRST, baseline], 1.0)
    assert (fork.index, fork.kind, fork.at_least) == (1, kind, at_least)
    assert fork.regret == pytest.approx(of_fork, abs=1e-6)


@pytest.mark.parametrize("name", UNKNOWN)
def test_what_is_not_known(name: str) -> None:
    assert regret_at(UNKNOWN[name], WANTED) is None
    fork = fork_between([FIRST, Token(WANTED)], [FIRST, UNKNOWN[name]], 1.0)
    assert (fork.kind, fork.regret) == ("unscored", None)


def _responses(baseline: Token) -> tuple[Response, Response]:
    own = (TopLogprob(WANTED, "y", -0.1), TopLogprob(1, "x", -2.5))
    candidate = Token(WANTED, "y", -0.1, own)
    return response_of((3,), [FIRST, baseline]), response_of((3,), [FIRST, candidate])


@pytest.mark.parametrize("name", [*ROWS, *UNKNOWN])
def test_a_case_file_and_a_run_agree(name: str) -> None:
    """The same answer of a pair on its own and of the run, where no noise was measured."""
    token, *_, kind = ROWS.get(name) or (UNKNOWN[name], "unscored")
    baseline, candidate = _responses(token)
    code = GREEDY_DIVERGENCE if kind == "hard" else NEAR_TIE_FORK
    alone = judge_pair(pair_of_responses(REQUEST, baseline, candidate)).findings
    seen = [f.code for f in alone if f.code in (GREEDY_DIVERGENCE, NEAR_TIE_FORK)]
    assert seen == ([] if kind == "unscored" else [code])
    run = judge_greedy([GreedyTurn("s", "t", candidate, baseline)], Policy(), 0)
    assert [f.code for f in run.findings if f.code in (GREEDY_DIVERGENCE, NEAR_TIE_FORK)] == [code]
    known = ("unscored",) if kind == "unscored" else (kind, "excused" if kind != "hard" else kind)
    assert run.turns[0].fork is not None
    assert run.turns[0].fork.kind in known


def test_a_run_judges_forks_alone() -> None:
    """A pair of a run leaves its fork to the run, and does not list it as not judged either."""
    baseline, candidate = _responses(ROWS["one entry, hard"][0])
    judged = judge_pair(pair_of_responses(REQUEST, baseline, candidate), forks=False)
    codes = {item.code for item in (*judged.findings, *judged.not_judged)}
    assert not codes & {GREEDY_DIVERGENCE, NEAR_TIE_FORK}
