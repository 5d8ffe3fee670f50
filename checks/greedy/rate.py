"""Are regrets above the soft bound more frequent than the baseline's own noise allows?"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from checks.bounds import State
from checks.greedy.rate_table import (
    Halves,
    NoiseByShape,
    clustering_of,
    rate_table,
    tested_sessions,
)
from checks.greedy.rates import RateEstimate, RateTable, estimate, mover_limits
from checks.greedy.turn import TurnRegrets
from checks.policy import Policy
from checks.stats.sign_flip import SignFlip, sign_flip
from checks.tokens.regret import SHAPES

MOST_GROWTH = 10_000.0


@dataclass(frozen=True, slots=True)
class RateJudgement:
    """`estimate` is ``rate_C - 2 rate_A`` above the soft bound; `None` where nothing was judged.

    `scaled` is the same with the baseline's noise at twice the scale; only its lower limit
    condemns. `equal_flip` tests ``rate_C = rate_A`` and is reported; `sign_flip` tests the
    tolerated rate at twice the scale and decides from 8 differing sessions on. `growth` is the
    factor by which the run would have to grow to be decided at its present rates. `tested` are
    the sessions the rates come from.
    """

    state: State
    reason: str
    estimate: RateEstimate | None
    scaled: RateEstimate | None
    sign_flip: SignFlip | None
    equal_flip: SignFlip | None
    growth: float | None
    split: str
    tested: frozenset[str]
    deff_source: str


def judge_rate(
    measured: Sequence[TurnRegrets],
    noise: NoiseByShape,
    halves: Halves,
    policy: Policy,
    seed: int,
) -> RateJudgement:
    """Pass where the upper limit of ``rate_C(soft) - 2 rate_A(soft)`` is inside the margin.

    Fail where the lower limit of ``rate_C(soft) - 2 rate_A(soft / 2)`` is above zero: rounding at
    twice the baseline's scale has ``rate(g > x) = 2 rate_A(g > x / 2)`` wherever gaps between the
    two best tokens are spread evenly near zero, so it never fails. What lies between is open.
    """
    sessions, split = tested_sessions(measured, halves, noise)
    table = rate_table(measured, sessions, noise)
    if table.candidate_tokens.sum() == 0:
        nothing = "no candidate token was judged"
        return RateJudgement(
            "inconclusive", nothing, None, None, None, None, None, split, frozenset(sessions), ""
        )
    deff, source = clustering_of(measured, sessions, policy)
    found = estimate(table, deff, policy.noise_ratio, policy.bootstrap_samples, seed)
    scaled = rate_table(measured, sessions, noise, policy.noise_scale)
    doubled = estimate(scaled, deff, policy.noise_ratio, policy.bootstrap_samples, seed)
    tolerated = sign_flip(_differences(scaled, policy.noise_ratio), seed)
    equal = sign_flip(_differences(table, 1.0), seed)
    state, reason = _decide(table, found, doubled.low, tolerated, policy)
    growth = _growth(table, scaled, found, policy) if state == "inconclusive" else None
    tested = frozenset(sessions)
    return RateJudgement(
        state, reason, found, doubled, tolerated, equal, growth, split, tested, source
    )


def _decide(
    table: RateTable, found: RateEstimate, fail_low: float, flip: SignFlip, policy: Policy
) -> tuple[State, str]:
    floorless = [
        shape
        for column, shape in enumerate(SHAPES)
        if table.candidate_tokens[:, column].sum() > 0 and table.noise_tokens[:, column].sum() == 0
    ]
    if found.exceedances and floorless:
        return "inconclusive", f"no noise floor in {' and '.join(floorless)} shape"
    spread = found.sessions_exceeding >= policy.exceedance_sessions
    if fail_low > 0 and spread:
        return "fail", f"in {found.sessions_exceeding} sessions"
    decides = flip.sessions >= policy.sign_flip_sessions and flip.p is not None
    if decides and flip.p is not None and flip.p <= policy.sign_flip_p and spread:
        return "fail", f"sign-flip test over {flip.sessions} sessions: p = {flip.p:.2g}"
    if found.high <= policy.rate_margin:
        return "pass", ""
    return "inconclusive", "the interval reaches beyond the margin"


def _differences(table: RateTable, ratio: float) -> list[float]:
    """One difference of rates per session, over the shapes in which both sides have tokens."""
    result = []
    for row in range(len(table.candidate_tokens)):
        both = (table.candidate_tokens[row] > 0) & (table.noise_tokens[row] > 0)
        if not both.any():
            continue
        tokens = table.candidate_tokens[row][both]
        noise = table.noise_exceed[row][both] / table.noise_tokens[row][both]
        ours = table.candidate_exceed[row][both] / tokens
        result.append(float((tokens * (ours - ratio * noise)).sum() / tokens.sum()))
    return result


def _growth(
    table: RateTable, scaled: RateTable, found: RateEstimate, policy: Policy
) -> float | None:
    """Smallest growth of the run that decides at unchanged rates; `None` beyond 10,000-fold."""

    def decided(factor: float) -> bool:
        high = mover_limits(_grown(table, factor), found.deff, policy.noise_ratio)[1]
        low = mover_limits(_grown(scaled, factor), found.deff, policy.noise_ratio)[0]
        return high <= policy.rate_margin or low > 0

    low, high = 1.0, 2.0
    while not decided(high):
        low, high = high, high * 2
        if high > MOST_GROWTH:
            return None
    while high / low > 1.01:
        middle = (low * high) ** 0.5
        low, high = (low, middle) if decided(middle) else (middle, high)
    return high


def _grown(table: RateTable, factor: float) -> RateTable:
    return replace(
        table,
        candidate_exceed=table.candidate_exceed * factor,
        candidate_tokens=table.candidate_tokens * factor,
        noise_exceed=table.noise_exceed * factor,
        noise_tokens=table.noise_tokens * factor,
    )
