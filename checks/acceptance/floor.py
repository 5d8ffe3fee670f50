"""The mean acceptance length against the least the policy demands."""

from collections.abc import Sequence

from checks.acceptance.profile import Cell
from checks.bounds import Bound, State

NAME = "mean_acceptance_length"


def floor_bound(cells: Sequence[Cell], floor: float) -> Bound:
    """`cells` are those of a profile; the one over everything is held against `floor` (tokens per
    step that drafted). Passes where the whole 95% interval lies at or above it."""
    whole = next((cell.length for cell in cells if cell.dimension == "all"), None)
    if whole is None or whole.value is None or whole.low is None or whole.high is None:
        return Bound(NAME, "inconclusive", "too few drafts for an acceptance length")
    state: State = "inconclusive"
    if whole.low >= floor:
        state = "pass"
    elif whole.high < floor:
        state = "fail"
    return Bound(
        NAME,
        state,
        f"{whole.value:.3f} tokens per step, at least {floor:g} demanded",
        value=whole.value,
        low=whole.low,
        high=whole.high,
        margin=floor,
        unit="tokens per step",
        n=whole.count,
        sessions=whole.sessions,
    )
