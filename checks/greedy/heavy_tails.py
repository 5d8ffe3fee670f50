"""Whether a target's rounding noise has heavy tails, by its own configuration.

In a mixture of experts a rounding difference can send a token to another expert; FP8 and FP4
activations round in steps as large. Either moves a logit by nats where a dense bf16 model moves it
by one unit in the last place, so a single token condemns nobody there (`policy.noise_tails`).
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

EXPERTS = (
    "num_experts",
    "num_local_experts",
    "n_routed_experts",
    "moe_num_experts",
    "num_routed_experts",
)
"""What Hugging Face configurations call the number of experts."""

QUANTISED = ("quantization_config", "quantization", "compression_config")
FEW_BITS = re.compile(r"(?:nv|mx)?fp[48](?!\d)|float-quantized|float8|float4", re.IGNORECASE)
FLAG = "--quantization"


def heavy_tails(config: Mapping[str, Any], flags: Mapping[str, Sequence[str]]) -> str | None:
    """Why single tokens must not condemn this target, or `None` for a dense one.

    `config` is the target's ``config.json``, with its nested parts (``text_config``); `flags` are
    the server's (`traces.journal.vllm_flags`).
    """
    for part in _parts(config):
        for name in EXPERTS:
            experts = part.get(name)
            if isinstance(experts, int) and experts > 1:
                return f"a mixture of experts ({name} is {experts})"
        for name in QUANTISED:
            if part.get(name) and (bits := FEW_BITS.search(json.dumps(part[name]))):
                return f"quantised to few bits ({name} says {bits[0]})"
    given = " ".join(flags.get(FLAG, ()))
    bits = FEW_BITS.search(given)
    return f"quantised to few bits ({FLAG} {given})" if bits else None


def _parts(config: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """The configuration and the ones nested in it, but for the quantisation's own."""
    yield config
    for name, value in config.items():
        if isinstance(value, Mapping) and name not in QUANTISED:
            yield from _parts(value)
