"""What a server's ``/metrics`` said at one moment of an arm."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ServerSample:
    """One reading. None: the server has no such metric.

    `at` is seconds since the epoch, `started` the same of the beginning of the server's process.
    `running` and `waiting` are requests now, `kv_cache_use` the share of KV-cache blocks in use (0
    to 1). All others are counters since the server's start: tokens, drafts (steps that drafted),
    accepted draft tokens by position. The GPU's values (0 to 1 for utilization) cover all GPUs of
    this machine, and are there for launched servers only. `part` is when this sampling began: a
    resumed arm is sampled in several parts.
    """

    path: str
    arm: str
    url: str
    at: float
    started: float | None = None
    running: float | None = None
    waiting: float | None = None
    kv_cache_use: float | None = None
    preemptions: float | None = None
    prompt_tokens: float | None = None
    generation_tokens: float | None = None
    prefix_queries: float | None = None
    prefix_hits: float | None = None
    drafts: float | None = None
    draft_tokens: float | None = None
    accepted_tokens: float | None = None
    accepted_per_position: tuple[float, ...] | None = None
    gpu_memory_bytes: float | None = None
    gpu_utilisation: float | None = None
    part: float | None = None
