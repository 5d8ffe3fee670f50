"""One turn as both paths answered it."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from draftgate.testing.answer import Answer

if TYPE_CHECKING:
    from checks.pair import Pair


@dataclass(frozen=True, slots=True, repr=False)
class BothPaths:
    """The answers of the path without the drafter and of the one with it, to the same turn."""

    baseline: Answer
    candidate: Answer

    @property
    def name(self) -> str:
        """Name of the turn."""
        return self.candidate.name

    def pair(self, hard_bound: float | None = None) -> "Pair":
        """The evidence the gate's own checks judge. `hard_bound` (nat): see `assert_equivalent`.

        Without token ids on both sides texts are not compared: rounding may explain a difference,
        and nothing would show it. Prefix-cache hits are left to a whole run, which knows the block
        size of the KV cache.
        """
        from checks.pair import HARD_BOUND, NO_ANSWER, pair_of_responses

        baseline, candidate = (
            replace(answer.response, status=answer.status or NO_ANSWER)
            for answer in (self.baseline, self.candidate)
        )
        pair = pair_of_responses(
            dict(self.candidate.request),
            baseline,
            candidate,
            hard_bound=HARD_BOUND if hard_bound is None else hard_bound,
            compare_text=None not in (baseline.token_ids, candidate.token_ids),
        )
        return replace(pair, candidate=replace(pair.candidate, cached_tokens=None))

    def texts(self) -> Iterator[str]:
        """Everything recorded in it, for masking."""
        yield from self.baseline.texts()
        yield from self.candidate.texts()

    def __repr__(self) -> str:
        summaries = f"baseline {self.baseline.summary}; candidate {self.candidate.summary}"
        return f"<both paths of {self.name}: {summaries}>"
