"""Sign-flip permutation test over sessions: is the mean difference above zero?

Under the null hypothesis each session's difference is as likely with the opposite sign
(Fisher 1935; Good 2005, section 3.2). Sessions without a difference carry no information.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

EXACT_UP_TO = 12

AT_ONCE = 1 << 20
"""So many signs are drawn at a time: of thousands of sessions all would fill the memory."""


@dataclass(frozen=True, slots=True)
class SignFlip:
    """`p` is one-sided (greater), `None` where no session differs; `sessions` counts those."""

    p: float | None
    sessions: int


def sign_flip(differences: Sequence[float], seed: int, draws: int = 20_000) -> SignFlip:
    """Test one difference per session. All 2^n sign patterns up to 12 sessions, else `draws`.

    Drawn patterns count the observed one too, so p is never 0 (Phipson & Smyth 2010).
    """
    values = np.asarray([value for value in differences if value != 0], dtype=np.float64)
    if not len(values):
        return SignFlip(None, 0)
    slack = 1e-12 * np.abs(values).sum()
    if len(values) <= EXACT_UP_TO:
        patterns = np.arange(2 ** len(values))[:, None] >> np.arange(len(values)) & 1
        reached = (1.0 - 2.0 * patterns) @ values >= values.sum() - slack
        return SignFlip(float(reached.mean()), len(values))
    rng = np.random.default_rng(seed)
    reached, rows = 0, max(1, AT_ONCE // len(values))
    for start in range(0, draws, rows):
        size = (min(rows, draws - start), len(values))
        signs = rng.choice(np.array([-1.0, 1.0]), size=size)
        reached += int((signs @ values >= values.sum() - slack).sum())
    return SignFlip(float((1 + reached) / (1 + draws)), len(values))
