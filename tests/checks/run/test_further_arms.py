"""Further arms: rates stay inside an arm, a small arm holds up no pass, counters and the curve."""

from dataclasses import replace

import pytest

from checks.bounds import Bound
from checks.greedy.judge import GreedyJudgement, judge_greedy
from checks.greedy.turn import GreedyTurn
from checks.policy import Policy
from checks.run.answered import Load
from checks.run.arms import arm_bounds, arm_findings, missing_bound
from checks.servers.server_counters import growth, judge_counters, other_traffic, preempted, sums
from checks.servers.speed import SpeedEstimate
from checks.servers.speed_curve import CurvePoint, curve_break_even, half_empty, mean_in_flight
from tests.support.synthetic_model import (
    Noise,
    SyntheticModel,
    gaussian,
    greedy_pool,
    quiet,
    response_of,
)
from traces.journal.server_sample import ServerSample
from traces.wire.response import Response, Speculation, Token, Usage

POLICY = Policy(rate_margin=2e-3)
LOUD = gaussian(0.6)


def pool(candidate: Noise, floor: Noise) -> list[GreedyTurn]:
    """A run whose baseline shows `floor` against itself, repeated and re-read."""
    shapes = {("repeat", "decode"): floor, ("baseline", "prefill"): floor}
    noise = {("candidate", "decode"): candidate, **shapes}
    return greedy_pool(SyntheticModel(noise=noise), sessions=12, turns=3, length=32)


def bounds_of(judgement: GreedyJudgement) -> dict[str, Bound]:
    return {bound.name: bound for bound in arm_bounds("c16", judgement)}


def test_an_arm_as_noisy_as_its_own_repeat_does_not_fail() -> None:
    """Batches of sixteen round more than those of one, on both paths."""
    main = pool(quiet, quiet)
    judged = judge_greedy(pool(LOUD, LOUD), POLICY, 0, beside=main)
    assert judged.rate is not None
    assert judged.rate.noise_exceedances > 0
    assert {bound.state for bound in judged.bounds} & {"fail"} == set()


def test_the_main_arm_s_noise_excuses_no_rate_of_another_arm() -> None:
    noisy_main = pool(LOUD, LOUD)
    judged = judge_greedy(pool(LOUD, quiet), POLICY, 0, beside=noisy_main)
    assert bounds_of(judged)["greedy_regret_rate[c16]"].state == "fail"
    codes = {finding.code: finding.detail["arm"] for finding in arm_findings("c16", judged)}
    assert codes["REGRET_RATE"] == "c16"


def test_the_main_arm_s_noise_calibrates_single_tokens_of_another() -> None:
    """A token that the baseline's noise reaches elsewhere condemns nobody here."""
    alone = judge_greedy(pool(LOUD, quiet), POLICY, 0)
    beside = judge_greedy(pool(LOUD, quiet), POLICY, 0, beside=pool(LOUD, gaussian(1.5)))
    assert any(turn.hard for turn in alone.turns)
    assert not any(turn.hard for turn in beside.turns)


def test_a_small_arm_leaves_an_undecided_rate_to_the_main_one() -> None:
    judged = judge_greedy(pool(quiet, quiet)[:6], Policy(), 0)
    undecided = {bound.name: bound.state for bound in judged.bounds}
    assert undecided["greedy_regret_rate"] == undecided["sessions"] == "inconclusive"
    found = bounds_of(judged)
    assert found["greedy_regret_rate[c16]"].state == "not_applicable"
    assert found["greedy_regret_rate[c16]"].high is not None
    assert undecided["greedy_regret_ladder"] == "inconclusive"
    assert found["greedy_regret_ladder[c16]"].state == "not_applicable"
    assert "sessions[c16]" not in found


def test_an_arm_of_which_nothing_ran_stays_open() -> None:
    found = missing_bound("c16")
    assert (found.name, found.state) == ("greedy_regret_ladder[c16]", "inconclusive")


# The speed-up curve.


def point(concurrency: int, speedup: float | None, in_flight: float | None = None) -> CurvePoint:
    speed = SpeedEstimate("ms_per_token", 10.0, 5.0, speedup, None, None, 10, 5)
    return CurvePoint(f"c{concurrency}", concurrency, in_flight, in_flight, (speed,))


def test_break_even_lies_between_measured_concurrencies() -> None:
    # log2: 0 and 4; from 2.0 to 0.5 the logarithm crosses 0 half way, at concurrency 4
    assert curve_break_even([point(1, 2.0), point(16, 0.5)]) == pytest.approx(4.0)
    assert curve_break_even([point(1, 2.03), point(4, 1.71), point(16, 1.66)]) is None
    assert curve_break_even([point(1, 0.5)]) is None
    assert curve_break_even([point(1, 2.0), point(16, None)]) is None


def test_requests_in_flight_on_average() -> None:
    assert mean_in_flight([(0.0, 4.0), (0.0, 2.0), (2.0, 4.0)]) == 2.0
    assert mean_in_flight([(0.0, 1.0), (3.0, 4.0)]) == 0.5
    assert mean_in_flight([]) is None


def test_an_arm_that_ran_half_empty_is_reported() -> None:
    assert half_empty(point(16, 1.5, in_flight=15.0)) is None
    assert half_empty(point(16, 1.5)) is None
    assert "7.0 of 16 requests" in (half_empty(point(16, 1.5, in_flight=7.0)) or "")


# Counters of the servers.


def answers(count: int, k: int = 3) -> list[Response]:
    """Ten tokens each: the prefill's, and three steps of three (two accepted drafts each)."""
    plain = response_of((1,), [Token(i) for i in range(10)])
    speculation = Speculation((2, 2, 2), (k, k, k), {})
    return [replace(plain, usage=Usage(1, 10), speculation=speculation) for _ in range(count)]


def samples(url: str = "http://s", **counters: tuple[float, ...]) -> list[ServerSample]:
    rows = zip(*counters.values(), strict=True)
    return [
        ServerSample("candidate", "main", url, float(at), **dict(zip(counters, row, strict=True)))
        for at, row in enumerate(rows)
    ]


RIGHT = {
    "generation_tokens": (500.0, 900.0, 1500.0),
    "drafts": (10.0, 200.0, 310.0),
    "draft_tokens": (0.0, 400.0, 900.0),
    "accepted_tokens": (5.0, 300.0, 605.0),
}


def test_counters_that_agree_give_nothing() -> None:
    assert judge_counters("candidate", "main", samples(**RIGHT), sums(answers(100)), 4) == []


@pytest.mark.parametrize("name", RIGHT)
def test_each_counter_is_compared_with_the_answers(name: str) -> None:
    wrong = {**RIGHT, name: (0.0, 0.0, 0.9 * (RIGHT[name][-1] - RIGHT[name][0]))}
    (found,) = judge_counters("candidate", "main", samples(**wrong), sums(answers(100)), 4)
    assert (found.code, found.severity) == ("METRIC_SUM", "error")
    assert found.detail["counter"] == name


def test_a_last_step_that_is_not_counted_yet_is_no_contradiction() -> None:
    late = {**RIGHT, "generation_tokens": (500.0, 900.0, 1500.0 - 4 * 4)}
    assert judge_counters("candidate", "main", samples(**late), sums(answers(100)), 4) == []


def test_a_server_started_anew_or_silent_is_not_judged() -> None:
    fell = {**RIGHT, "drafts": (310.0, 0.0, 200.0)}
    assert growth(samples(**fell), "drafts") is None
    assert growth(samples(**RIGHT), "preemptions") is None
    assert growth([], "drafts") is None
    assert judge_counters("candidate", "main", [], sums(answers(100)), 4) == []
    silent = [replace(answer, usage=None, speculation=None) for answer in answers(3)]
    assert judge_counters("candidate", "main", samples(**RIGHT), sums(silent), 4) == []


def test_several_servers_of_a_path_are_summed() -> None:
    both = [*samples("http://a", drafts=(0.0, 100.0)), *samples("http://b", drafts=(50.0, 250.0))]
    assert growth(both, "drafts") == 300.0


def test_preemptions_are_counted_over_a_resume() -> None:
    assert preempted(samples(preemptions=(1.0, 1.0))) == 0.0
    assert preempted(samples(preemptions=(1.0, 4.0, 0.0, 2.0))) == 5.0
    assert preempted(samples(drafts=(1.0, 2.0))) is None


def test_other_clients_traffic_is_reported() -> None:
    more = {"generation_tokens": (0.0, 1500.0)}
    note = other_traffic("candidate", "main", samples(**more), sums(answers(100)), 4)
    assert note is not None
    assert "wrote 500 tokens for others" in note
    assert "50%" in note
    alone = {"generation_tokens": (0.0, 1010.0)}
    assert other_traffic("candidate", "main", samples(**alone), sums(answers(100)), 4) is None
    # behind a balancer another server may answer /metrics: fewer tokens say nothing
    fewer = {"generation_tokens": (0.0, 10.0)}
    assert other_traffic("candidate", "main", samples(**fewer), sums(answers(100)), 4) is None


def test_own_traffic_between_the_parts_of_an_interrupted_arm_is_not_counted() -> None:
    """Probes and warm-ups of the resumed run, and turns that were in flight when it ended."""
    first = [replace(s, part=0.0) for s in samples(generation_tokens=(0.0, 400.0))]
    second = [replace(s, part=9.0, at=s.at + 9) for s in samples(generation_tokens=(900.0, 1500.0))]
    assert growth([*first, *second], "generation_tokens") == 1000.0
    assert growth(samples(generation_tokens=(0.0, 1500.0)), "generation_tokens") == 1500.0


def test_only_an_arm_that_was_sampled_in_one_go_is_whole() -> None:
    load = Load(sums(answers(2)), ((0.5, 0.8), (9.2, 9.9)))
    parts = [ServerSample("candidate", "main", "u", at, part=part) for at, part in
             ((0.0, 0.0), (1.0, 0.0), (9.0, 9.0), (10.0, 9.0))]  # fmt: skip
    assert not load.whole(parts)
    assert load.whole([replace(sample, part=None) for sample in parts])
    assert Load(sums(answers(1)), ((0.5, 0.8),)).whole(parts)
    assert not Load(sums(answers(1)), ((0.5, 0.8),), clean=False).whole(parts)
