"""Are the log probabilities usable? Finite, varying, the greedy token on top of its own list."""

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from checks import findings as f
from checks.findings import Finding, NotJudged
from checks.pair import Pair, Side
from checks.request import processes_logits
from checks.tokens.argmax import TOLERANCE, below_best
from checks.tokens.fork import first_divergence
from checks.tokens.regret import above
from traces.wire.tokens import Tokens

REFUSAL = "out of range float values"
"""What vLLM answers (400, or an error chunk) where a score cannot be written as JSON."""
VARIES = 1e-3
"""A baseline whose scores differ by less (nat) does not vary."""


def check_finite(pair: Pair) -> Iterator[Finding | NotJudged]:
    """NaN or infinity among the candidate's scores, or vLLM's refusal to write one.

    A baseline that refuses with the same status, its words unknown, refuses the same thing.
    """
    refusal = _refusal(pair.candidate)
    places = _non_finite(pair.candidate)
    if refusal is None and places is None:
        yield NotJudged(f.NON_FINITE_LOGPROBS, "no scores")
    elif refusal or places:
        baseline = (
            bool(_non_finite(pair.baseline))
            or _refusal(pair.baseline) is not None
            or _refuses_alike(pair)
        )
        yield Finding(
            f.NON_FINITE_LOGPROBS,
            refusal or f"{len(places or [])} tokens have a score that is NaN or infinite",
            token=places[0] if places else None,
            baseline_too=baseline,
        )


def _refusal(side: Side) -> str | None:
    text = str(side.stream.error) if side.stream and side.stream.error else ""
    return text if REFUSAL in text.lower() else None


def _refuses_alike(pair: Pair) -> bool:
    candidate, baseline = pair.candidate, pair.baseline
    refused = candidate.status is not None and not candidate.served
    return refused and baseline.status == candidate.status and baseline.stream is None


def _non_finite(side: Side) -> list[int] | None:
    """Token indices with a score that is no number; `None` where there are no scores."""
    tokens = Tokens.of(side.tokens or ())
    if not (tokens.scored | (tokens.listed > 0)).any():
        return None
    wrong = tokens.scored & ~np.isfinite(tokens.logprobs)
    wrong[tokens.owner[~np.isfinite(tokens.top_logprobs)]] = True
    places: list[int] = np.flatnonzero(wrong).tolist()
    return places


def check_constant(pair: Pair) -> Iterator[Finding | NotJudged]:
    """All of the candidate's scores identical, where the baseline's at the same places vary."""
    candidate, baseline = _own(pair.candidate), _own(pair.baseline)
    baseline = baseline[: len(candidate)]
    if len(candidate) < 2 or len(baseline) < 2:
        yield NotJudged(f.LOGPROBS_CONSTANT, "fewer than two scores on a side")
    elif min(candidate) == max(candidate) and max(baseline) - min(baseline) > VARIES:
        yield Finding(
            f.LOGPROBS_CONSTANT,
            f"all {len(candidate)} logprobs are {candidate[0]:g}",
            baseline=f"{min(baseline):g} … {max(baseline):g}",
            candidate=f"{candidate[0]:g}",
        )


LIKELY = -5.0
"""Log probability (nat) of a token whose score rounding moves little; scores far out in the tail
are sums of many small numbers."""
MEAN_SHIFT = 0.2
"""Mean of |d| over `SHIFTED_TOKENS` tokens in a row, in multiples of the hard bound: twice what
vLLM's own accuracy test allows a request (tests/v1/e2e/general/accuracy_utils.py: 0.1 nat)."""
SHIFTED_TOKENS = 20
SHORTER = (5, 10, SHIFTED_TOKENS)
"""Rows that are looked at; the bound of a shorter one is wider by the square root of what it lacks:
0.4 nat of five tokens."""


def check_shifted(pair: Pair) -> Iterator[Finding | NotJudged]:
    """Scores of equal tokens behind equal tokens: one further off than the hard bound, or a row of
    them on average. What is smaller only a whole run can tell from rounding
    (`checks.greedy.shift`).
    """
    if pair.request is not None and processes_logits(pair.request):
        yield NotJudged(f.LOGPROBS_SHIFTED, "logits are processed")
        return
    ids, other = pair.candidate.ids, pair.baseline.ids
    if ids is None or other is None or _is_constant(pair):
        yield NotJudged(f.LOGPROBS_SHIFTED, "no tokens with scores on both sides")
        return
    parted = first_divergence(ids, other)
    end = min(len(ids), len(other)) if parted is None else parted
    own, base = (Tokens.of(side.tokens or ()).logprobs[:end] for side in _sides(pair))
    held = np.isfinite(own) & np.isfinite(base) & (base > LIKELY)
    if not held.any():
        yield NotJudged(f.LOGPROBS_SHIFTED, "no tokens with scores on both sides")
        return
    shift = np.where(held, own - base, 0.0)
    place = int(np.argmax(np.abs(shift)))
    row = np.abs(shift[held])
    single = bool(above(abs(float(shift[place])), pair.hard_bound))
    count, mean = _longest_shift(row, MEAN_SHIFT * pair.hard_bound)
    if single or count:
        yield Finding(
            f.LOGPROBS_SHIFTED,
            f"token {place} is scored {own[place]:.3g}, the baseline scores it {base[place]:.3g}; "
            f"{mean:.2g} nat apart on average over {count or len(row)} equal tokens",
            token=place,
            baseline=f"{base[place]:.3g}",
            candidate=f"{own[place]:.3g}",
            detail={"mean": mean, "tokens": count or len(row)},
        )


def _longest_shift(row: npt.NDArray[np.float64], bound: float) -> tuple[int, float]:
    """(tokens in a row, mean) of the longest row beyond its bound; (0, mean of all): there is none.

    `bound` (nat) is that of `SHIFTED_TOKENS` tokens.
    """
    for count in reversed(SHORTER):
        if len(row) >= count:
            mean = float(np.convolve(row, np.full(count, 1 / count), "valid").max())
            if above(mean, bound * (SHIFTED_TOKENS / count) ** 0.5):
                return count, mean
    return 0, float(row.mean())


def _sides(pair: Pair) -> tuple[Side, Side]:
    return pair.candidate, pair.baseline


def _is_constant(pair: Pair) -> bool:
    return any(isinstance(found, Finding) for found in check_constant(pair))


def _own(side: Side) -> list[float]:
    tokens = Tokens.of(side.tokens or ())
    finite: list[float] = tokens.logprobs[tokens.scored & np.isfinite(tokens.logprobs)].tolist()
    return finite


def check_argmax(pair: Pair) -> Iterator[Finding | NotJudged]:
    """Each greedy token is the argmax of the candidate's own list of two or more."""
    if pair.request is None or not pair.greedy:
        yield NotJudged(f.SAMPLER_NOT_ARGMAX, "the request is not known to be greedy")
        return
    processed = processes_logits(pair.request)
    if processed:
        reason = f"raw scores are not what was sampled from under {', '.join(processed)}"
        yield NotJudged(f.SAMPLER_NOT_ARGMAX, reason)
        return
    gaps = _gaps(pair.candidate)
    if gaps is None:
        yield NotJudged(f.SAMPLER_NOT_ARGMAX, "no list of two or more scores")
        return
    wrong = [(index, gap) for index, gap in gaps.items() if gap > TOLERANCE]
    if wrong:
        baseline = _gaps(pair.baseline) or {}
        index, gap = max(wrong, key=lambda item: item[1])
        yield Finding(
            f.SAMPLER_NOT_ARGMAX,
            f"token {index} lies {gap:.3g} nat below the best of its own list"
            + (f"; {len(wrong) - 1} further tokens do" if len(wrong) > 1 else ""),
            token=wrong[0][0],
            candidate=f"{gap:.3g} nat below",
            baseline_too=all(baseline.get(place, 0.0) > TOLERANCE for place, _ in wrong),
            detail={"tokens": [place for place, _ in wrong]},
        )


def _gaps(side: Side) -> dict[int, float] | None:
    """How far (nat) each token lies below the best of its own list, by token index."""
    gaps = below_best(Tokens.of(side.tokens or ()))
    places = np.flatnonzero(~np.isnan(gaps))
    return dict(zip(places.tolist(), gaps[places].tolist(), strict=True)) or None
