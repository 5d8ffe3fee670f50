"""How much the tokens of one session resemble each other, and what that costs."""

from collections.abc import Sequence

import numpy as np


def intraclass_correlation(successes: Sequence[int], sizes: Sequence[int]) -> float | None:
    """One-way analysis-of-variance estimate of the intraclass correlation of a binary outcome.

        rho = (MSB - MSW) / (MSB + (n0 - 1) MSW),   n0 = (N - sum n_i^2 / N) / (k - 1)

    `successes[i]` of `sizes[i]` observations of cluster i. `None` where it cannot be estimated
    (fewer than two clusters, no spread at all). Source: Donner & Klar 2000, section 1.4; Fleiss,
    Levin & Paik 2003, section 15.2.
    """
    hits = np.asarray([s for s, n in zip(successes, sizes, strict=True) if n > 0], dtype=np.float64)
    counts = np.asarray([n for n in sizes if n > 0], dtype=np.float64)
    clusters, total = len(counts), counts.sum()
    if clusters < 2 or total <= clusters:
        return None
    share, overall = hits / counts, hits.sum() / total
    between = (counts * (share - overall) ** 2).sum() / (clusters - 1)
    within = (counts * share * (1 - share)).sum() / (total - clusters)
    n0 = (total - (counts**2).sum() / total) / (clusters - 1)
    spread = between + (n0 - 1) * within
    return None if spread <= 0 else float((between - within) / spread)


def design_effect(successes: Sequence[int], sizes: Sequence[int]) -> float | None:
    """Variance inflation of a rate by clustering, at least 1: ``1 + (m - 1) rho``.

    m is the size-weighted mean cluster size ``sum n_i^2 / sum n_i`` (Kish 1965). `None` where
    rho cannot be estimated.
    """
    rho = intraclass_correlation(successes, sizes)
    if rho is None:
        return None
    counts = np.asarray(sizes, dtype=np.float64)
    mean = (counts**2).sum() / counts.sum()
    return max(1.0, 1.0 + float(mean - 1) * rho)
