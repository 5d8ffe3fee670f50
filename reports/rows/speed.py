"""Rows about time: what both paths took, the speed-up, and how long streams stood still."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from checks.servers.speed import SpeedEstimate
from checks.servers.speed_curve import CurvePoint, curve_break_even

SPEED_UNITS = {
    "ttft_ms": "ms",
    "tpot_ms": "ms",
    "user_tokens_per_s": "tokens/s",
    "ms_per_token": "ms",
}
PER_TURN = ("median over turns", "exp(mean over turns of log(candidate's speed / baseline's))")
PER_TOKEN = ("sum of times / sum of tokens", "baseline's time per token / candidate's")


def speed_rows(
    run: str, speed: Sequence[SpeedEstimate], dimension: str = "all", name: str = "all"
) -> Iterator[dict[str, Any]]:
    """What both paths took in a slice of the run, and the speed-up with its interval."""
    for estimate in speed:
        average, speedup = PER_TOKEN if estimate.metric == "ms_per_token" else PER_TURN
        lower = estimate.metric != "user_tokens_per_s"
        common = {
            "run": run,
            "dimension": dimension,
            "slice": name,
            "n": estimate.turns,
            "sessions": estimate.sessions,
        }
        for path in ("baseline", "candidate"):
            yield {
                **common,
                "name": estimate.metric,
                "path": path,
                "value": getattr(estimate, path),
                "unit": SPEED_UNITS[estimate.metric],
                "formula": average,
                "better": "lower" if lower else "higher",
            }
        yield {
            **common,
            "name": f"speedup_{estimate.metric}",
            "path": "both",
            "value": estimate.speedup,
            "low": estimate.low,
            "high": estimate.high,
            "unit": "ratio",
            "formula": f"{speedup}, by session",
            "better": "higher",
        }


def curve_rows(run: str, curve: Sequence[CurvePoint]) -> Iterator[dict[str, Any]]:
    """The speed of every arm on the curve, and where speculation stops paying, as metrics."""
    for point in curve:
        yield from speed_rows(run, point.speed, "arm", point.arm)
    if len(curve) > 1:
        yield {
            "run": run,
            "name": "break_even_concurrency",
            "path": "both",
            "dimension": "all",
            "slice": "all",
            "value": curve_break_even(curve),
            "unit": "sessions",
            "formula": "where log(speed-up per token) over log2(concurrency) "
            "crosses 0; absent: it pays at every concurrency measured",
            "better": "higher",
            "n": sum(point.speed[1].turns for point in curve),
        }


def gap_rows(run: str, captures: Sequence[Mapping[str, Any]]) -> Iterator[dict[str, Any]]:
    """The 99th percentile over requests of the longest wait inside a stream, by path and arm."""
    gaps: dict[tuple[str, str], list[float]] = {}
    for row in captures:
        if row["max_gap_ms"] is not None:
            gaps.setdefault((row["path"], row["arm"]), []).append(row["max_gap_ms"])
    for (path, arm), found in sorted(gaps.items()):
        yield {
            "run": run,
            "name": "max_gap_ms_p99",
            "path": path,
            "dimension": "arm",
            "slice": arm,
            "value": float(np.percentile(found, 99)),
            "unit": "ms",
            "formula": "99th percentile over requests of the longest wait between two events",
            "better": "lower",
            "n": len(found),
        }
