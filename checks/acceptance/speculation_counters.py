"""METRIC_SUM of one response: its speculation counters against its per-step arrays.

    {"num_spec_steps": 2, "num_accepted_draft_tokens": 3, "num_draft_tokens": 6,
     "acceptance_histogram": [0, 1, 1, 0], "per_step_accepted": [2, 1], "per_step_drafted": [3, 3]}

(vllm/v1/metrics/stats.py, RequestSpecDecodeMetrics). Counters that are not sent are not judged.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from checks.findings import METRIC_SUM, Finding
from traces.wire.response import Speculation


def judge_speculation(speculation: Speculation | None) -> list[Finding]:
    """Contradictions between the counters of one response; empty without per-step arrays."""
    if speculation is None or speculation.accepted is None or speculation.drafted is None:
        return []
    faults = list(_faults(speculation.accepted, speculation.drafted, speculation.raw))
    return [Finding(METRIC_SUM, fault, detail={"metrics": speculation.raw}) for fault in faults]


def _faults(
    accepted: tuple[int, ...], drafted: tuple[int, ...], raw: Mapping[str, Any]
) -> Iterator[str]:
    if len(accepted) != len(drafted):
        yield f"{len(accepted)} entries in per_step_accepted, {len(drafted)} in per_step_drafted"
        return
    for step, (taken, offered) in enumerate(zip(accepted, drafted, strict=True)):
        if not 0 <= taken <= offered:
            yield f"entry {step}: {taken} accepted of {offered} drafted"
    expected = {
        "num_spec_steps": len(accepted),
        "num_accepted_draft_tokens": sum(accepted),
        "num_draft_tokens": sum(drafted),
    }
    for name, value in expected.items():
        if raw.get(name) is not None and raw[name] != value:
            yield f"{name} is {raw[name]}, the per-step arrays give {value}"
    histogram = raw.get("acceptance_histogram")
    if isinstance(histogram, list):
        counted = [accepted.count(taken) for taken in range(len(histogram))]
        if counted != histogram or any(taken >= len(histogram) for taken in accepted):
            yield f"acceptance_histogram is {histogram}, the per-step arrays give {counted}"
