"""One recorded turn, ready to be sent."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Job:
    """`request` is complete (`replay.sending.request`); jobs of one session share their history."""

    session: str
    turn: str
    request: dict[str, Any]


SessionJobs = Sequence[Job]
"""The turns of one session, in their recorded order."""
