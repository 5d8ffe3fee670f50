"""Does a hard divergence come back when the turn is run again? A label, never an excuse.

Rounding and wrong masks are deterministic; KV races and mixed-step faults are intermittent. Both
fail the gate.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from traces.wire.response import Response

Label = Literal["deterministic", "intermittent"]


@dataclass(frozen=True, slots=True)
class Recurrence:
    """`seen` of `runs` re-runs emitted the same token after the same tokens."""

    seen: int
    runs: int

    @property
    def label(self) -> Label | None:
        """``deterministic`` where every re-run shows it; `None` without re-runs."""
        if not self.runs:
            return None
        return "deterministic" if self.seen == self.runs else "intermittent"


def recurrence(first: Response, index: int, reruns: Sequence[Response]) -> Recurrence:
    """Of the token at output index `index` of the candidate's `first` capture.

    A re-run without token ids does not count; one that parts earlier does not show it.
    """
    wanted = (first.token_ids or ())[: index + 1]
    known = [response.token_ids for response in reruns if response.token_ids is not None]
    return Recurrence(sum(ids[: index + 1] == wanted for ids in known), len(known))
