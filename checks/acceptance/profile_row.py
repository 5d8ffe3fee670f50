"""One row of an acceptance profile, as case files, the store and reference runs write it."""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any


@dataclass(frozen=True, slots=True)
class ProfileRow:
    """Counters of one boundary in one context band.

    ``{"boundary": "code", "context_bucket": "0-8k", "num_drafts": 5000, "num_draft_tokens": 15000,
    "accepted_per_pos": [3755, 2835, 2265], "num_accepted_tokens": 8855}``

    `num_drafts` counts engine steps that drafted; `accepted_per_pos[i]` those that accepted more
    than i draft tokens. `visit` is an index into the order in which context bands ran.
    """

    boundary: str
    context_bucket: str
    num_drafts: int
    num_draft_tokens: int
    accepted_per_pos: tuple[int, ...]
    num_accepted_tokens: int
    visit: int | None = None

    @classmethod
    def from_mapping(cls, row: Mapping[str, Any]) -> "ProfileRow":
        """A row from its JSON object; raises KeyError where a counter is missing."""
        return cls(
            boundary=str(row.get("boundary", "all")),
            context_bucket=str(row.get("context_bucket", "all")),
            num_drafts=int(row["num_drafts"]),
            num_draft_tokens=int(row["num_draft_tokens"]),
            accepted_per_pos=tuple(int(n) for n in row["accepted_per_pos"]),
            num_accepted_tokens=int(row["num_accepted_tokens"]),
            visit=row.get("visit"),
        )

    def as_mapping(self) -> dict[str, Any]:
        """The JSON object of this row; `visit` only where there is one."""
        row: dict[str, Any] = {
            "boundary": self.boundary,
            "context_bucket": self.context_bucket,
            "num_drafts": self.num_drafts,
            "num_draft_tokens": self.num_draft_tokens,
            "accepted_per_pos": list(self.accepted_per_pos),
            "num_accepted_tokens": self.num_accepted_tokens,
        }
        return row if self.visit is None else {**row, "visit": self.visit}

    @property
    def name(self) -> str:
        """How messages name the row: ``code, 0-8k, visit 2``."""
        visit = "" if self.visit is None else f", visit {self.visit}"
        return f"{self.boundary}, {self.context_bucket}{visit}"

    def conditional(self, position: int) -> Fraction | None:
        """c_i: share of steps that accept position i among those that accepted the one before.

        c_0 = accepted_per_pos[0] / num_drafts, c_i = accepted_per_pos[i] / accepted_per_pos[i-1];
        exact, so that a rate at a limit is at the limit. `None` where the row has no such position
        or nothing reached it.
        """
        if position >= len(self.accepted_per_pos):
            return None
        reached = self.num_drafts if position == 0 else self.accepted_per_pos[position - 1]
        return Fraction(self.accepted_per_pos[position], reached) if reached > 0 else None
