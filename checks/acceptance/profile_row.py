"""One row of an acceptance profile, as case files, the store and reference runs write it."""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from operator import add
from typing import Any

MIN_DRAFTS = 100
"""Fewest drafts of a row that is compared with a reference."""


@dataclass(frozen=True, slots=True)
class SessionCounts:
    """Of one session: steps that drafted; steps that accepted more than i draft tokens; steps that
    proposed more than i and accepted the first i of them."""

    drafts: int
    accepted: tuple[int, ...]
    reached: tuple[int, ...]

    def __add__(self, other: "SessionCounts") -> "SessionCounts":
        """Of both; positions as many as in this one."""
        return SessionCounts(
            self.drafts + other.drafts,
            tuple(map(add, self.accepted, other.accepted)),
            tuple(map(add, self.reached, other.reached)),
        )


@dataclass(frozen=True, slots=True)
class ProfileRow:
    """Counters of one boundary in one context band.

    ``{"boundary": "code", "context_bucket": "0-8k", "num_drafts": 5000, "num_draft_tokens": 15000,
    "accepted_per_pos": [3755, 2835, 2265], "num_accepted_tokens": 8855}``

    `num_drafts` counts engine steps that drafted; `accepted_per_pos[i]` those that accepted more
    than i draft tokens; `reached_per_pos[i]`, where it is known, those that proposed more than i
    tokens and accepted the first i of them. `visit` is an index into the order in which context
    bands ran. `sessions` holds the counts of every session, where a run gave the row; a case file
    has none.
    """

    boundary: str
    context_bucket: str
    num_drafts: int
    num_draft_tokens: int
    accepted_per_pos: tuple[int, ...]
    num_accepted_tokens: int
    reached_per_pos: tuple[int, ...] | None = None
    visit: int | None = None
    sessions: tuple[tuple[str, SessionCounts], ...] = ()

    @classmethod
    def from_mapping(cls, row: Mapping[str, Any]) -> "ProfileRow":
        """A row from its JSON object; raises KeyError where a counter is missing."""
        reached = row.get("reached_per_pos")
        return cls(
            boundary=str(row.get("boundary", "all")),
            context_bucket=str(row.get("context_bucket", "all")),
            num_drafts=int(row["num_drafts"]),
            num_draft_tokens=int(row["num_draft_tokens"]),
            accepted_per_pos=tuple(int(n) for n in row["accepted_per_pos"]),
            num_accepted_tokens=int(row["num_accepted_tokens"]),
            reached_per_pos=None if reached is None else tuple(int(n) for n in reached),
            visit=row.get("visit"),
        )

    def as_mapping(self) -> dict[str, Any]:
        """The JSON object of this row, without what is not known of it."""
        row: dict[str, Any] = {
            "boundary": self.boundary,
            "context_bucket": self.context_bucket,
            "num_drafts": self.num_drafts,
            "num_draft_tokens": self.num_draft_tokens,
            "accepted_per_pos": list(self.accepted_per_pos),
            "num_accepted_tokens": self.num_accepted_tokens,
        }
        if self.reached_per_pos is not None:
            row["reached_per_pos"] = list(self.reached_per_pos)
        return row if self.visit is None else {**row, "visit": self.visit}

    @property
    def name(self) -> str:
        """How messages name the row: ``code, 0-8k, visit 2``."""
        visit = "" if self.visit is None else f", visit {self.visit}"
        return f"{self.boundary}, {self.context_bucket}{visit}"

    def reached(self, position: int) -> int | None:
        """Drafts that proposed a token at `position` and had all before it accepted.

        Where the row does not say, every draft is taken to be as long as the longest; `None` where
        its draft tokens show that they are not (n-gram and suffix drafts vary), and for positions
        it does not have.
        """
        if position >= len(self.accepted_per_pos):
            return None
        if self.reached_per_pos is not None and position < len(self.reached_per_pos):
            return self.reached_per_pos[position]
        if position == 0:
            return self.num_drafts
        longest = self.num_drafts * len(self.accepted_per_pos)
        return None if self.num_draft_tokens < longest else self.accepted_per_pos[position - 1]

    def conditional(self, position: int) -> Fraction | None:
        """c_i: share of the drafts that reach position i which accept it.

        Exact, so that a rate at a limit is at the limit. `None` where that is not known, or nothing
        reached the position.
        """
        reached = self.reached(position)
        return Fraction(self.accepted_per_pos[position], reached) if reached else None
