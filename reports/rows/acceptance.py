"""Rows of an arm's acceptance profile: one per slice, and one per slice and draft position."""

from collections.abc import Iterator, Sequence
from typing import Any

from checks.acceptance.profile import Cell


def acceptance_rows(run: str, arm: str, cells: Sequence[Cell]) -> Iterator[dict[str, Any]]:
    """Counters, acceptance lengths and drift of every slice of the candidate."""
    for cell in cells:
        total = cell.total
        yield {
            **_key(run, arm, cell),
            "sessions": cell.sessions,
            "requests": total.requests,
            "steps": total.drafts,
            "draft_tokens": total.draft_tokens,
            "accepted_tokens": total.accepted_tokens,
            "empty_steps": total.empty,
            "acceptance_length": cell.length.value,
            "low": cell.length.low,
            "high": cell.length.high,
            "request_mean": cell.request_length.value,
            "request_low": cell.request_length.low,
            "request_high": cell.request_length.high,
            "drift": cell.drift.value,
            "drift_low": cell.drift.low,
            "drift_high": cell.drift.high,
        }


def position_rows(run: str, arm: str, cells: Sequence[Cell]) -> Iterator[dict[str, Any]]:
    """Both rates of every draft position of every slice."""
    for cell in cells:
        total = cell.total
        for place, (rate, given) in enumerate(zip(cell.rates, cell.conditional, strict=True)):
            yield {
                **_key(run, arm, cell),
                "position": place,
                "accepted_steps": int(total.longer[place]),
                "reached_steps": int(total.tried[place]),
                "acceptance_rate": rate.value,
                "rate_low": rate.low,
                "rate_high": rate.high,
                "reached": int(total.reached[place]),
                "accepted": int(total.accepted[place]),
                "conditional_acceptance": given.value,
                "conditional_low": given.low,
                "conditional_high": given.high,
                "sessions": given.sessions,
            }


def _key(run: str, arm: str, cell: Cell) -> dict[str, Any]:
    return {
        "run": run,
        "path": "candidate",
        "arm": arm,
        "dimension": cell.dimension,
        "slice": cell.slice,
    }
