"""Context bands: 0-8k, 8k-16k, 16k-32k, 32k-64k, 64k-128k, 128k+ (k = 1024 tokens)."""

import numpy as np
import numpy.typing as npt

BANDS = ("0-8k", "8k-16k", "16k-32k", "32k-64k", "64k-128k", "128k+")
EDGES = tuple(1024 * k for k in (8, 16, 32, 64, 128))


def context_band(tokens: int) -> str:
    """The band a context of so many tokens is in; a band holds its lower edge."""
    return BANDS[sum(tokens >= edge for edge in EDGES)]


def band_indices(tokens: npt.ArrayLike) -> npt.NDArray[np.int8]:
    """The same for many lengths at once: indices into `BANDS`."""
    return np.searchsorted(EDGES, np.asarray(tokens), side="right").astype(np.int8)
