"""What to do with a drafter: one recommendation per concurrency, for people and machines.

{"concurrency": 4, "enable": true, "num_speculative_tokens": 2, "confirm_by_run": true,
 "speedup": {"value": 1.42, "low": 1.31, "high": 1.54}, "slices": {"pays": [...], ...}}
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from checks.acceptance.advice import Prediction
from checks.stats.session_interval import Estimate

SEPARABLE = ("template", "tool", "context")
"""Dimensions a router can tell apart before a request is served, so that they can be switched."""


@dataclass(frozen=True, slots=True)
class Recommendation:
    """Whether to enable the drafter at a concurrency, with which k, and for which slices.

    `enable` is `None` where the interval of the best speed-up holds 1: not decided. The k is that
    of the highest expected speed-up; where it did not run, the recommendation awaits a run at it.
    `pays`, `costs` and `undecided` list (dimension, slice) at that k.
    """

    concurrency: int
    enable: bool | None
    k: int | None
    confirm_by_run: bool
    speedup: Estimate | None
    pays: tuple[tuple[str, str], ...]
    costs: tuple[tuple[str, str], ...]
    undecided: tuple[tuple[str, str], ...]

    def as_json(self) -> dict[str, Any]:
        """The machine-readable form."""
        named = {"pays": self.pays, "costs": self.costs, "undecided": self.undecided}
        return {
            "concurrency": self.concurrency,
            "enable": self.enable,
            "num_speculative_tokens": self.k,
            "confirm_by_run": self.confirm_by_run,
            "speedup": None if self.speedup is None else estimate_json(self.speedup),
            "slices": {
                name: [{"dimension": d, "slice": s} for d, s in slices]
                for name, slices in named.items()
            },
        }


def recommend(found: Sequence[Prediction], ran: int) -> Recommendation:
    """From the predictions of one concurrency; `ran` is the k that ran.

    Raises ValueError where there are no predictions.
    """
    if not found:
        raise ValueError("no predictions to recommend from")
    concurrency = found[0].concurrency
    whole = [p for p in found if p.dimension == "all" and p.speedup.value is not None]
    if not whole:
        return Recommendation(concurrency, None, None, False, None, (), (), ())
    best = max(whole, key=lambda p: p.speedup.value or 0.0)
    decided = {"pays": True, "costs": False}.get(best.state)
    at_best = [p for p in found if p.k == best.k and p.dimension in SEPARABLE]
    by_state = {
        state: tuple((p.dimension, p.slice) for p in at_best if p.state == state)
        for state in ("pays", "costs", "undecided")
    }
    return Recommendation(
        concurrency,
        decided,
        0 if decided is False else best.k,
        decided is not False and best.k != ran,
        best.speedup,
        by_state["pays"],
        by_state["costs"],
        by_state["undecided"],
    )


def estimate_json(estimate: Estimate) -> dict[str, Any]:
    """``{"value", "low", "high", "count", "sessions"}``; `null` where not given."""
    return {name: getattr(estimate, name) for name in Estimate.__slots__}


def prediction_json(prediction: Prediction) -> dict[str, Any]:
    """One prediction as a JSON object."""
    return {
        "dimension": prediction.dimension,
        "slice": prediction.slice,
        "concurrency": prediction.concurrency,
        "num_speculative_tokens": prediction.k,
        "acceptance_length": estimate_json(prediction.length),
        "break_even": estimate_json(prediction.break_even),
        "speedup": estimate_json(prediction.speedup),
        "speedup_if_cost_is_fixed": prediction.pessimistic,
        "state": prediction.state,
    }
