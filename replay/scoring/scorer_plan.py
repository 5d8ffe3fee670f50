"""Where and how continuations are scored."""

from dataclasses import dataclass, field
from typing import Literal

Method = Literal["teacher-forcing", "lockstep"]


@dataclass(frozen=True, slots=True)
class ScorerPlan:
    """`url` is the baseline's. `width` is how many of the best tokens are listed at each position
    (vLLM: at most ``--max-logprobs``, 20 by default); more than 1 is for turns that sample, under
    teacher forcing only. Of an answer only the continuation's entries are held in memory.
    """

    url: str
    model: str
    method: Method = "teacher-forcing"
    width: int = 1
    cache_salt: str = "score"
    api_key: str = field(default="", repr=False)
    concurrency: int = 2
    timeout_s: float = 600.0
