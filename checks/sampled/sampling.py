"""How a request samples, as far as listed raw log probabilities can rebuild its distribution.

vLLM 0.32 (`v1/sample/sampler.py`): penalties, then temperature, then top-k, then top-p. What
cannot be rebuilt is not judged, and said so.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from checks.request import has_format, named_tool

LEAST_TEMPERATURE = 0.01
"""vLLM raises smaller temperatures above greedy to this (`sampling_params._MAX_TEMP`)."""


@dataclass(frozen=True, slots=True)
class Sampling:
    """`top_k` 0 and `top_p` 1 are off. Penalties are subtracted from logits of emitted tokens."""

    temperature: float
    top_k: int = 0
    top_p: float = 1.0
    presence_penalty: float = 0.0
    frequency_penalty: float = 0.0

    @property
    def penalized(self) -> bool:
        """True where logits depend on what was emitted before."""
        return self.presence_penalty != 0 or self.frequency_penalty != 0


def sampling_of(request: Mapping[str, Any]) -> Sampling:
    """The sampling of a request that is not greedy; `obstacles` says what it leaves out. Without a
    temperature it is vLLM's own default, 1: a journal of live traffic may hold such requests."""
    temperature = request.get("temperature")
    top_k = int(request.get("top_k") or 0)
    return Sampling(
        temperature=max(1.0 if temperature is None else float(temperature), LEAST_TEMPERATURE),
        top_k=max(top_k, 0),
        top_p=float(request.get("top_p") or 1.0),
        presence_penalty=float(request.get("presence_penalty") or 0.0),
        frequency_penalty=float(request.get("frequency_penalty") or 0.0),
    )


def obstacles(request: Mapping[str, Any]) -> tuple[str, ...]:
    """Why the distribution of a request cannot be rebuilt at all; empty where it can.

    A repetition penalty scales logits, and log probabilities do not tell where logits are zero.
    """
    found = []
    if float(request.get("repetition_penalty") or 1.0) != 1.0:
        found.append("repetition_penalty")
    for name in ("presence_penalty", "frequency_penalty"):
        if float(request.get(name) or 0.0) < 0:
            found.append(f"a negative {name}")
    found += [
        name
        for name in ("logit_bias", "bad_words", "min_tokens", "min_p", "allowed_token_ids")
        if request.get(name)
    ]
    if has_format(dict(request)):
        found.append("a grammar masks tokens")
    if request.get("tool_choice") == "required" or named_tool(dict(request)):
        found.append("a forced tool choice masks tokens")
    return tuple(found)
