"""Is a drafted token emitted exactly as often as the distribution says?

    x = 1[y = d] - p(d),   Var x = p(d) (1 - p(d))

With one-hot drafts (vLLM's default ``draft_sample_method``) rejection sampling emits the drafted
token with probability exactly p(d) (Leviathan et al. 2023, arXiv 2211.17192). Lenient acceptance
shows here with a tenth of the tokens that any other statistic needs.
"""

from dataclasses import dataclass

import numpy as np

from checks.sampled.distribution import Distribution, Ints


@dataclass(frozen=True, slots=True)
class DraftCount:
    """Drafted positions, drafts emitted, and their expected number and variance."""

    positions: int = 0
    emitted: int = 0
    expected: float = 0.0
    variance: float = 0.0

    def __add__(self, other: "DraftCount") -> "DraftCount":
        return DraftCount(
            self.positions + other.positions,
            self.emitted + other.emitted,
            self.expected + other.expected,
            self.variance + other.variance,
        )


def draft_count(distribution: Distribution, drafts: Ints) -> DraftCount:
    """Of judged positions whose drafted token (`drafts` [n], -1: none) has a cell of its own."""
    judged = np.flatnonzero(distribution.judged & (drafts >= 0))
    hit = distribution.ids[judged] == drafts[judged][:, None]
    cells = (
        distribution.cells[judged, hit.argmax(axis=1)]
        if len(judged)
        else np.empty(0, dtype=np.int64)
    )
    listed = hit.any(axis=1) & (cells < distribution.ids.shape[1])
    rows, cell = judged[listed], cells[listed]
    p = distribution.probs[rows, cell]
    return DraftCount(
        len(rows),
        int((distribution.chosen[rows] == cell).sum()),
        float(p.sum()),
        float((p * (1 - p)).sum()),
    )
