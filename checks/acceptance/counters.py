"""METRIC_NOT_MONOTONE and METRIC_SUM: do the acceptance counters contradict each other?

A counter that breaks its own identities says nothing about a drafter, so rows that fire here are
judged no further. The counters of one response
(vllm/v1/metrics/stats.py, RequestSpecDecodeMetrics) are compared with its per-step arrays:

    {"num_spec_steps": 2, "num_accepted_draft_tokens": 3, "num_draft_tokens": 6,
     "acceptance_histogram": [0, 1, 1, 0], "per_step_accepted": [2, 1], "per_step_drafted": [3, 3]}
"""

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from checks.acceptance.profile_row import ProfileRow
from checks.findings import METRIC_NOT_MONOTONE, METRIC_SUM, Finding
from traces.wire.response import Speculation


def row_counters(row: ProfileRow) -> list[Finding]:
    """Contradictions inside one profile row.

    Accepted counts never rise with the position; they sum to `num_accepted_tokens`; position 0 is
    accepted at most once a draft; no more is accepted than drafted; nothing is negative.
    """
    per_position, total = row.accepted_per_pos, row.num_accepted_tokens
    seen = []
    for i, (before, here) in enumerate(itertools.pairwise(per_position), 1):
        if here > before:
            message = f"{row.name}: position {i} accepted {here}, more than the {before} before it"
            seen.append(Finding(METRIC_NOT_MONOTONE, message, detail=row.as_mapping()))
    faults = []
    if sum(per_position) != total:
        faults.append(f"accepted per position sums to {sum(per_position)}, counter says {total}")
    if per_position and per_position[0] > row.num_drafts:
        faults.append(f"position 0 accepted {per_position[0]} times in {row.num_drafts} drafts")
    if total > row.num_draft_tokens:
        faults.append(f"{total} tokens accepted of {row.num_draft_tokens} drafted")
    if min(row.num_drafts, row.num_draft_tokens, total, *per_position) < 0:
        faults.append("a counter is negative")
    seen += [_sum(f"{row.name}: {f}", row.as_mapping()) for f in faults]
    return seen


def step_counters(
    steps: Sequence[Mapping[str, Any]], completion_tokens: int | None
) -> list[Finding]:
    """Contradictions between steps and what they committed.

    A step ``{"drafted": 3, "accepted": 2, "committed": 3}`` commits accepted + 1 tokens; the
    `terminal` one may commit fewer (EOS or max_tokens inside the accepted block). All steps
    together commit `completion_tokens`.
    """
    seen = [
        _sum(f"step {i}: {fault}", dict(step))
        for i, step in enumerate(steps)
        for fault in _step_faults(step)
    ]
    committed = [step.get("committed") for step in steps]
    if steps and completion_tokens is not None and None not in committed:
        total = sum(int(n) for n in committed if n is not None)
        if total != completion_tokens:
            message = f"steps commit {total} tokens, completion_tokens is {completion_tokens}"
            evidence = {"committed": total, "completion_tokens": completion_tokens}
            seen.append(_sum(message, evidence))
    return seen


def _step_faults(step: Mapping[str, Any]) -> Iterable[str]:
    drafted, accepted, committed = (step.get(k) for k in ("drafted", "accepted", "committed"))
    if accepted is None:
        return
    if drafted is not None and accepted > drafted:
        yield f"{accepted} accepted of {drafted} drafted"
    if committed is None:
        return
    if committed > accepted + 1:
        yield f"committed {committed}, more than accepted + 1 = {accepted + 1}"
    if committed < accepted + 1 and not step.get("terminal"):
        yield f"committed {committed}, not the terminal step's, and below {accepted + 1}"


def _sum(message: str, evidence: dict[str, Any]) -> Finding:
    return Finding(METRIC_SUM, message, detail=evidence)


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
