"""Context bands of many positions at once."""

import numpy as np
import numpy.typing as npt

from traces.bands import EDGES


def band_indices(tokens: npt.ArrayLike) -> npt.NDArray[np.int8]:
    """`traces.bands.band_of` for each of `tokens`, as indices into `traces.bands.BANDS`."""
    return np.searchsorted(EDGES, np.asarray(tokens), side="right").astype(np.int8)
