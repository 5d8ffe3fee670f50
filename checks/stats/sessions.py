"""Sessions as the unit of chance: halves drawn by hash, and resampling weights.

Tokens and turns of one session share a prompt, a task and a fate, so every interval resamples
whole sessions (cluster bootstrap; Davison & Hinkley 1997, ch. 3.8).
"""

from collections.abc import Iterable
from functools import lru_cache
from hashlib import blake2b

import numpy as np
import numpy.typing as npt

RESAMPLES = 2000
"""Resamples of sessions per interval: the level of an end of a 95% interval then has a standard
error of sqrt(0.025 · 0.975 / 2000) = 0.35 points."""

AT_ONCE = 1 << 20
"""So many numbers are drawn at a time: those of thousands of sessions would fill the memory."""


def hash_order(names: Iterable[str], seed: int) -> list[str]:
    """Distinct names in an order that depends on the seed and the names alone."""

    return sorted(set(names), key=lambda name: hash_place(name, seed))


def hash_place(name: str, seed: int) -> str:
    """Where `hash_order` puts a name: places sort as the names do there."""
    return blake2b(f"{seed}\x00{name}".encode(errors="surrogatepass"), digest_size=16).hexdigest()


def calibration_half(sessions: Iterable[str], seed: int) -> frozenset[str]:
    """Every second session of the hash order: the half that calibrates; the rest tests."""
    return frozenset(hash_order(sessions, seed)[::2])


def resampling_weights(sessions: int, samples: int, seed: int) -> npt.NDArray[np.float64]:
    """How often each session is drawn, one row per resample: shape [samples, sessions]."""
    return np.asarray(_drawn(sessions, samples, seed), dtype=np.float64)


@lru_cache(maxsize=4)
def _drawn(sessions: int, samples: int, seed: int) -> npt.NDArray[np.uint16 | np.int64]:
    """The draws, kept small: intervals of one quantity after the other resample alike."""
    rng = np.random.default_rng(seed)
    equal, kind = np.full(sessions, 1.0 / sessions), np.uint16 if sessions < 1 << 16 else np.int64
    found = np.empty((samples, sessions), kind)
    rows = max(1, AT_ONCE // max(1, sessions))
    for start in range(0, samples, rows):
        part = found[start : start + rows]
        part[:] = rng.multinomial(sessions, equal, size=len(part))
    return found
