"""How a speculative method drafts: at every decode step, or only where it finds something."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

SKIPPING = frozenset({"ngram", "ngram_gpu", "suffix", "custom_class"})
"""Methods that may propose nothing, as where no match is found; such a step leaves no trace in the
arrays (vLLM v1/spec_decode/ngram_proposer.py, suffix_decoding.py)."""


@dataclass(frozen=True, slots=True)
class Drafting:
    """What is known of the drafter: its method, k, and the n-gram limits where it has them.

    `method` is vLLM's name (``eagle3``, ``mtp``, ``draft_model``, ``ngram`` …); `k` is
    num_speculative_tokens. Every field is `None` where it is not known.
    """

    method: str | None = None
    k: int | None = None
    lookup_min: int | None = None
    lookup_max: int | None = None
    max_model_len: int | None = None

    @classmethod
    def from_config(cls, config: Mapping[str, Any], max_model_len: int | None = None) -> "Drafting":
        """From vLLM's ``--speculative-config``.

        Without `prompt_lookup_min` / `prompt_lookup_max` vLLM takes 5 for both, and the one for the
        other where only one is given (config/speculative.py). A config that names a draft model and
        no method has the method ``model``: whatever vLLM detects, it drafts at every step.
        """
        low, high = config.get("prompt_lookup_min"), config.get("prompt_lookup_max")
        model = config.get("model")
        method = config.get("method") or ("ngram" if model in ("ngram", "[ngram]") else None)
        method = method or ("model" if model else None)
        if method == "ngram":
            low, high = low or high or 5, high or low or 5
        return cls(method, config.get("num_speculative_tokens"), low, high, max_model_len)

    @property
    def every_step(self) -> bool:
        """Whether each decode step drafts, so that no step is missing from the arrays."""
        return self.method is not None and self.method not in SKIPPING
