"""Randomized probability integral transform of sampled tokens, and its smooth components.

    U_t = S_t + V_t p_t,   S_t mass of the cells before the one drawn, p_t its mass, V_t ~ U(0, 1)

If the tokens follow the distribution, the U_t are independent and uniform, however the sequence
goes on (Rosenblatt 1952; Brockwell 2007 for the randomized form).
"""

from hashlib import blake2b

import numpy as np

from checks.sampled.distribution import Distribution, Floats

COMPONENTS = 4


def pit_draws(seed: int, session: str, turn: str, count: int) -> Floats:
    """The V of one turn: PCG64 seeded by BLAKE2b of seed, session and turn, so they repeat."""
    digest = blake2b(f"{seed}\x00{session}\x00{turn}".encode(), digest_size=16).digest()
    return np.asarray(np.random.default_rng(int.from_bytes(digest, "big")).random(count))


def pit(distribution: Distribution, draws: Floats) -> Floats:
    """U at every position, judged or not."""
    rows = np.arange(len(distribution.chosen))
    own = distribution.probs[rows, distribution.chosen]
    before = np.cumsum(distribution.probs, axis=1)[rows, distribution.chosen] - own
    return np.asarray(np.clip(before + draws * own, 0.0, 1.0))


def legendre(u: Floats) -> Floats:
    """The first four orthonormal Legendre polynomials on [0, 1], shape [n, 4]: the components of
    Neyman's smooth test of uniformity (Neyman 1937), each of mean 0 and variance 1."""
    x = 2.0 * u - 1.0
    plain = (x, (3 * x**2 - 1) / 2, (5 * x**3 - 3 * x) / 2, (35 * x**4 - 30 * x**2 + 3) / 8)
    scaled = [np.sqrt(2 * k + 1) * values for k, values in enumerate(plain, start=1)]
    return np.stack(scaled, axis=-1)
