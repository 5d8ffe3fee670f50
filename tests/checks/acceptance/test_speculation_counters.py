"""Counters of one response against its per-step arrays."""

from typing import Any

import pytest

from checks.acceptance.counters import judge_speculation
from traces.wire.response import Speculation

COUNTERS = {
    "num_spec_steps": 2,
    "num_accepted_draft_tokens": 3,
    "num_draft_tokens": 6,
    "acceptance_histogram": [0, 1, 1, 0],
}


@pytest.mark.parametrize(
    ("accepted", "drafted", "raw", "faults"),
    [
        ((2, 1), (3, 3), COUNTERS, 0),
        ((2, 1), (3, 3), {}, 0),
        (None, None, COUNTERS, 0),
        ((2, 1), (3, 3), {**COUNTERS, "num_spec_steps": 3}, 1),
        ((2, 1), (3, 3), {**COUNTERS, "num_accepted_draft_tokens": 4}, 1),
        ((2, 1), (3, 2), COUNTERS, 1),
        ((2, 1), (3, 3), {**COUNTERS, "acceptance_histogram": [1, 0, 1, 0]}, 1),
        ((4, 1), (3, 3), {}, 1),
        ((2, 1), (3,), {}, 1),
    ],
)
def test_contradictions(accepted: Any, drafted: Any, raw: dict[str, Any], faults: int) -> None:
    found = judge_speculation(Speculation(accepted, drafted, raw))
    assert [finding.code for finding in found] == ["METRIC_SUM"] * faults


def test_nothing_to_judge() -> None:
    assert judge_speculation(None) == []
