"""Speed-up over concurrency, and where speculation stops paying.

    concurrency 1: 2.03, 4: 1.71, 16: 1.66      (EAGLE 3.1's announcement)

A verified draft costs little while the engine waits for memory, and more the fuller its batches
are. Each point is an arm of the same run, paired by turn; it says how many requests were really in
flight, since sessions of unequal length drain.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from checks.servers.speed import Metric, SpeedEstimate, break_even

FULL_ENOUGH = 0.75
"""An arm that kept less than this share of its concurrency in flight is said to have."""


@dataclass(frozen=True, slots=True)
class CurvePoint:
    """One arm: what was asked for, how many requests were in flight on average, by path, and the
    speed of both paths.
    """

    arm: str
    concurrency: int
    baseline_in_flight: float | None
    candidate_in_flight: float | None
    speed: tuple[SpeedEstimate, ...]

    def speedup(self, metric: Metric) -> float | None:
        """The point estimate of one metric."""
        return next((s.speedup for s in self.speed if s.metric == metric), None)


def mean_in_flight(spans: Sequence[tuple[float, float]]) -> float | None:
    """Requests in flight on average, from (sent, ended) in seconds: Σ durations / whole time."""
    if not spans:
        return None
    whole = max(end for _, end in spans) - min(start for start, _ in spans)
    return sum(end - start for start, end in spans) / whole if whole > 0 else None


def curve_break_even(points: Sequence[CurvePoint]) -> float | None:
    """Concurrency at which all output takes the same time on both paths (speed-up per token).

    `None` where speculation still pays at the highest concurrency, or fewer than two points tell.
    """
    known = {p.concurrency: s for p in points if (s := p.speedup("ms_per_token")) is not None}
    return break_even(known) if len(known) > 1 else None


def half_empty(point: CurvePoint) -> str | None:
    """A sentence where an arm kept too few requests in flight to stand for its concurrency."""
    known = [n for n in (point.baseline_in_flight, point.candidate_in_flight) if n is not None]
    if not known or min(known) >= FULL_ENOUGH * point.concurrency:
        return None
    return (
        f"arm {point.arm}: on average {min(known):.1f} of {point.concurrency} requests were in "
        "flight; replay more sessions for times at that concurrency"
    )
