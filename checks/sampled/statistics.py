"""The statistics of both paths' sampled tokens, pooled over turns, and tests of their difference.

Rounding makes even a sound path stray from a distribution that is rebuilt from scores, the more so
the more tokens there are. So no test asks whether the candidate follows it: each asks whether it
strays further than the baseline, and than the margin, at up to `noise_scale` times its rounding.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from scipy import stats

from checks.alpha import level
from checks.policy import Policy
from checks.sampled.distribution import Floats
from checks.sampled.draft_acceptance import DraftCount
from checks.sampled.e_process import EValue, e_value, joined
from checks.sampled.pit import COMPONENTS
from checks.sampled.shift import SessionSums, Shift, noise_factor, shift_between
from checks.sampled.tail_count import TailCount, tail_p
from checks.sampled.turn import SampledScores
from checks.stats.holm import holm

E_THRESHOLD = 1 / level("sampled_process")
"""e-value at which sampled tokens fail: by Ville's inequality a sound path reaches it with
probability at most one over it, however often one looks."""

SAMPLED_P = level("sampled_tests")
"""Level of the tests that look once (surprisal, smooth components, tail count, drafts),
Holm-adjusted."""

NOISE_LEVEL = 0.999
"""Level of the limit of the baseline's own means, beyond which the e-process counts."""

SURPRISAL, DRAFTS, TAIL = "surprisal", "drafts", "tail"


@dataclass(frozen=True, slots=True)
class ArmStatistics:
    """What one path's tokens show: tokens judged and positions too open, mean excess surprisal (nat
    per token) and its variance under the distribution, tail tokens and emitted drafts."""

    tokens: int
    open: int
    excess: float
    variance: float
    tail: TailCount
    draft: DraftCount


@dataclass(frozen=True, slots=True)
class Comparison:
    """Candidate against baseline: `shifts` by statistic, `p` Holm-adjusted, the e-process, and in
    how many witnesses (sessions, but for those that share a seed) the tokens lie."""

    shifts: Mapping[str, Shift]
    p: Mapping[str, float]
    e: EValue
    witnesses: int

    @property
    def rejected(self) -> str | None:
        """Which evidence speaks for a shift, in words; `None` where none does."""
        if self.e.largest >= E_THRESHOLD:
            return f"e-value {self.e.largest:.3g}, first reached after {self.e.crossed} tokens"
        name, p = min(self.p.items(), key=lambda item: item[1])
        return f"{name} test, adjusted p = {p:.2g}" if p <= SAMPLED_P else None


def statistics_of(scores: Sequence[SampledScores]) -> ArmStatistics | None:
    """Pool the turns of one path; `None` where no position was judged."""
    tokens = sum(score.tokens for score in scores)
    if not tokens:
        return None
    return ArmStatistics(
        tokens=tokens,
        open=sum(score.open for score in scores),
        excess=float(sum(score.surprisal.excess.sum() for score in scores)) / tokens,
        variance=float(sum(score.surprisal.variance.sum() for score in scores)) / tokens,
        tail=sum((score.tail for score in scores), TailCount(0, 0.0, 0)),
        draft=sum((score.draft for score in scores), DraftCount()),
    )


def compare_paths(
    candidate: Sequence[SampledScores],
    baseline: Sequence[SampledScores],
    policy: Policy,
    witness: Mapping[str, str],
) -> Comparison:
    """Every test. Both need at least one judged token; `witness` maps a session to the group of
    sessions that count as one."""
    names = sorted({witness[score.session] for score in (*candidate, *baseline)})
    place = {name: i for i, name in enumerate(names)}
    row = {session: place[name] for session, name in witness.items() if name in place}
    scale = policy.noise_scale
    candidate_sums, baseline_sums = (
        _by_statistic(side, row, len(names)) for side in (candidate, baseline)
    )
    surprisal = candidate_sums[SURPRISAL]
    spread = float(surprisal.variance.sum() / surprisal.tokens.sum()) ** 0.5
    deviations = policy.excess_surprisal_margin / spread if spread > 0 else 1.0
    shifts = {
        name: shift_between(sums, baseline_sums[name], deviations, scale)
        for name, sums in candidate_sums.items()
    }
    drafts = _draft_sums(candidate, row, len(names))
    if drafts.tokens.sum():
        shifts[DRAFTS] = shift_between(drafts, None, deviations, scale)
    plain = {name: shift.p for name, shift in shifts.items()}
    if policy.noise_tails != "heavy":
        plain[TAIL] = _tail(candidate, baseline, policy, row)
    growth = joined([score.growth for score in candidate])
    tolerated = deviations + _noise(baseline, row, len(names), scale)
    return Comparison(shifts, holm(plain), e_value(growth, E_THRESHOLD, tolerated), len(names))


def _by_statistic(
    scores: Sequence[SampledScores], row: Mapping[str, int], rows: int
) -> dict[str, SessionSums]:
    """Sums of the surprisal and of every smooth component."""
    found = {
        SURPRISAL: _sums(
            scores, row, rows, lambda s: (s.surprisal.excess.sum(), s.surprisal.variance.sum())
        )
    }
    for place in range(COMPONENTS):
        found[f"smooth {place + 1}"] = _sums(
            scores, row, rows, lambda s, k=place: (s.smooth[k], s.tokens)
        )
    return found


def _sums(
    scores: Sequence[SampledScores],
    row: Mapping[str, int],
    rows: int,
    of: Callable[..., tuple[float, float]],
) -> SessionSums:
    sums = np.zeros((3, rows))
    for score in scores:
        sums[:, row[score.session]] += (*of(score), score.tokens)
    return SessionSums(*sums)


def _draft_sums(scores: Sequence[SampledScores], row: Mapping[str, int], rows: int) -> SessionSums:
    sums = np.zeros((3, rows))
    for score in scores:
        draft = score.draft
        shift = draft.emitted - draft.expected
        sums[:, row[score.session]] += (shift, draft.variance, draft.positions)
    return SessionSums(*sums)


def _tail(
    candidate: Sequence[SampledScores],
    baseline: Sequence[SampledScores],
    policy: Policy,
    row: Mapping[str, int],
) -> float:
    candidate_tail, baseline_tail = (
        sum((score.tail for score in side), TailCount(0, 0.0, 0)) for side in (candidate, baseline)
    )
    mean = candidate_tail.tolerated(policy.rate_margin, baseline_tail, policy.noise_scale)
    counts: dict[int, float] = {}
    for score in candidate:
        counts[row[score.session]] = counts.get(row[score.session], 0.0) + score.tail.observed
    return tail_p(candidate_tail.observed, mean, _clumping(list(counts.values())))


def _clumping(counts: Sequence[float]) -> float:
    """Variance of the counts of sessions over their mean, at least 1 (Fisher's index)."""
    values = np.asarray(counts)
    if len(values) < 2 or values.sum() == 0:
        return 1.0
    return max(1.0, float(values.var(ddof=1) / values.mean()))


def _noise(
    scores: Sequence[SampledScores], row: Mapping[str, int], rows: int, scale: float
) -> Floats:
    """How far, in standard deviations, rounding may move the candidate's growth factors, by the
    baseline's own: the upper limit of their mean over sessions, and no less than their mean at
    `scale` times the rounding."""
    sums = np.zeros((rows, scores[0].growth.logs.shape[1]))
    spread = np.zeros_like(sums)
    for score in scores:
        sums[row[score.session]] += score.growth.factor.sum(axis=0)
        spread[row[score.session]] += score.growth.spread.sum(axis=0)
    total = np.maximum(spread.sum(axis=0), 1e-300)
    mean = sums.sum(axis=0) / total
    residual = sums - mean * spread
    error = np.sqrt((residual**2).sum(axis=0) * rows / max(rows - 1, 1)) / total
    reach = float(stats.t.ppf(NOISE_LEVEL, max(rows - 1, 1)))
    return np.asarray(np.maximum(np.maximum(mean + reach * error, noise_factor(scale) * mean), 0.0))
