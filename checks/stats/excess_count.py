"""Is a count larger than others, each with a weight, let one expect?"""

from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import special

Numbers = npt.NDArray[Any]
Floats = npt.NDArray[np.float64]


def excess_count_p(
    counts: Numbers, noise: Numbers, weights: Numbers, mean_weight: float, effect: float = 1.0
) -> Floats:
    """One-sided p of each of `counts` where noise counts a with weights w let ``sum w a`` be
    expected.

        p = I_x(count / effect, m^2 / v),  x = v / (m + v),  m = sum w a + w',  v = sum w^2 a + w'^2

    w' is `mean_weight`. Of one noise count this is the binomial probability, given both, of so
    many or more; of several their sum is a gamma variable (Fay & Feuer 1997, Stat Med 16:791; w'
    as Tiwari, Clegg & Zou 2006, Stat Methods Med Res 15:547). Counts are divided by `effect`.
    """
    mean = float((weights * noise).sum()) / effect + mean_weight
    spread = float((weights**2 * noise).sum()) / effect + mean_weight**2
    scale = spread / mean
    some = np.maximum(np.asarray(counts, dtype=np.float64), 0.5) / effect
    found = special.betainc(some, mean / scale, scale / (1 + scale))
    return np.asarray(np.where(np.asarray(counts) > 0, found, 1.0))
