"""Many regrets too small for any rung: does the candidate fork, or cost, more than the baseline?

    fork rate    forks_C / tokens_C  <=  2 forks_A / tokens_A         tokens up to each turn's fork
    mean regret  mean_C              <=  scale^2 mean_A               decode shape, nat per token

At `noise_scale` times the rounding twice as many ties fall the other way (at a scale of 2), each at
twice the cost. A candidate that always takes the second best where it is less than 0.2 nat behind
breaks both, and no rung of the ladder.

Verifying k + 1 tokens at once rounds otherwise than decoding one, and on a quiet baseline no factor
covers that: sound drafters fork ten times as often as a baseline that repeats itself exactly. So
the two condemn only against a floor that was measured in verify shape; against any other they are a
warning.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy import stats

from checks.greedy.rate import NOISE_RATIO
from checks.greedy.turn import TurnRegrets
from checks.policy import Policy
from checks.stats.excess_count import excess_count_p
from checks.tokens.regret import Regrets

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class SmallRegrets:
    """Both paths' forks and mean regret (nat per token) over the first `tokens` of their turns, and
    the one-sided p of more than is tolerated; `p` is the smaller, doubled.

    `verified` is whether the baseline's side is the target in verify shape.
    """

    forks: int
    noise_forks: int
    tokens: int
    noise_tokens: int
    mean: float
    noise_mean: float
    fork_p: float
    mean_p: float
    sessions: int
    verified: bool

    @property
    def p(self) -> float:
        """Of the two together (Bonferroni)."""
        return min(1.0, 2 * min(self.fork_p, self.mean_p))

    def __str__(self) -> str:
        floor = "the target in verify shape" if self.verified else "the baseline against itself"
        return (
            f"{self.forks} forks in {self.tokens:,} candidate tokens, {self.noise_forks} in "
            f"{self.noise_tokens:,} of {floor}; mean regret {self.mean:.2g} nat per token, "
            f"{self.noise_mean:.2g}; p = {self.p:.2g} of more than rounding explains"
        )


def small_regrets(measured: Sequence[TurnRegrets], policy: Policy) -> SmallRegrets | None:
    """Over all turns whose first tokens are known on both sides; `None` without any."""
    verified = any(turn.verify_tokens for turn in measured)
    sums: dict[str, Floats] = {}
    for turn in measured:
        candidate, noise = _first(turn.candidate), _first(turn.noise)
        if candidate is not None and noise is not None and turn.noise_forked is not None:
            row = sums.setdefault(turn.session, np.zeros(6))
            row += (
                *(len(candidate), turn.divergence is not None, candidate.sum()),
                *(len(noise), turn.noise_forked, noise.sum()),
            )
    if not sums:
        return None
    table = np.array([sums[name] for name in sorted(sums)])
    tokens, forks, regret, noise_tokens, noise_forks, noise_regret = table.T
    expected = NOISE_RATIO * tokens / np.maximum(noise_tokens, 1.0)
    allowed = NOISE_RATIO * float(tokens.sum() / max(noise_tokens.sum(), 1.0))
    return SmallRegrets(
        forks=int(forks.sum()),
        noise_forks=int(noise_forks.sum()),
        tokens=int(tokens.sum()),
        noise_tokens=int(noise_tokens.sum()),
        mean=float(regret.sum() / max(tokens.sum(), 1.0)),
        noise_mean=float(noise_regret.sum() / max(noise_tokens.sum(), 1.0)),
        fork_p=max(
            float(excess_count_p(forks.sum(keepdims=True), noise_forks, expected, allowed)[0]),
            _beyond(forks, tokens, noise_forks, noise_tokens, NOISE_RATIO),
        ),
        mean_p=_beyond(regret, tokens, noise_regret, noise_tokens, policy.noise_scale**2),
        sessions=len(table),
        verified=verified,
    )


def _first(parts: Sequence[Regrets]) -> Floats | None:
    """The regrets of a turn's first tokens in decode shape, up to its fork."""
    for part in parts:
        if part.shape == "decode" and part.start == 0:
            return part.values
    return None


def _beyond(
    total: Floats, tokens: Floats, noise: Floats, noise_tokens: Floats, factor: float
) -> float:
    """One-sided p of ``rate_C <= factor rate_A``: Student's t over session sums (linearized ratio;
    Cochran 1977, ch. 6); 1 of fewer than two sessions."""
    sessions = len(total)
    if sessions < 2 or not tokens.sum() or not noise_tokens.sum():
        return 1.0
    rate, other = total.sum() / tokens.sum(), noise.sum() / noise_tokens.sum()
    residual = (total - rate * tokens) / tokens.sum()
    residual -= factor * (noise - other * noise_tokens) / noise_tokens.sum()
    error = float((residual**2).sum() * sessions / (sessions - 1)) ** 0.5
    value = float(rate - factor * other)
    if error == 0:
        return 1.0 if value <= 0 else 0.0
    return float(stats.t.sf(value / error, sessions - 1))
