"""Sampled streams and faults of speculative sampling, each of known distribution.

Contexts are random: a peaked or a flat table over 60 tokens, the best 20 of them listed. The
drafter proposes the best token in 7 of 10 places, the second best otherwise.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from checks.sampled.distribution import TopLists

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

VOCABULARY, LISTED = 60, 20


@dataclass(frozen=True, slots=True)
class Contexts:
    """`probs` [n, V]: the raw distribution of each position; `drafts` [n]: the drafted token."""

    probs: Floats
    drafts: Ints


def contexts(rng: np.random.Generator, count: int) -> Contexts:
    """`count` positions with a mean entropy near 1.9 nat."""
    scale = rng.choice([4.0, 1.6], size=(count, 1), p=[0.35, 0.65])
    logits = rng.normal(0.0, 1.0, (count, VOCABULARY)) * scale
    probs = np.exp(logits - logits.max(axis=1, keepdims=True))
    probs /= probs.sum(axis=1, keepdims=True)
    order = np.argsort(-probs, axis=1)
    place = (rng.random(count) > 0.7).astype(np.int64)
    return Contexts(probs, order[np.arange(count), place])


Fault = Callable[[Contexts], Floats]
"""The distribution a faulty path draws from: [n, V]."""


def sound(c: Contexts) -> Floats:
    """No fault: rejection sampling keeps the distribution."""
    return c.probs


def wrong_residual(c: Contexts) -> Floats:
    """A rejected draft is replaced by a draw from p instead of the residual."""
    p = _of_draft(c)
    return p[:, None] * _one_hot(c) + (1 - p)[:, None] * c.probs


def lenient(bar: float) -> Fault:
    """A draft is accepted where p(d) > bar * u, not p(d) > u."""

    def distribution(c: Contexts) -> Floats:
        p = _of_draft(c)
        accept = np.minimum(1.0, p / bar)
        rest = c.probs * (1 - _one_hot(c))
        rest /= np.maximum(rest.sum(axis=1, keepdims=True), 1e-300)
        return np.asarray(accept[:, None] * _one_hot(c) + (1 - accept)[:, None] * rest)

    return distribution


def tempered(temperature: float) -> Fault:
    """The temperature is not the one asked for."""

    def distribution(c: Contexts) -> Floats:
        raised = c.probs ** (1.0 / temperature)
        return np.asarray(raised / raised.sum(axis=1, keepdims=True))

    return distribution


def now_and_then(fault: Fault, share: float) -> Fault:
    """The fault at a share of the positions, drawn anew each time."""
    return lambda c: np.asarray(share * fault(c) + (1 - share) * c.probs)


def divergence(fault: Fault, c: Contexts) -> float:
    """Mean Kullback-Leibler divergence (nat per token) of the faulty draws from the sound ones.

    ``ln(1 / alpha) / divergence`` tokens is what the best test of level alpha that knows the fault
    needs on average (Wald 1945, sequential probability ratio test).
    """
    distribution = fault(c)
    ratio = np.log(np.maximum(distribution, 1e-300)) - np.log(np.maximum(c.probs, 1e-300))
    return float((distribution * ratio).sum(axis=1).mean())


def _one_hot(c: Contexts) -> Floats:
    hot = np.zeros_like(c.probs)
    hot[np.arange(len(c.drafts)), c.drafts] = 1.0
    return hot


def _of_draft(c: Contexts) -> Floats:
    return np.asarray(c.probs[np.arange(len(c.drafts)), c.drafts])


def draw(rng: np.random.Generator, distribution: Floats) -> Ints:
    """One token per position."""
    return np.asarray(
        (rng.random((len(distribution), 1)) > distribution.cumsum(axis=1)).sum(axis=1),
        dtype=np.int64,
    )


def listed(c: Contexts, tokens: Ints) -> TopLists:
    """What the scorer would list for these tokens."""
    order = np.argsort(-c.probs, axis=1)[:, :LISTED]
    return TopLists(tokens, order, np.log(np.take_along_axis(c.probs, order, axis=1)))
