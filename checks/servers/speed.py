"""Speed of the candidate against the baseline, paired by turn. Speed never buys back correctness.

    per turn  = exp(mean over turns of log(T_baseline / T_candidate))     above 1: candidate faster
    per token = (Σ ms / Σ tokens, baseline) / (Σ ms / Σ tokens, candidate)

TTFT and TPOT as in `checks.servers.timing`; user-level throughput is output tokens over the time
from sending the request to the last token. All three are compared per turn: what happens to a turn
of any length. The time per output token is also compared per token (`ms_per_token`, time and tokens
after the first): what happens to all output, in which long turns weigh more. A drafter may win
the one and lose the other. Intervals are clustered by session.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

import numpy as np

from checks.servers.timing import timing_of
from checks.stats.session_interval import clustered, ratio
from traces.bands import BANDS, band_of
from traces.wire.response import Response

Metric = Literal["ttft_ms", "tpot_ms", "user_tokens_per_s", "ms_per_token"]
PER_TURN: tuple[Metric, ...] = ("ttft_ms", "tpot_ms", "user_tokens_per_s")

SATURATED_SHARE = 0.05
"""A client that gets this share of baseline chunks merged is too slow to time single tokens."""


Times = Mapping[Metric, float]


@dataclass(frozen=True, slots=True)
class StreamTimes:
    """What can be measured of one stream; `decode` is (ms, tokens) after the first token, `None`
    where that took no time that can be measured."""

    times: Times
    decode: tuple[float, int] | None


@dataclass(frozen=True, slots=True)
class SpeedPair:
    """The times of both streams of one turn; `band` is that of the candidate's prompt length."""

    session: str
    turn: str
    baseline: StreamTimes
    candidate: StreamTimes
    band: str | None = None


def speed_pair(session: str, turn: str, baseline: Response, candidate: Response) -> SpeedPair:
    """Both streams of one turn, measured."""
    prompt = candidate.usage.prompt if candidate.usage else None
    band = None if prompt is None else band_of(prompt)
    return SpeedPair(session, turn, _stream_times(baseline), _stream_times(candidate), band)


def _stream_times(response: Response) -> StreamTimes:
    times = _times(response)
    tpot = times.get("tpot_ms")
    tokens = response.usage.completion if response.usage else None
    decode = None if tpot is None or tokens is None else (tpot * (tokens - 1), tokens - 1)
    return StreamTimes(times, decode)


@dataclass(frozen=True, slots=True)
class SpeedEstimate:
    """Both paths (unit in the metric's name) and the speed-up with its 95% interval.

    `baseline` and `candidate` are medians over turns, of ``ms_per_token`` the means over tokens.
    Everything but the counts is `None` where no turn has the metric on both paths.
    """

    metric: Metric
    baseline: float | None
    candidate: float | None
    speedup: float | None
    low: float | None
    high: float | None
    turns: int
    sessions: int


def compare_speed(pairs: Sequence[SpeedPair], seed: int) -> tuple[SpeedEstimate, ...]:
    """One estimate per metric, over the turns that both paths answered."""
    pairs = sorted(pairs, key=lambda pair: (pair.session, pair.turn))
    times = [(pair.session, pair.baseline.times, pair.candidate.times) for pair in pairs]
    return (*(_compare(metric, times, seed) for metric in PER_TURN), _per_token(pairs, seed))


def compare_speed_by_context(
    pairs: Sequence[SpeedPair], seed: int
) -> dict[str, tuple[SpeedEstimate, ...]]:
    """The same per band of the candidate's prompt length, in the order of the bands."""
    found = {band: [pair for pair in pairs if pair.band == band] for band in BANDS}
    return {band: compare_speed(mine, seed) for band, mine in found.items() if mine}


def _times(response: Response) -> Times:
    """What can be measured of one stream; nothing of one that was not served."""
    if response.status != 200:
        return {}
    timing = timing_of(response)
    tokens = response.usage.completion if response.usage else None
    found: dict[Metric, float] = {}
    if timing.ttft_ms is not None and timing.ttft_ms > 0:
        found["ttft_ms"] = timing.ttft_ms
    if timing.tpot_ms is not None and timing.tpot_ms > 0:
        found["tpot_ms"] = timing.tpot_ms
    if tokens and len(found) == 2:
        last = found["ttft_ms"] + found["tpot_ms"] * (tokens - 1)
        found["user_tokens_per_s"] = 1000.0 * tokens / last
    return found


def _compare(metric: Metric, times: Sequence[tuple[str, Times, Times]], seed: int) -> SpeedEstimate:
    both = [(s, b[metric], c[metric]) for s, b, c in times if metric in b and metric in c]
    if not both:
        return SpeedEstimate(metric, None, None, None, None, None, 0, 0)
    faster = 1.0 if metric == "user_tokens_per_s" else -1.0
    row = {session: i for i, session in enumerate(sorted({session for session, _, _ in both}))}
    sums = np.zeros((len(row), 2))
    for session, before, after in both:
        sums[row[session]] += (faster * math.log(after / before), 1)
    found = clustered(ratio, sums, len(both), seed=seed)
    return SpeedEstimate(
        metric,
        baseline=float(np.median([before for _, before, _ in both])),
        candidate=float(np.median([after for _, _, after in both])),
        speedup=_exp(found.value),
        low=_exp(found.low),
        high=_exp(found.high),
        turns=len(both),
        sessions=len(row),
    )


def _per_token(pairs: Sequence[SpeedPair], seed: int) -> SpeedEstimate:
    both = [
        (pair.session, before, after)
        for pair in pairs
        for before, after in [(pair.baseline.decode, pair.candidate.decode)]
        if before is not None and after is not None
    ]
    if not both:
        return SpeedEstimate("ms_per_token", None, None, None, None, None, 0, 0)
    row = {session: i for i, session in enumerate(sorted({session for session, _, _ in both}))}
    sums = np.zeros((len(row), 4))
    for session, before, after in both:
        sums[row[session]] += (*before, *after)
    found = clustered(
        lambda s: np.log(s[:, 0] / s[:, 1] * s[:, 3] / s[:, 2]), sums, len(both), seed=seed
    )
    ms, tokens, candidate_ms, candidate_tokens = sums.sum(axis=0).tolist()
    return SpeedEstimate(
        "ms_per_token",
        baseline=ms / tokens,
        candidate=candidate_ms / candidate_tokens,
        speedup=_exp(found.value),
        low=_exp(found.low),
        high=_exp(found.high),
        turns=len(both),
        sessions=len(row),
    )


def _exp(value: float | None) -> float | None:
    return None if value is None else math.exp(value)


def chunk_counts(response: Response) -> tuple[int, int]:
    """Chunks of an answer that carry tokens, and those of them that carry more than one."""
    counts = [chunk.token_ids for chunk in response.chunks if chunk.token_ids]
    return len(counts), sum(count > 1 for count in counts)


def merged_share(baseline: Sequence[tuple[int, int]]) -> float | None:
    """Share of the baseline's chunks that carry more than one token; `None` without chunks.

    Without speculation an engine step commits one token, so a chunk with several is two steps
    merged, because the client (or the server's front end) came too late for the first.
    `baseline` holds the `chunk_counts` of its answers.
    """
    carrying = sum(count for count, _ in baseline)
    return sum(several for _, several in baseline) / carrying if carrying else None


def saturation(baseline: Sequence[tuple[int, int]]) -> str | None:
    """A sentence where the client was too slow for the times to mean much; else `None`."""
    share = merged_share(baseline)
    if share is None or share < SATURATED_SHARE:
        return None
    return (
        f"{share:.0%} of the baseline's chunks arrived merged: client or front end is saturated, "
        "and times of single tokens are not those of the engine"
    )


def break_even(speedups: Mapping[int, float]) -> float | None:
    """Concurrency at which speculation stops paying, by the speed-ups measured at some of them.

    Interpolated in log(speed-up) over log2(concurrency); `None` where the speed-up stays above 1,
    the lowest concurrency where it never pays.
    """
    points = sorted(speedups.items())
    if not points:
        return None
    if points[0][1] <= 1.0:
        return float(points[0][0])
    for (left, fast), (right, slow) in pairwise(points):
        if slow <= 1.0:
            share = math.log(fast) / (math.log(fast) - math.log(slow))
            return float(2 ** (math.log2(left) + share * (math.log2(right) - math.log2(left))))
    return None
