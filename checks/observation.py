"""What a check of acceptance hands back: codes it saw, and what it could not judge."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Observation:
    """One code that fired: why, in words, and the numbers behind it.

    ``Observation("ACCEPTANCE_DEAD", "0.04 drafts accepted per step, reference 1.77", {...})``
    """

    code: str
    message: str
    evidence: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Observations:
    """Codes in report order, and the reasons why something was not judged."""

    seen: tuple[Observation, ...] = ()
    not_judged: tuple[str, ...] = ()

    @property
    def codes(self) -> tuple[str, ...]:
        """The distinct codes, sorted."""
        return tuple(sorted({o.code for o in self.seen}))

    def __add__(self, other: "Observations") -> "Observations":
        return Observations(self.seen + other.seen, self.not_judged + other.not_judged)
