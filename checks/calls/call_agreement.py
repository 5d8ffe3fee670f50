"""Does the agent make other calls under speculation than the baseline makes against itself?

    excess = share of turns whose calls change in effect, less that share of the baseline's repeat

Tokens that part at a near tie are no fault of anybody's, and yet the agent then runs another
command. How often that may happen is the user's to say (`policy.call_margin`), and how often it
happens anyway the baseline's repeat shows. Verifying k + 1 rows at once rounds otherwise than
decoding one, so an honest drafter may change a few calls more than the repeat does: that is said as
a warning, and fails a run only beyond the margin.
"""

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
import numpy.typing as npt
from scipy import stats

from checks import findings as codes
from checks.alpha import level as share_of
from checks.bounds import Bound, State, not_applicable
from checks.calls.agreement import CHANGES, Change
from checks.findings import ERROR, WARNING, Finding
from checks.policy import Policy
from checks.stats.effective_share import Share, effective_share, excess_limits
from checks.stats.sign_flip import sign_flip

NAME = "call_agreement"

PASS_LEVEL = 0.05
"""Of the one-sided limits that are reported, and of the upper one that a pass rests on."""
FAIL_LEVEL = share_of("call_agreement")
"""Of the lower limit that must lie beyond the margin for a fail."""
NOTICE_LEVEL = 0.01
"""Of the sign-flip test over sessions for any excess: a warning."""

POWER = 0.8
MOST_SESSIONS = 100_000
GROWTHS = (2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64)
"""In multiples of the run, until one decides."""

Sums = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class TurnChange:
    """What became of the calls of one greedy turn: on the candidate, and in the baseline's repeat.

    `None` where neither side calls, and of `repeat` also where the baseline did not repeat the turn
    (`repeated`).
    """

    session: str
    turn: str
    candidate: Change | None
    repeat: Change | None
    repeated: bool


@dataclass(frozen=True, slots=True)
class AgreementJudgement:
    """The bound and its findings; `changes` counts turns by class, of the candidate and of A/A."""

    bound: Bound
    findings: tuple[Finding, ...]
    changes: Counter[Change]
    repeat_changes: Counter[Change]


def judge_agreement(turns: Sequence[TurnChange], policy: Policy, seed: int) -> AgreementJudgement:
    """Pass where the upper limit of the excess stays inside the margin; fail where the lower one,
    at `FAIL_LEVEL`, lies beyond it and so many sessions change calls that the sign-flip test could
    say as much (2^-sessions). Without any repeat nothing fails: nothing tells chance from fault.
    """
    changes = Counter(turn.candidate for turn in turns if turn.candidate is not None)
    repeats = Counter(turn.repeat for turn in turns if turn.repeat is not None)
    if not changes:
        none = not_applicable(NAME, "no greedy turn calls a tool")
        return AgreementJudgement(none, (), changes, repeats)
    sums = sums_of(turns)
    low, high = _limits(sums, PASS_LEVEL)
    worst, _ = _limits(sums, FAIL_LEVEL)
    measured = bool(sums[:, 3].sum())
    changing = int((sums[:, 0] > 0).sum())
    margin = policy.call_margin
    state: State = "inconclusive"
    if high is not None and high <= margin:
        state = "pass"
    elif worst is not None and worst > margin and measured and 0.5**changing <= FAIL_LEVEL:
        state = "fail"
    notice = excess_p(sums, seed)
    message = _message(changes, repeats, sums, notice)
    bound = Bound(
        NAME,
        state,
        message,
        value=_rate(sums, 0) - _rate(sums, 2),
        low=low,
        high=high,
        margin=margin,
        noise_floor=_rate(sums, 2) if measured else None,
        unit="share of turns",
        n=int(sums[:, 1].sum()),
        sessions=int((sums[:, 1] > 0).sum()),
        needed=_needed(sums, margin, measured) if state == "inconclusive" else None,
    )
    found: tuple[Finding, ...] = ()
    if state == "fail":
        found = (Finding(codes.CALLS_CHANGED, message, severity=ERROR),)
    elif notice is not None and notice <= NOTICE_LEVEL:
        found = (Finding(codes.CALLS_CHANGED, message, severity=WARNING),)
    return AgreementJudgement(bound, found, changes, repeats)


def sums_of(turns: Sequence[TurnChange]) -> Sums:
    """By session: turns of the candidate that change, of all with calls; the same of the repeat;
    and the candidate's changes less the repeat's over turns that both have: [sessions, 5]."""
    row = {session: i for i, session in enumerate(sorted({turn.session for turn in turns}))}
    sums = np.zeros((len(row), 5))
    for turn in turns:
        own, other = (change == "consequential" for change in (turn.candidate, turn.repeat))
        held = turn.candidate is not None, turn.repeat is not None
        both = (own - other) if turn.repeated else 0
        sums[row[turn.session]] += (own, held[0], other, held[1], both)
    return sums


def excess_p(sums: Sums, seed: int) -> float | None:
    """One-sided p-value of "no more changes than the repeat"; `None` where no session differs."""
    return sign_flip(sums[:, 4].tolist(), seed).p


def _rate(sums: Sums, column: int) -> float:
    return float(sums[:, column].sum() / max(sums[:, column + 1].sum(), 1.0))


def _limits(sums: Sums, level: float) -> tuple[float | None, float | None]:
    """One-sided limits of the excess at a level. A repeat that was not taken counts as none that
    changes: that makes the upper limit larger than it need be."""
    rate = effective_share(sums[:, :2], 1 - level)
    noise = effective_share(sums[:, 2:4], 1 - level) or Share(0.0, 0.0, 0.0)
    return (None, None) if rate is None else excess_limits(rate, noise)


def _message(
    changes: Counter[Change], repeats: Counter[Change], sums: Sums, notice: float | None
) -> str:
    def counts(found: Counter[Change]) -> str:
        return ", ".join(f"{found[change]} {change}" for change in CHANGES if found[change])

    whole, calls = sums[:, 1].sum(), tuple(sorted(sums[:, 1][sums[:, 1] > 0].astype(int).tolist()))
    repeat = f"against itself: {counts(repeats)}" if repeats else "was not repeated"
    said = f"{whole:,.0f} turns with calls: {counts(changes)}; the baseline {repeat}"
    if notice is not None:
        said += f"; p = {notice:.2g} that the candidate changes no more (sign flip over sessions)"
    needed = sessions_for(0.01, round(_rate(sums, 2), 3), calls)
    if needed is not None:
        said += f"; another call in one turn of 100 would show in about {needed:,} such sessions"
    return said


def _needed(sums: Sums, margin: float, measured: bool) -> str:
    """How many turns with calls would decide, at the rates seen."""
    turns = int(sums[:, 1].sum())
    for growth in GROWTHS:
        _, high = _limits(np.tile(sums, (growth, 1)), PASS_LEVEL)
        if high is not None and high <= margin:
            return f"about {turns * (growth - 1):,} more turns with calls at these rates"
    if not measured:
        return "the baseline's repeat of turns with calls"
    return "not decidable at these rates, however many turns: find out why calls change"


@cache
def sessions_for(rate: float, noise: float, turns: tuple[int, ...]) -> int | None:
    """Sessions in which a change of calls in a share `rate` of turns beyond `noise` is noticed
    (`NOTICE_LEVEL`) with 80%; `None` where no number of them suffices. `turns` are the turns with
    calls of some sessions like them.

    The sign test of sessions by their difference: with p₊ and p₋ the chances that a session has
    more changes on the candidate, or more in the repeat, D ~ Bin(n, p₊ + p₋) sessions differ and
    K ~ Bin(D, p₊ / (p₊ + p₋)) of them speak against the candidate.
    """
    signs = [(_signs(rate + noise, noise, n), count) for n, count in Counter(turns).items()]
    up, down = (sum(sign[side] * count for sign, count in signs) / len(turns) for side in range(2))
    low, high = 1, 1
    while _power(high, up, down) < POWER:
        low, high = high, high * 2
        if high > MOST_SESSIONS:
            return None
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if _power(middle, up, down) >= POWER else (middle + 1, high)
    return high


def _signs(own: float, other: float, turns: int) -> tuple[float, float]:
    """Chances that a session's count is larger than the repeat's, and smaller."""
    counts = np.arange(turns + 1)
    table = np.outer(stats.binom.pmf(counts, turns, own), stats.binom.pmf(counts, turns, other))
    return float(np.tril(table, -1).sum()), float(np.triu(table, 1).sum())


def _power(sessions: int, up: float, down: float) -> float:
    """Chance that the sign test rejects."""
    differing = up + down
    if differing <= 0:
        return 0.0
    spread = 6 * math.sqrt(sessions * differing) + 10
    least, most = (
        max(sessions * differing - spread, 0),
        min(sessions * differing + spread, sessions),
    )
    numbers = np.arange(math.floor(least), math.floor(most) + 1)
    critical = stats.binom.isf(NOTICE_LEVEL, numbers, 0.5) + 1
    caught = stats.binom.sf(critical - 1, numbers, up / differing)
    return float(stats.binom.pmf(numbers, sessions, differing) @ caught)
