"""Are regrets above the soft bound more frequent than the baseline's own noise allows?

The quantity is ``D = rate_C - 2 rate_A`` per token, session by session. Shapes are standardized to
the candidate's mix (decode and prefill shape round differently), so that D compares like with like:

    D = sum over shapes  N_C,shape / N_C  *  (X_C,shape / N_C,shape - 2 X_A,shape / N_A,shape)
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy import special, stats

from checks.bounds import State
from checks.greedy.rate_table import (
    Counts,
    Halves,
    NoiseByShape,
    RateTable,
    clustering_of,
    rate_table,
    tested_sessions,
)
from checks.greedy.turn import TurnRegrets
from checks.policy import Policy
from checks.stats.excess_count import excess_count_p
from checks.stats.sessions import RESAMPLES, resampling_weights
from checks.stats.sign_flip import SignFlip, sign_flip
from checks.tokens.regret import SHAPES

NOISE_RATIO = 2.0
"""Exceedance rate allowed in multiples of the baseline's own: verifying k + 1 rows at once rounds
otherwise than decoding one. `evidence.simulated.tables` counts the verdicts on sound simulated runs
whose candidate rounds at twice the baseline's scale (docs/evidence.md)."""

EXCEEDANCE_SESSIONS = 3
"""Fewest sessions with an exceedance before a rate can fail: one odd session is not a rate."""

LEVEL = 0.95
LEAST_P = 1e-9
"""Tails beyond are the approximation's and not the data's."""


@dataclass(frozen=True, slots=True)
class RateEstimate:
    """`excess` is D per token; `low` and `high` are its one-sided 95% limits.

    The limits are the wider of the session bootstrap (percentile) and MOVER on exact Poisson
    limits with counts deflated by the design effect: with few exceedances the bootstrap alone is
    too narrow, and with none it says nothing. Without any exceedance `high` is 3.0 DEFF / n.
    `session_high` is the Clopper-Pearson limit of the share of sessions with an exceedance.
    """

    excess: float
    low: float
    high: float
    noise_rate: float
    exceedances: int
    noise_exceedances: int
    tokens: int
    noise_tokens: int
    sessions: int
    sessions_exceeding: int
    session_high: float
    deff: float


def poisson_limits(
    count: float, exposure: float, deff: float, level: float = LEVEL
) -> tuple[float, float]:
    """One-sided limits (95% by default) of a rate from `count` events in `exposure` tokens.

    Exact Poisson limits (Garwood 1936) of the effective count ``count / deff``; none seen gives
    ``3.0 deff / exposure``.
    """
    if exposure <= 0:
        return 0.0, float("inf")
    effective = count / deff
    low = special.gammaincinv(effective, 1 - level) if effective > 0 else 0.0
    high = special.gammainccinv(effective + 1, 1 - level)
    return float(low) * deff / exposure, float(high) * deff / exposure


def clopper_pearson(successes: int, trials: int) -> tuple[float, float]:
    """One-sided 95% limits of a share (Clopper & Pearson 1934); 0 of n gives 1 - 0.05^(1/n)."""
    if trials == 0:
        return 0.0, 1.0
    low = special.betaincinv(successes, trials - successes + 1, 1 - LEVEL) if successes else 0.0
    rest = trials - successes
    high = special.betaincinv(successes + 1, rest, LEVEL) if rest else 1.0
    return float(low), float(high)


def excess(table: RateTable, noise_ratio: float, weights: Counts | None = None) -> Counts:
    """D for each row of session weights (all ones by default), shape [rows]."""
    if weights is None:
        weights = np.ones((1, len(table.candidate_tokens)))
    candidate = weights @ table.candidate_exceed
    tokens = weights @ table.candidate_tokens
    noise_tokens = weights @ table.noise_tokens
    noise = (weights @ table.noise_exceed) / np.maximum(noise_tokens, 1.0)
    total = np.maximum(tokens.sum(axis=1), 1.0)
    return np.asarray((candidate.sum(axis=1) - noise_ratio * (tokens * noise).sum(axis=1)) / total)


def estimate(
    table: RateTable, deff: float, noise_ratio: float, seed: int, samples: int = RESAMPLES
) -> RateEstimate:
    """D with its limits. Needs at least one session and one candidate token."""
    sessions = len(table.candidate_tokens)
    center = float(excess(table, noise_ratio)[0])
    drawn = excess(table, noise_ratio, resampling_weights(sessions, samples, seed))
    low, high = mover_limits(table, deff, noise_ratio)
    exceeding = int((table.candidate_exceed.sum(axis=1) > 0).sum())
    with_tokens = int((table.candidate_tokens.sum(axis=1) > 0).sum())
    tokens, exceedances = table.candidate_tokens.sum(), table.candidate_exceed.sum()
    return RateEstimate(
        excess=center,
        low=min(low, float(np.quantile(drawn, 1 - LEVEL))),
        high=max(high, float(np.quantile(drawn, LEVEL))),
        noise_rate=_noise_rate(table),
        exceedances=int(exceedances),
        noise_exceedances=int(table.noise_exceed.sum()),
        tokens=int(tokens),
        noise_tokens=int(table.noise_tokens.sum()),
        sessions=with_tokens,
        sessions_exceeding=exceeding,
        session_high=clopper_pearson(exceeding, with_tokens)[1],
        deff=deff,
    )


def _shares(table: RateTable) -> Counts:
    tokens = table.candidate_tokens.sum(axis=0)
    return np.asarray(tokens / tokens.sum())


def _noise_rate(table: RateTable) -> float:
    rates = table.noise_exceed.sum(axis=0) / np.maximum(table.noise_tokens.sum(axis=0), 1.0)
    return float(_shares(table) @ rates)


def mover_limits(
    table: RateTable, deff: float, noise_ratio: float, level: float = LEVEL
) -> tuple[float, float]:
    """Limits of D from those of its single rates (MOVER; Zou & Donner 2008, Stat Med 27:1693)."""
    center = float(excess(table, noise_ratio)[0])
    tokens, count = table.candidate_tokens.sum(), table.candidate_exceed.sum()
    rate = count / tokens
    low, high = poisson_limits(float(count), float(tokens), deff, level)
    below, above = (rate - low) ** 2, (high - rate) ** 2
    for shape, share in enumerate(_shares(table)):
        exposure = float(table.noise_tokens[:, shape].sum())
        if share == 0 or exposure == 0:
            continue
        seen = float(table.noise_exceed[:, shape].sum())
        noise_low, noise_high = poisson_limits(seen, exposure, deff, level)
        below += (noise_ratio * share * (noise_high - seen / exposure)) ** 2
        above += (noise_ratio * share * (seen / exposure - noise_low)) ** 2
    return center - float(np.sqrt(below)), center + float(np.sqrt(above))


def excess_p(table: RateTable, deff: float, noise_ratio: float) -> float:
    """One-sided p-value of ``D <= 0``: 1 minus the highest level whose lower limit lies above 0.

    The limit is MOVER's; 1.0 where no level has one, and never below `LEAST_P`.
    """

    def rejected(p: float) -> bool:
        return mover_limits(table, deff, noise_ratio, 1 - p)[0] > 0

    low, high = LEAST_P, 0.5
    if not rejected(high):
        return 1.0
    if rejected(low):
        return low
    while high / low > 1.01:
        middle = (low * high) ** 0.5
        low, high = (low, middle) if rejected(middle) else (middle, high)
    return high


def tolerated_p(table: RateTable, deff: float) -> float:
    """One-sided p of the candidate's exceedances where twice the baseline's rate is tolerated, each
    session and shape by its own tokens (`checks.stats.excess_count`).

    Sessions that the baseline was not measured in are taken to be like the others of the shape.
    """
    counts, weights = [], []
    for shape in range(table.candidate_tokens.shape[1]):
        tokens, noise = table.candidate_tokens[:, shape], table.noise_tokens[:, shape]
        known = noise > 0
        covered = float(tokens[known].sum())
        if covered:
            counts.append(table.noise_exceed[known, shape])
            weights.append(NOISE_RATIO * tokens[known] / noise[known] * tokens.sum() / covered)
    if not counts:
        return 1.0
    mean = NOISE_RATIO * table.candidate_tokens.sum() / max(table.noise_tokens.sum(), 1.0)
    found = np.array([table.candidate_exceed.sum()])
    p = excess_count_p(found, np.concatenate(counts), np.concatenate(weights), mean, deff)
    return float(p[0])


MOST_GROWTH = 10_000.0

ASSURANCE = 0.8
"""How often a run of the size that an open one asks for is decided."""


@dataclass(frozen=True, slots=True)
class RateJudgement:
    """`estimate` is ``rate_C - 2 rate_A`` above the soft bound; `None` where nothing was judged.

    `scaled` is the same with the baseline's noise at twice the scale; only its lower limit
    condemns. `equal_flip` tests ``rate_C = rate_A`` and is reported; `sign_flip` tests the
    tolerated rate at twice the scale and decides beside it. `growth` is the
    factor by which the run would have to grow to be decided in `ASSURANCE` of cases at its present
    rates. `tested` are
    the sessions the rates come from. `p` is `tolerated_p`; it and the sign-flip test fail at
    `level` each.
    """

    state: State
    reason: str
    estimate: RateEstimate | None
    scaled: RateEstimate | None
    p: float
    level: float
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
    level: float,
) -> RateJudgement:
    """Pass where the upper limit of ``rate_C(soft) - 2 rate_A(soft)`` is inside the margin.

    Fail where ``rate_C(soft) - 2 rate_A(soft / 2)`` is surely above zero: rounding at
    twice the baseline's scale has ``rate(g > x) = 2 rate_A(g > x / 2)`` wherever gaps between the
    two best tokens are spread evenly near zero, so it never fails. What lies between is open.
    `level` is that of both tests for it together, half of it each: `tolerated_p` and the sign-flip
    test of sessions.
    """
    sessions, split = tested_sessions(measured, halves, noise)
    table = rate_table(measured, sessions, noise)
    if table.candidate_tokens.sum() == 0:
        nothing = "no candidate token was judged"
        return RateJudgement(
            "inconclusive", nothing, None, None, 1.0, level / 2, None, None, None, split,
            frozenset(sessions), "",
        )  # fmt: skip
    deff, source = clustering_of(measured, sessions)
    found = estimate(table, deff, NOISE_RATIO, seed)
    scaled = rate_table(measured, sessions, noise, policy.noise_scale)
    doubled = estimate(scaled, deff, NOISE_RATIO, seed)
    tolerated = sign_flip(_differences(scaled, NOISE_RATIO), seed)
    equal = sign_flip(_differences(table, 1.0), seed)
    p = tolerated_p(scaled, deff)
    state, reason = _decide(table, found, p, tolerated, policy, level / 2)
    growth = (
        growth_to_decide(table, scaled, found, policy, level / 2)
        if state == "inconclusive"
        else None
    )
    tested = frozenset(sessions)
    return RateJudgement(
        state, reason, found, doubled, p, level / 2, tolerated, equal, growth, split, tested, source
    )


def _decide(
    table: RateTable, found: RateEstimate, p: float, flip: SignFlip, policy: Policy, level: float
) -> tuple[State, str]:
    floorless = [
        shape
        for column, shape in enumerate(SHAPES)
        if table.candidate_tokens[:, column].sum() > 0 and table.noise_tokens[:, column].sum() == 0
    ]
    if found.exceedances and floorless:
        return "inconclusive", f"no noise floor in {' and '.join(floorless)} shape"
    spread = found.sessions_exceeding >= EXCEEDANCE_SESSIONS
    if p <= level and spread:
        return "fail", f"in {found.sessions_exceeding} sessions, p = {p:.2g}"
    if flip.p is not None and flip.p <= level and spread:
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
        candidate = table.candidate_exceed[row][both] / tokens
        result.append(float((tokens * (candidate - ratio * noise)).sum() / tokens.sum()))
    return result


def growth_to_decide(
    table: RateTable, scaled: RateTable, found: RateEstimate, policy: Policy, level: float
) -> float | None:
    """Smallest growth of the run that decides at its rates; `None` beyond 10,000-fold.

    It passes where the upper limit is inside the margin even for the `ASSURANCE` quantile of the
    exceedances to come, ``DEFF * Poisson((growth - 1) X / DEFF)``; it fails where the usual number
    of them would.
    """

    def decided(factor: float) -> bool:
        usual = found.exceedances * (factor - 1)
        more = float(stats.poisson.ppf(ASSURANCE, usual / found.deff)) * found.deff
        high = mover_limits(_grown(table, factor, more), found.deff, NOISE_RATIO)[1]
        low = mover_limits(_grown(scaled, factor, usual), found.deff, NOISE_RATIO, 1 - level)[0]
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


def _grown(table: RateTable, factor: float, more: float) -> RateTable:
    """A run `factor` times as long, with `more` exceedances of the candidate in what is added."""
    tokens = table.candidate_tokens
    return replace(
        table,
        candidate_exceed=table.candidate_exceed + more * tokens / tokens.sum(),
        candidate_tokens=tokens * factor,
        noise_exceed=table.noise_exceed * factor,
        noise_tokens=table.noise_tokens * factor,
    )
