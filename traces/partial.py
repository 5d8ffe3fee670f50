"""A column of numbers of which some are missing.

Partial([5 0 7], [t f t])     5, None, 7
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt


@dataclass(frozen=True, slots=True, eq=False)
class Partial:
    """`values[i]` counts where `known[i]`; both have one entry per row."""

    values: npt.NDArray[Any]
    known: npt.NDArray[np.bool_]

    def __len__(self) -> int:
        return len(self.values)

    def tolist(self) -> list[Any]:
        """The numbers, `None` for those that are missing."""
        known = self.known.tolist()
        return [v if k else None for v, k in zip(self.values.tolist(), known, strict=True)]
