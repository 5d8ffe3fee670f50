"""Greedy equivalence: does every candidate token cost the baseline no more than rounding does?

    judgement = judge_greedy(turns, policy, seed=0)

The caller fills one `GreedyTurn` per turn at temperature 0 and asks the baseline about
`judgement.suspects` before it believes a failure. Codes: `GREEDY_DIVERGENCE`, `NEAR_TIE_FORK`,
`REGRET_RATE`, and `SAMPLER_NOT_ARGMAX` for turns whose processed logits only servers with
processed log probabilities can show. Where this judgement runs, pairs leave their forks to it
(``judge_pair(pair, forks=False)``): it knows the noise floor, a pair does not.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from checks.bounds import Bound
from checks.findings import REGRET_RATE, WARNING, Finding
from checks.greedy.bounds import (
    absent_bounds,
    argmax_bound,
    coverage_bound,
    enough_bounds,
    ladder_bound,
    noise_bound,
    rate_bound,
    small_bound,
)
from checks.greedy.findings import findings_of
from checks.greedy.ladder import Ladder, climb
from checks.greedy.levels import MAIN_LEVELS, Levels
from checks.greedy.noise import Noise
from checks.greedy.rate import RateEstimate, judge_rate
from checks.greedy.rate_table import Halves, NoiseByShape, calibrate, split_of
from checks.greedy.small_regrets import SmallRegrets, small_regrets
from checks.greedy.turn import GreedyTurn, TurnRegrets, measure_turn
from checks.greedy.turn_judgement import TurnJudgement, judge_turn, regret_of
from checks.policy import Policy
from checks.stats.sign_flip import SignFlip
from checks.tokens.argmax import checkable_places, not_argmax
from traces.journal.exchange import turn_order
from traces.wire.tokens import Tokens


@dataclass(frozen=True, slots=True)
class Suspect:
    """A token far beyond the baseline's noise that it was not yet asked about.

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
    these). `small` is `None` where no turn was sent to the baseline twice. `not_judged` counts
    turns by reason. `split` says in words which sessions calibrated; `tested` are the sessions
    whose rates were tested.
    """

    bounds: tuple[Bound, ...]
    findings: tuple[Finding, ...]
    turns: tuple[TurnJudgement, ...]
    noise: tuple[Noise, ...]
    ladder: Ladder
    small: SmallRegrets | None
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


@dataclass(frozen=True, slots=True)
class GreedyFloor:
    """The noise floor of an arm by shape, and which sessions calibrated it."""

    noise: NoiseByShape
    halves: Halves


@dataclass(frozen=True, slots=True)
class TurnResult:
    """One turn judged against the floor: its regrets and what was concluded, and no capture.

    `wrong` are output indices of tokens that are not the best of the candidate's own list, of
    `checked` that carry one and `sent` that should.
    """

    regrets: TurnRegrets
    judgement: TurnJudgement
    findings: tuple[Finding, ...] = ()
    suspects: tuple[Suspect, ...] = ()
    wrong: tuple[int, ...] = ()
    checked: int = 0
    sent: int = 0


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
    floor = floor_of(measured, policy, seed, beside)
    results = [judge_one(t, m, floor.noise) for t, m in zip(turns, measured, strict=True)]
    return conclude(results, floor, policy, seed)


def floor_of(
    measured: Sequence[TurnRegrets],
    policy: Policy,
    seed: int,
    beside: Sequence[TurnRegrets] = (),
) -> GreedyFloor:
    """The noise floor that the turns of an arm are judged against."""
    halves = split_of([*beside, *measured], seed)
    return GreedyFloor(calibrate([*beside, *measured], halves, policy), halves)


def judge_one(turn: GreedyTurn, measured: TurnRegrets, noise: NoiseByShape) -> TurnResult:
    """Judge one turn; `measured` are its regrets."""
    judged = judge_turn(turn, measured, noise)
    wrong, checked, sent = _argmax(turn)
    return TurnResult(
        measured,
        judged,
        tuple(findings_of(turn, judged, wrong)),
        tuple(_suspects(turn, measured, judged)),
        wrong,
        checked,
        sent,
    )


def conclude(
    results: Sequence[TurnResult],
    floor: GreedyFloor,
    policy: Policy,
    seed: int,
    levels: Levels = MAIN_LEVELS,
) -> GreedyJudgement:
    """What all turns of an arm show together; any order of `results` gives the same."""
    results = sorted(results, key=lambda one: turn_order((one.regrets.session, one.regrets.turn)))
    measured, judged = [one.regrets for one in results], [one.judgement for one in results]
    noise = floor.noise
    rate = judge_rate(measured, noise, floor.halves, policy, seed, levels.rate)
    ladder, small = climb(measured, policy, levels.ladder), small_regrets(measured, policy)
    rates = (
        ladder_bound(judged, noise, ladder),
        rate_bound(rate, policy),
        small_bound(small, levels.small),
    )
    bounds = (
        *rates,
        argmax_bound(
            sum(len(one.wrong) for one in results),
            sum(one.checked for one in results),
            sum(one.sent for one in results),
        ),
        coverage_bound(judged),
        noise_bound(measured, noise),
        *enough_bounds([(t.session, t.turn) for t in judged if t.tokens], policy),
    )
    return GreedyJudgement(
        bounds=bounds if results else absent_bounds(),
        findings=(
            *(finding for one in results for finding in one.findings),
            *_frequent(rates, ladder, small, levels),
        ),
        turns=tuple(judged),
        noise=tuple(noise.values()),
        ladder=ladder,
        small=small,
        rate=rate.estimate,
        scaled_rate=rate.scaled,
        sign_flip=rate.sign_flip,
        suspects=tuple(suspect for one in results for suspect in one.suspects),
        tokens=sum(turn.tokens for turn in judged),
        unscored=sum(turn.unscored for turn in judged),
        processed=sum(turn.processed for turn in judged),
        sessions=len({turn.session for turn in judged if turn.tokens}),
        not_judged=dict(Counter(t.not_judged for t in judged if t.not_judged is not None)),
        split=rate.split,
        tested=rate.tested,
    )


def _frequent(
    rates: tuple[Bound, Bound, Bound], ladder: Ladder, small: SmallRegrets | None, levels: Levels
) -> Iterator[Finding]:
    """REGRET_RATE of every bound that regrets are too frequent for; a warning of the small ones
    where their floor does not let them condemn."""
    _, of_rate, of_small = rates
    if ladder.broken:
        yield Finding(REGRET_RATE, "; ".join(ladder.breaks))
    if of_rate.state == "fail":
        yield Finding(REGRET_RATE, of_rate.message)
    if small is not None and small.p <= levels.small:
        severity = "" if of_small.state == "fail" else WARNING
        yield Finding(REGRET_RATE, of_small.message, severity=severity)


def _argmax(turn: GreedyTurn) -> tuple[tuple[int, ...], int, int]:
    """Wrong output indices, but for those where the baseline sends the same token, which is not the
    best of its list either; tokens that were checked; tokens that were sent."""
    if turn.processing and not turn.processed_logprobs:
        return (), 0, 0
    tokens = Tokens.of(turn.candidate.tokens or ())
    checked = int(checkable_places(tokens).sum())
    baseline, shared = Tokens.of(turn.baseline.tokens or ()), set(not_argmax(turn.baseline))
    wrong = (
        index
        for index in not_argmax(turn.candidate)
        if index not in shared or tokens.ids[index] != baseline.ids[index]
    )
    return tuple(wrong), checked, len(tokens)


def _suspects(turn: GreedyTurn, measured: TurnRegrets, judged: TurnJudgement) -> Iterator[Suspect]:
    for index in judged.hard:
        if index not in turn.own_tokens and (found := regret_of(measured, index)) is not None:
            yield Suspect(turn.session, turn.turn, index, found[0])
