"""All statistics of one path's sampled tokens, pooled over turns."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from checks.policy import Policy
from checks.sampled.draft_acceptance import DraftCount
from checks.sampled.e_process import EValue, e_value
from checks.sampled.pit import SmoothTest, smooth_test
from checks.sampled.surprisal import martingale_z
from checks.sampled.tail_count import TailCount
from checks.sampled.turn import SampledScores
from checks.stats.holm import holm
from checks.stats.session_interval import Estimate, clustered, ratio

E_THRESHOLD = 100.0
"""e-value at which sampled tokens fail: by Ville's inequality a sound path reaches it with
probability at most 1/100, however often one looks."""

SAMPLED_P = 0.001
"""Level of the tests that look once (surprisal, smooth, tail count, drafts), Holm-adjusted: at one
run a night a sound path fails once in three years."""

TOST_LEVEL = 0.90
"""Two one-sided tests at 5% are a 90% interval inside the margin (Schuirmann 1987)."""


@dataclass(frozen=True, slots=True)
class ArmStatistics:
    """All statistics of one path. `excess` is mean excess surprisal (nat/token), 90% interval."""

    tokens: int
    open: int
    excess: Estimate
    variance: float
    z: float
    p_surprisal: float
    smooth: SmoothTest
    e: EValue
    tail: TailCount
    draft: DraftCount

    def adjusted(self, policy: Policy) -> dict[str, float]:
        """Holm-adjusted p of the tests that look once."""
        plain = {
            "surprisal": self.p_surprisal,
            "smooth": self.smooth.p,
            "tail": self.tail.p(policy.rate_margin),
        }
        if self.draft.p is not None:
            plain["drafts"] = self.draft.p
        return holm(plain)


def statistics_of(scores: Sequence[SampledScores], seed: int) -> ArmStatistics | None:
    """Pool the turns of one path; `None` where no position was judged."""
    if not sum(score.tokens for score in scores):
        return None
    excess = np.concatenate([score.surprisal.excess for score in scores])
    variance = np.concatenate([score.surprisal.variance for score in scores])
    row = {session: i for i, session in enumerate(sorted({s.session for s in scores}))}
    sums = np.zeros((len(row), 2))
    for score in scores:
        sums[row[score.session]] += (score.surprisal.excess.sum(), score.tokens)
    z, p = martingale_z(excess, variance)
    return ArmStatistics(
        tokens=len(excess),
        open=sum(score.open for score in scores),
        excess=clustered(ratio, sums, len(excess), seed=seed, level=TOST_LEVEL),
        variance=float(variance.mean()),
        z=z,
        p_surprisal=p,
        smooth=smooth_test(np.concatenate([score.u for score in scores])),
        e=e_value(np.concatenate([score.growth for score in scores]), E_THRESHOLD),
        tail=sum((score.tail for score in scores), TailCount(0, 0.0, 0)),
        draft=sum((score.draft for score in scores), DraftCount()),
    )


def rejected(arm: ArmStatistics | None, policy: Policy) -> str | None:
    """Which evidence speaks against the law, in words; `None` where none does."""
    if arm is None:
        return None
    if arm.e.largest >= E_THRESHOLD:
        return f"e-value {arm.e.largest:.3g}, first reached after {arm.e.crossed} tokens"
    name, p = min(arm.adjusted(policy).items(), key=lambda item: item[1])
    return f"{name} test, adjusted p = {p:.2g}" if p <= SAMPLED_P else None


def design_effect_of(scores: Sequence[SampledScores]) -> float:
    """Variance of session sums over the law's own: above 1 where tokens of a session cluster."""
    sums: dict[str, list[float]] = {}
    for score in scores:
        entry = sums.setdefault(score.session, [0.0, 0.0])
        entry[0] += float(score.surprisal.excess.sum())
        entry[1] += float(score.surprisal.variance.sum())
    expected = sum(variance for _, variance in sums.values())
    if len(sums) < 2 or expected <= 0:
        return 1.0
    return max(1.0, sum(total**2 for total, _ in sums.values()) / expected)
