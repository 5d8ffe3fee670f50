"""Rows about log probabilities of equal tokens: how far apart they lie, and the noise of that."""

from collections.abc import Iterator, Sequence
from typing import Any

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
