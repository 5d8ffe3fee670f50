"""Slices: faults that live in one of them are found, chance among many is not."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from checks.acceptance.profile_sums import Sums
from checks.calls.behavior import PairedOutcome
from checks.findings import Finding
from checks.greedy.judge import GreedyJudgement, judge_measured
from checks.greedy.rate import excess_p, mover_limits
from checks.greedy.rate_table import RateTable
from checks.greedy.turn import GreedyTurn, TurnRegrets
from checks.policy import Policy
from checks.slices.acceptance import compare_slices
from checks.slices.judge import SliceJudgement, judge_slices, slice_findings
from checks.slices.slices import TurnId, turns_by_slice
from checks.tokens.regret import Regrets
from tests.support.synthetic_model import response_of

POLICY = Policy()
NAMES = ("a", "b", "c", "d")
TURNS, TOKENS = 5, 400


def one_cell(x: float, n: float, y: float, m: float) -> RateTable:
    return RateTable(*(np.array([[value]], dtype=float) for value in (x, n, y, m)))


def test_which_slices_are_judged() -> None:
    """`b` is in two sessions alone, `all` holds every turn."""
    slices = {
        (f"s{i}", f"t{t}"): {
            ("tag", "all=yes"),
            ("template", "a" if i < 5 else "b"),
            ("tool", "bash" if t else "edit"),
        }
        for i in range(7)
        for t in range(2)
    }
    found = turns_by_slice(slices)
    assert list(found) == [("template", "a"), ("tool", "bash"), ("tool", "edit")]
    assert found["tool", "edit"] == {(f"s{i}", "t0") for i in range(7)}
    assert turns_by_slice({}) == {}


# p-values.


@given(
    st.integers(0, 60), st.integers(0, 20), st.sampled_from([0.25, 1.0, 4.0]), st.floats(1.0, 3.0)
)
def test_a_p_value_below_the_level_is_a_limit_above_zero(
    x: int, y: int, exposure: float, deff: float
) -> None:
    table = one_cell(x, 1e4, y, 1e4 * exposure)
    p = excess_p(table, deff, 2.0)
    for level in (0.05, 0.001):
        if not 0.98 * level < p < 1.02 * level:
            assert (p <= level) == (mover_limits(table, deff, 2.0, 1 - level)[0] > 0)


@pytest.mark.parametrize("noise", [2, 5, 20])
@pytest.mark.parametrize("level", [1e-2, 1e-3, 1e-4])
def test_the_rate_test_keeps_its_level_far_into_the_tail(noise: int, level: float) -> None:
    """Exact, over every pair of Poisson counts whose rates are as the null hypothesis says."""
    size = 0.0
    for y in range(int(stats.poisson.isf(1e-8, noise)) + 1):
        low, high = 1, int(stats.poisson.isf(1e-10, 2 * noise)) + 60
        while low < high:
            middle = (low + high) // 2
            if mover_limits(one_cell(middle, 1e4, y, 1e4), 1.0, 2.0, 1 - level)[0] > 0:
                high = middle
            else:
                low = middle + 1
        size += stats.poisson.pmf(y, noise) * stats.poisson.sf(low - 1, 2 * noise)
    assert size <= level


# Verdicts.


def regrets(values: np.ndarray) -> Regrets:
    return Regrets("decode", 0, values, np.zeros(len(values), bool))


def a_run(faulty: dict[str, float], seed: int = 1, sessions: int = 40) -> list[TurnRegrets]:
    """Sessions of four templates in turn; regrets of 0.35 nat at a rate of 3 in 10,000 on both
    sides, and of 0.7 nat in the candidate at the rate that `faulty` gives a template."""
    rng = np.random.default_rng(seed)
    found = []
    for i in range(sessions):
        rate = faulty.get(NAMES[i % len(NAMES)], 0.0)
        for t in range(TURNS):
            candidate, baseline = np.where(rng.random((2, TOKENS)) < 3e-4, 0.35, 0.0)
            candidate = np.where(rng.random(TOKENS) < rate, 0.7, candidate)
            found.append(TurnRegrets(f"s{i}", f"t{t}", (regrets(candidate),), (regrets(baseline),)))
    return found


def by_template(measured: list[TurnRegrets]) -> dict[TurnId, set[tuple[str, str]]]:
    return {
        (turn.session, turn.turn): {("template", NAMES[int(turn.session[1:]) % len(NAMES)])}
        for turn in measured
    }


def greedy_of(measured: list[TurnRegrets]) -> GreedyJudgement:
    nothing = response_of([], [])
    turns = [GreedyTurn(turn.session, turn.turn, nothing, nothing) for turn in measured]
    return judge_measured(turns, measured, POLICY, seed=0)


def judged(
    measured: list[TurnRegrets],
    outcomes: list[PairedOutcome] | None = None,
    findings: list[Finding] | None = None,
) -> dict[str, SliceJudgement]:
    slices = turns_by_slice(by_template(measured))
    found = judge_slices(
        slices, measured, greedy_of(measured), outcomes or [], findings or [], POLICY, 0
    )
    return {one.slice[1]: one for one in found}


def test_a_fault_of_one_template_is_found_in_it_alone() -> None:
    """2% of the tokens of template b; of the whole run 0.5%."""
    found = judged(a_run({"b": 0.02}))
    assert {name: one.verdict for name, one in found.items()} == {
        "a": "inconclusive",
        "b": "fail",
        "c": "inconclusive",
        "d": "inconclusive",
    }
    assert found["b"].rate is not None
    assert found["b"].rate.p is not None
    assert found["b"].rate.adjusted_p == pytest.approx(4 * found["b"].rate.p)
    assert found["b"].tests == 4
    (finding,) = slice_findings(list(found.values()), rate_failed=False, success_failed=False)
    assert (finding.code, finding.severity) == ("REGRET_RATE", "error")
    assert finding.message.startswith("template b: ")
    assert "adjusted for 4 tests of slices" in finding.message
    assert slice_findings(list(found.values()), rate_failed=True, success_failed=False) == []


@pytest.mark.parametrize("seed", range(12))
def test_noise_alone_condemns_no_slice(seed: int) -> None:
    found = judged(a_run({}, seed))
    assert {one.verdict for one in found.values()} == {"inconclusive"}


def test_exceedances_of_two_sessions_condemn_no_slice() -> None:
    measured = a_run({})
    spoilt = [
        TurnRegrets(t.session, t.turn, (regrets(np.full(TOKENS, 0.5)),), t.noise)
        if t.session in ("s1", "s5")
        else TurnRegrets(t.session, t.turn, (regrets(np.zeros(TOKENS)),), t.noise)
        for t in measured
    ]
    found = judged(spoilt)
    assert found["b"].rate is not None
    assert found["b"].rate.p == 1.0


def test_a_turn_with_an_error_fails_its_slice() -> None:
    error = Finding("ARGS_NOT_JSON", "…", session="s2", turn="t3")
    found = judged(a_run({}), findings=[error])
    assert {name for name, one in found.items() if one.verdict == "fail"} == {"c"}
    assert found["c"].errors == 1
    assert slice_findings(list(found.values()), rate_failed=False, success_failed=False) == []


def outcomes(lost: dict[str, int]) -> list[PairedOutcome]:
    """Every turn of `a_run` calls a tool; the candidate fails in the first `lost` turns of a
    session."""
    return [
        PairedOutcome(f"s{i}", f"t{t}", True, t >= lost.get(f"s{i}", 0))
        for i in range(40)
        for t in range(TURNS)
    ]


def test_lost_tool_calls_of_one_template_are_found_in_it() -> None:
    """All ten sessions of template d lose three of five: no p below 2^-10 for that."""
    lost = {f"s{i}": 3 for i in range(3, 40, 4)}
    found = judged(a_run({}), outcomes(lost))
    assert found["d"].success is not None
    assert found["d"].success.p == pytest.approx(2**-10)
    assert found["d"].success.adjusted_p == pytest.approx(8 * 2**-10)
    assert found["d"].verdict == "inconclusive"
    many = {**lost, **{f"s{i}": 2 for i in range(43, 100, 4)}}
    measured = a_run({}, sessions=100)
    calls = [
        PairedOutcome(f"s{i}", f"t{t}", True, t >= many.get(f"s{i}", 0))
        for i in range(100)
        for t in range(TURNS)
    ]
    found = judged(measured, calls)
    assert found["d"].verdict == "fail"
    assert found["a"].verdict == "inconclusive"
    (finding,) = slice_findings(list(found.values()), rate_failed=False, success_failed=False)
    assert finding.code == "TOOL_SUCCESS_INFERIOR"
    assert "the candidate alone fails in 60" in finding.message


def test_one_session_that_loses_all_its_calls_condemns_no_slice() -> None:
    found = judged(a_run({}), outcomes({"s3": TURNS}))
    assert found["d"].success is not None
    assert found["d"].success.p == 0.5
    assert found["d"].verdict == "inconclusive"


# Acceptance.


def steps(drafts: int, accepted: int) -> Sums:
    return Sums(2, drafts=drafts, accepted_tokens=accepted)


def test_acceptance_is_compared_with_the_rest_of_the_run() -> None:
    """Template a accepts 0.5 per step, all others 1.5."""
    whole = {f"s{i}": steps(100, 50 if i % 4 == 0 else 150) for i in range(24)}
    mine = {name: sums for name, sums in whole.items() if int(name[1:]) % 4 == 0}
    found = compare_slices({("template", "a"): mine, ("template", "none"): {}}, whole)
    a = found["template", "a"]
    assert (a.length, a.difference.value, a.change) == (1.5, pytest.approx(-1.0), "lower")
    nothing = found["template", "none"]
    assert (nothing.length, nothing.difference.value, nothing.change) == (None, None, None)


def test_a_slice_that_is_like_the_rest() -> None:
    rng = np.random.default_rng(3)
    whole = {f"s{i}": steps(100, int(rng.binomial(200, 0.5))) for i in range(40)}
    mine = {name: sums for name, sums in whole.items() if int(name[1:]) % 2}
    found = compare_slices({("tag", "odd=yes"): mine}, whole)
    assert found["tag", "odd=yes"].change == "alike"
