"""Rows about what is compared in numbers: scores of equal tokens, and rates of other answers."""

from collections.abc import Iterator, Sequence
from typing import Any

from checks.calls.answer_rates import RateDifference
from checks.greedy.shift import PlaceShift


def score_rows(run: str, places: Sequence[PlaceShift]) -> Iterator[dict[str, Any]]:
    """Three metrics for each place in a step that was judged."""
    for one in places:
        common = {
            "run": run,
            "path": "both",
            "dimension": "all" if one.place == "all" else "step_place",
            "slice": one.place,
            "unit": "nat",
            "n": one.tokens,
            "sessions": one.sessions,
        }
        yield {
            **common,
            "name": "logprob_distance",
            "value": one.mean,
            "formula": "mean |log p candidate - log p baseline| of equal tokens",
            "better": "lower",
        }
        yield {
            **common,
            "name": "logprob_shift",
            "value": one.signed,
            "formula": "mean log p candidate - log p baseline of equal tokens",
        }
        yield {
            **common,
            "name": "logprob_noise",
            "value": one.noise,
            "formula": f"the same distance of the baseline against itself ({one.source})",
        }


def rate_rows(run: str, differences: Sequence[RateDifference]) -> Iterator[dict[str, Any]]:
    """Each quantity of the answers that are not compared word by word, on both paths."""
    for one in differences:
        unit = "tokens" if one.name == "tokens" else "share of turns"
        common = {
            "run": run,
            "name": f"uncompared_{one.name}",
            "dimension": "all",
            "slice": "all",
            "unit": unit,
            "n": one.difference.count,
            "sessions": one.difference.sessions,
        }
        formula = "mean over turns that cannot be compared word by word"
        yield {**common, "path": "baseline", "value": one.baseline, "formula": formula}
        yield {**common, "path": "candidate", "value": one.candidate, "formula": formula}
        yield {
            **common,
            "path": "both",
            "value": one.difference.value,
            "low": one.difference.low,
            "high": one.difference.high,
            "formula": "candidate - baseline, by session",
        }
