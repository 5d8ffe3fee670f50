"""A server with so few KV-cache blocks that concurrent turns preempt each other.

Faults that need preemption (a request evicted in the middle of speculation, then recomputed) never
show where the cache is roomy. With room for little more than the longest turn, two turns at once
cannot both stay; vLLM preempts the younger and starts it again (`num_preemptions_total` counts).
"""

import math
from dataclasses import replace

from replay.launch.command import ServerSpec
from traces.errors import ConfigError
from traces.journal.vllm_flags import parse_flags

SPARE_BLOCKS = 3
"""vLLM's null block, the block being filled, and the look-ahead of the drafter's tokens."""

FLAG = "--num-gpu-blocks-override"


def with_small_kv(spec: ServerSpec, longest_turn: int, block_size: int) -> ServerSpec:
    """The same server with KV blocks for one turn of `longest_turn` tokens (prompt and output).

    `block_size` is in tokens, as ``vllm:cache_config_info`` tells it. The context is cut to that
    length too, since vLLM refuses to start with a cache smaller than its context.
    """
    if FLAG in parse_flags(spec.flags):
        raise ConfigError(
            f"path {spec.name}: {FLAG} is set by draftgate in the small-KV arm",
            f"take {FLAG} out of `flags`",
        )
    blocks = math.ceil(longest_turn / block_size) + SPARE_BLOCKS
    flags = (*_without(spec.flags, "--max-model-len"), "--max-model-len", str(longest_turn))
    return replace(spec, flags=(*flags, FLAG, str(blocks)))


def _without(flags: tuple[str, ...], name: str) -> tuple[str, ...]:
    """The command line without one flag and its values."""
    kept: list[str] = []
    dropping = False
    for argument in flags:
        if argument.startswith("--"):
            dropping = name in parse_flags([argument])
        if not dropping:
            kept.append(argument)
    return tuple(kept)
