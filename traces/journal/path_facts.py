"""What one server of a path says of itself, so that two paths can be compared."""

from collections.abc import Mapping
from dataclasses import dataclass

from traces.journal.observables import Observables

SERVED = "served"
"""`PathFacts.draft_ids` of a server whose answers carry them."""

LONGEST_COUNT = 9
"""Digits of a number that 32 bits hold."""


@dataclass(frozen=True, slots=True)
class ModelFacts:
    """One entry of ``/v1/models``; `max_model_len` counts tokens of prompt and output."""

    id: str
    root: str | None
    max_model_len: int | None


@dataclass(frozen=True, slots=True)
class PathFacts:
    """Facts of one server. None: the server does not say (never "the same as the other's").

    `cache` holds the labels of ``vllm:cache_config_info``; `probe_ids` the token ids of a probe
    conversation with tools; `parser_probe` what the server makes of forced outputs, by the name of
    their markup. `command` (keys and tokens masked) and `non_default_args` are known of launched
    servers. `speculation_metrics` says whether the server has counters of speculation at all, and
    `drafts_counted` by how much the one of drafts grew while it was asked. `started_at` (process)
    and `counting_since` (its counters) are in seconds since the epoch, as ``/metrics`` gives them;
    together they tell two servers apart. `draft_ids` is `SERVED`, or why a server that was launched
    with them does not serve them; None without.
    """

    path: str
    url: str
    version: str | None = None
    models: tuple[ModelFacts, ...] | None = None
    cache: Mapping[str, str] | None = None
    probe_ids: tuple[int, ...] | None = None
    parser_probe: Mapping[str, str] | None = None
    command: tuple[str, ...] | None = None
    non_default_args: str | None = None
    speculation_metrics: bool | None = None
    drafts_counted: float | None = None
    started_at: float | None = None
    counting_since: float | None = None
    observables: Observables | None = None
    draft_ids: str | None = None

    @property
    def block_size(self) -> int | None:
        """Tokens of a KV-cache block, where the server says a usable number."""
        said = (self.cache or {}).get("block_size", "")
        return int(said) if said.isdecimal() and len(said) <= LONGEST_COUNT else None
