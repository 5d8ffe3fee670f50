"""The ladder of thresholds: counts against counts, and what it can see."""

from dataclasses import replace

import numpy as np
import pytest

from checks.greedy.bounds import LADDER
from checks.greedy.judge import judge_measured
from checks.greedy.ladder import RUNGS, Ladder, climb, dispersion
from checks.greedy.turn import TurnRegrets
from checks.policy import Policy
from checks.tokens.regret import Regrets
from evidence.simulated.noise_runs import NoiseModel, RunSize, simulate
from evidence.simulated.pool import EMPTY
from evidence.simulated.whole_runs import worse

LEVEL = 0.001
SMALL = [0.06] * 2
"""Small regrets of every session, so that the dispersion is known: 1."""


def turn(place: int, candidate: dict[int, float], noise: dict[int, float]) -> TurnRegrets:
    """1,000 tokens of decode shape on either side; regrets by token, the others are 0."""

    def part(regrets: dict[int, float]) -> Regrets:
        values = np.zeros(1000)
        values[998:] = SMALL
        for index, value in regrets.items():
            values[index] = value
        return Regrets("decode", 0, values, np.zeros(1000, np.bool_))

    return TurnRegrets(f"s{place:02}", "t0", (part(candidate),), (part(noise),), noise_forked=False)


def run(each: int, regret: float, sessions: int = 20, noise: float = 0.0) -> list[TurnRegrets]:
    """`each` tokens of a regret in each of 20 sessions' candidates; one of the baseline's own."""
    own = {0: noise} if noise else {}
    return [
        turn(s, dict.fromkeys(range(each if s < sessions else 0), regret), own) for s in range(20)
    ]


def rung(ladder: Ladder, threshold: float):
    return next(r for r in ladder.rungs if r.threshold == threshold)


def test_counts_are_compared_by_the_binomial_test() -> None:
    ladder = climb(run(1, 0.6), Policy(noise_tails="heavy"), LEVEL)
    found = rung(ladder, 0.5)
    assert (found.exceedances, found.noise_exceedances, found.sessions) == (20, 0, 20)
    assert found.p == pytest.approx((2 / 3) ** 20)
    assert found.needed == next(k for k in range(99) if (2 / 3) ** k <= LEVEL / len(RUNGS))
    assert rung(ladder, 0.75).p == 1.0


def test_light_or_unknown_tails_borrow_from_the_lowest_rung() -> None:
    """Five tokens of 5 nat: direct (2 / 3)^5; the rate above 0.15 nat, falling as 1 / x, is none
    either, so one in eleven at 3 nat: w = 2 · 0.3 / 3 = 0.2, p = 2 (1 / 6)^5."""
    few = run(1, 5.0, sessions=5)
    assert rung(climb(few, Policy(noise_tails="heavy"), LEVEL), 3.0).p == pytest.approx(
        (2 / 3) ** 5
    )
    assert rung(climb(few, Policy(), LEVEL), 3.0).p == pytest.approx(2 * (1 / 6) ** 5)


def test_one_large_regret_of_the_baseline_switches_nothing_off() -> None:
    """A maximum above 0.5 nat once did: a wrong token in 250 then passed."""
    faulty = run(4, 2.5)
    faulty[0] = turn(0, dict.fromkeys(range(4), 2.5), {0: 3.0})
    ladder = climb(faulty, Policy(), LEVEL)
    assert all(one.off is None for one in ladder.rungs)
    assert {one.threshold for one in ladder.broken} >= {0.5, 1.0, 2.0}


def test_what_the_baseline_shows_at_half_is_tolerated_twice_over() -> None:
    assert climb(run(2, 0.6, noise=0.3), Policy(), LEVEL).broken == ()
    assert climb(run(6, 0.6, noise=0.3), Policy(), LEVEL).broken != ()


@pytest.mark.parametrize("sessions", [1, 2])
def test_exceedances_of_fewer_than_three_sessions_break_nothing(sessions: int) -> None:
    assert climb(run(300, 2.5, sessions), Policy(), LEVEL).broken == ()


def test_a_regret_on_the_threshold_is_not_above_it() -> None:
    """0.5 nat is two steps of 0.25; the rounding of log probabilities makes it 0.5000002."""
    assert rung(climb(run(3, 0.5 + 2e-7), Policy(), LEVEL), 0.5).exceedances == 0


def test_a_baseline_with_many_large_regrets_leaves_decode_shape_blind() -> None:
    noisy = [turn(s, {}, dict.fromkeys(range(600), 4.0)) for s in range(20)]
    ladder = climb(noisy, Policy(), LEVEL)
    assert ladder.blind
    assert {one.off for one in ladder.rungs} == {"the baseline's own are too many"}
    judged = judge_measured([stub(m) for m in noisy], noisy, Policy(), 0)
    bound = next(bound for bound in judged.bounds if bound.name == LADDER)
    assert bound.state == "inconclusive"
    assert "no rung could have failed" in bound.message
    assert bound.needed is not None


def stub(measured: TurnRegrets):
    from checks.greedy.turn import GreedyTurn

    return GreedyTurn(measured.session, measured.turn, EMPTY, EMPTY)


def test_a_floor_that_is_missing_is_said() -> None:
    bare = [replace(one, noise=()) for one in run(3, 2.5)]
    assert {one.off for one in climb(bare, Policy(), LEVEL).rungs} == {"no baseline tokens"}


def test_dispersion_is_of_the_difference_between_the_paths() -> None:
    tokens = np.full(6, 1000)
    alike = np.array([2, 90, 4, 60, 2, 40])
    assert dispersion(alike, tokens, alike, tokens) == 1.0
    # Pearson: each session's pair (10, 30) or (30, 10) of mean 20 and variance 10 is 10 off.
    hits, others = np.array([10, 30] * 3), np.array([30, 10] * 3)
    assert dispersion(hits, tokens, others, tokens) == pytest.approx(6 * 10**2 / 10 / 5)
    assert dispersion(hits * 0, tokens, others, tokens) == 2.0


def test_sessions_that_the_baseline_was_not_measured_in_are_taken_to_be_like_the_others() -> None:
    half = [one if i < 12 else replace(one, noise=()) for i, one in enumerate(run(4, 2.5))]
    assert climb(half, Policy(), LEVEL).broken != ()


@pytest.mark.parametrize("tails", ["light", "auto", "heavy"])
def test_wrong_tokens_of_a_noisy_target_break_a_rung(tails: str) -> None:
    model = NoiseModel(0.05, 0.05, 0.2, 3.0, 1.0)
    rng = np.random.default_rng(3)
    _, measured = simulate(model, RunSize(24, 3, 280), rng)
    policy = Policy.model_validate({"noise_tails": tails})
    assert climb(measured, policy, LEVEL).broken == ()
    assert climb(worse(4e-3, 2.5)(measured, rng), policy, LEVEL).broken != ()
