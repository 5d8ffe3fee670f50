"""What the judgement of all greedy turns concludes."""

from collections.abc import Mapping
from dataclasses import dataclass

from checks.bounds import Bound
from checks.findings import Finding
from checks.greedy.noise import Noise
from checks.greedy.rates import RateEstimate
from checks.stats.sign_flip import SignFlip
from checks.tokens.forks import Fork


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
class TurnJudgement:
    """One turn: tokens judged, the fork, and every token above the hard bound.

    All hold output indices: `hard` condemn, `excused` the baseline shows itself, `noisy` cannot
    condemn because the baseline is too noisy. `max_regret` is in nat, `None` where nothing of the
    turn was judged. `repeat_fork` is where the baseline's repeat parts from its first stream.
    """

    session: str
    turn: str
    not_judged: str | None
    tokens: int
    unscored: int
    processed: int
    equal: bool
    fork: Fork | None
    repeat_divergence: int | None
    max_regret: float | None
    hard: tuple[int, ...]
    excused: tuple[int, ...]
    noisy: tuple[int, ...]
    repeat_fork: Fork | None = None


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
