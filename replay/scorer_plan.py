"""Where and how continuations are scored."""

from dataclasses import dataclass, field
from typing import Literal

Method = Literal["teacher-forcing", "lockstep"]


@dataclass(frozen=True, slots=True)
class ScorerPlan:
    """`url` is the baseline's. Under teacher forcing an answer takes 140 bytes per prompt token on
    the wire and, while it is read, some 1.2 KiB in memory (150 MiB for 128k tokens); `concurrency`
    bounds how many there are at once.
    """

    url: str
    model: str
    method: Method = "teacher-forcing"
    cache_salt: str = "score"
    api_key: str = field(default="", repr=False)
    concurrency: int = 2
    timeout_s: float = 600.0
