"""How a speculative method drafts: at every decode step, or only where it finds something."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

SKIPPING = frozenset({"ngram", "ngram_gpu", "suffix", "custom_class"})
"""Methods that may propose nothing, as where no match is found; such a step leaves no trace in the
arrays (vLLM v1/spec_decode/ngram_proposer.py, suffix_decoding.py)."""

TEXT_ALONE = frozenset({"ngram", "ngram_gpu", "suffix"})
"""Methods without a distribution to draw drafts from."""


@dataclass(frozen=True, slots=True)
class Drafting:
    """What is known of the drafter: its method, k, and the n-gram limits where it has them.

    `method` is vLLM's name (``eagle3``, ``mtp``, ``draft_model``, ``ngram`` …); `k` is
    num_speculative_tokens. Every field is `None` where it is not known;
    of `draft_sampling` and `rejection` (draft_sample_method, rejection_sample_method) that is
    vLLM's default, ``greedy`` and ``standard``.
    """

    method: str | None = None
    k: int | None = None
    lookup_min: int | None = None
    lookup_max: int | None = None
    max_model_len: int | None = None
    draft_sampling: str | None = None
    rejection: str | None = None

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
        return cls(
            method,
            config.get("num_speculative_tokens"),
            low,
            high,
            max_model_len,
            config.get("draft_sample_method"),
            config.get("rejection_sample_method"),
        )

    @property
    def one_hot(self) -> bool:
        """Whether a drafted token is emitted exactly as often as the target's distribution says.

        So it is with drafts that depend on the text alone and are accepted one by one. A draft that
        is itself drawn is emitted more often than that (Leviathan et al. 2023, arXiv 2211.17192);
        and verification by block (Sun et al. 2024, arXiv 2403.10444) looks at later drafts first.
        """
        drawn = self.method not in TEXT_ALONE and self.draft_sampling not in (None, "greedy")
        return self.method is not None and not drawn and self.rejection in (None, "standard")

    @property
    def every_step(self) -> bool:
        """Whether each decode step drafts, so that no step is missing from the arrays."""
        return self.method is not None and self.method not in SKIPPING
