"""Greedy equivalence: does every candidate token cost the baseline no more than rounding does?

    judgement = judge_greedy(turns, policy, seed=0)

The caller fills one `GreedyTurn` per turn at temperature 0 and asks the baseline about
`judgement.suspects` before it believes a failure. Codes: `GREEDY_DIVERGENCE`, `NEAR_TIE_FORK`,
`REGRET_RATE`, and `SAMPLER_NOT_ARGMAX` for turns whose processed logits only servers with
processed log probabilities can show. Where this judgement runs, pairs leave their forks to it
(``judge_pair(pair, forks=False)``): it knows the noise floor, a pair does not.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from checks.bounds import Bound
from checks.findings import Finding
from checks.greedy.bounds import (
    absent_bounds,
    argmax_bound,
    coverage_bound,
    enough_bounds,
    hard_bound,
    noise_bound,
    rate_bound,
)
from checks.greedy.findings import findings_of
from checks.greedy.noise import Noise
from checks.greedy.rate import RateEstimate, judge_rate
from checks.greedy.rate_table import calibrate, split_of
from checks.greedy.turn import GreedyTurn, TurnRegrets, measure_turn
from checks.greedy.turn_judgement import TurnJudgement, judge_turn, regret_of
from checks.policy import Policy
from checks.stats.sign_flip import SignFlip
from checks.tokens.argmax import checkable_places, not_argmax
from traces.wire.tokens import Tokens


@dataclass(frozen=True, slots=True)
class Suspect:
    """A token above the hard bound that the baseline was not yet asked about.

    Ask it for its own next token after the candidate's first `index` output tokens, put that into
    `GreedyTurn.own_tokens`, and judge again.
    """

    session: str
    turn: str
    index: int
    regret: float


@dataclass(frozen=True, slots=True)
class GreedyJudgement:
    """Bounds in report order, findings, and the numbers they rest on.

    `tokens` counts candidate tokens with a regret, `rate_tokens` those of them in the sessions
    that test (`rate` and `scaled_rate`, `checks.greedy.rate`, are about
    these). `not_judged` counts turns by reason. `split` says in
    words which sessions calibrated; `tested` are the sessions whose rates were tested.
    """

    bounds: tuple[Bound, ...]
    findings: tuple[Finding, ...]
    turns: tuple[TurnJudgement, ...]
    noise: tuple[Noise, ...]
    rate: RateEstimate | None
    scaled_rate: RateEstimate | None
    sign_flip: SignFlip | None
    suspects: tuple[Suspect, ...]
    tokens: int
    unscored: int
    processed: int
    sessions: int
    not_judged: Mapping[str, int]
    split: str
    tested: frozenset[str]


def judge_greedy(
    turns: Sequence[GreedyTurn], policy: Policy, seed: int, beside: Sequence[GreedyTurn] = ()
) -> GreedyJudgement:
    """Judge all greedy turns of an arm. The same input gives the same result, in any order.

    `beside` are the turns of the run's main arm, for a further arm: what the baseline shows against
    itself there is noise here too, so it calibrates the bounds of single tokens. Rates are compared
    inside the arm alone, for those of two concurrencies do not compare.
    """
    ordered = sorted(turns, key=lambda turn: (turn.session, turn.turn))
    floor = [measure_turn(turn) for turn in beside]
    return judge_measured(ordered, [measure_turn(turn) for turn in ordered], policy, seed, floor)


def judge_measured(
    turns: Sequence[GreedyTurn],
    measured: Sequence[TurnRegrets],
    policy: Policy,
    seed: int,
    beside: Sequence[TurnRegrets] = (),
) -> GreedyJudgement:
    """As `judge_greedy`, of turns whose regrets are known already (same order in both)."""
    halves = split_of([*beside, *measured], seed)
    noise = calibrate([*beside, *measured], halves, policy)
    judged = [judge_turn(t, m, noise) for t, m in zip(turns, measured, strict=True)]
    rate = judge_rate(measured, noise, halves, policy, seed)
    wrong, checked, listed = _argmax(turns)
    bounds = (
        hard_bound(judged, noise),
        rate_bound(rate, policy),
        argmax_bound(wrong, checked, listed),
        coverage_bound(judged),
        noise_bound(measured, noise),
        *enough_bounds([(t.session, t.turn) for t in judged if t.tokens], policy),
    )
    return GreedyJudgement(
        bounds=bounds if turns else absent_bounds(),
        findings=tuple(findings_of(turns, judged, bounds[1], wrong)),
        turns=tuple(judged),
        noise=tuple(noise.values()),
        rate=rate.estimate,
        scaled_rate=rate.scaled,
        sign_flip=rate.sign_flip,
        suspects=tuple(_suspects(turns, measured, judged)),
        tokens=sum(turn.tokens for turn in judged),
        unscored=sum(turn.unscored for turn in judged),
        processed=sum(turn.processed for turn in judged),
        sessions=len({turn.session for turn in judged if turn.tokens}),
        not_judged=dict(Counter(t.not_judged for t in judged if t.not_judged is not None)),
        split=rate.split,
        tested=rate.tested,
    )


def _argmax(turns: Sequence[GreedyTurn]) -> tuple[dict[int, tuple[int, ...]], int, int]:
    """Turn position -> wrong output indices; tokens that were checked; tokens that were sent."""
    wrong, checked, sent = {}, 0, 0
    for place, turn in enumerate(turns):
        if turn.processing and not turn.processed_logprobs:
            continue
        tokens = Tokens.of(turn.candidate.tokens or ())
        sent += len(tokens)
        checked += int(checkable_places(tokens).sum())
        indices = not_argmax(turn.candidate)
        if indices:
            wrong[place] = indices
    return wrong, checked, sent


def _suspects(
    turns: Sequence[GreedyTurn], measured: Sequence[TurnRegrets], judged: Sequence[TurnJudgement]
) -> list[Suspect]:
    return [
        Suspect(turn.session, turn.turn, index, found[0])
        for turn, regrets, result in zip(turns, measured, judged, strict=True)
        for index in result.hard
        if index not in turn.own_tokens and (found := regret_of(regrets, index)) is not None
    ]
