"""Tokens scored by the baseline under teacher forcing."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

Outcome = Literal["scored", "non_finite", "too_long", "unsupported", "refused", "no_answer"]
"""``non_finite``: the scores are NaN or infinite. ``too_long``: beyond the server's context.
``unsupported``: the answer lacks prompt logprobs. ``no_answer``: network error or time-out."""

Shape = Literal["prefill", "decode"]


@dataclass(frozen=True, slots=True)
class ScoreRequest:
    """Continue `prompt` with exactly `continuation`; both are token ids as captured."""

    prompt: tuple[int, ...]
    continuation: tuple[int, ...]

    @property
    def digest(self) -> str:
        """BLAKE2b-128 of both, as hex: the name of its score."""
        text = ",".join(map(str, self.prompt)) + "|" + ",".join(map(str, self.continuation))
        return hashlib.blake2b(text.encode(), digest_size=16).hexdigest()


@dataclass(frozen=True, slots=True)
class Score:
    """Per continuation token its raw log probability, and the best token's with its id.

    Natural logs of the unprocessed distribution (vLLM reports prompt logprobs raw in every mode,
    and clamps minus infinity to -9999). The tuples are empty unless `outcome` is ``scored``.
    `shape` says how the baseline computed them: many rows at once (``prefill``, teacher forcing) or
    one row per step (``decode``, lockstep); the two round differently and share no quantile.
    `listed` holds per token all the log probabilities the server listed, by token id, where more
    than the best one was asked for.
    """

    outcome: Outcome
    logprobs: tuple[float, ...] = ()
    top_logprobs: tuple[float, ...] = ()
    top_ids: tuple[int, ...] = ()
    error: str | None = None
    shape: Shape = "prefill"
    listed: tuple[Mapping[int, float], ...] = ()

    @property
    def regrets(self) -> tuple[float, ...]:
        """g_t = max_v log p(v | h_t) - log p(y_t | h_t), in nat; a logit gap, at least 0."""
        pairs = zip(self.logprobs, self.top_logprobs, strict=True)
        return tuple(max(0.0, top - own) for own, top in pairs)
