"""Where and how continuations are scored."""

from dataclasses import dataclass, field
from typing import Literal

Method = Literal["teacher-forcing", "lockstep"]


@dataclass(frozen=True, slots=True)
class ScorerPlan:
    """`url` is the baseline's. Under teacher forcing each request in flight holds one answer (about
    140 bytes per prompt token) in memory, so `concurrency` bounds it.
    """

    url: str
    model: str
    method: Method = "teacher-forcing"
    cache_salt: str = "score"
    api_key: str = field(default="", repr=False)
    concurrency: int = 2
    timeout_s: float = 600.0
