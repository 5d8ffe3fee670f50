"""The distribution of a sampled token, rebuilt from the baseline's listed raw log probabilities.

Per position the distribution is a table of *cells*: the K listed tokens, best first, and one cell
for all others together. Which tokens share a cell depends on the prefix alone, never on the token
drawn; so every statistic of the cell is exact whatever happens along the sequence.

* Temperature: ``p^(1/T)``. What the unlisted mass m becomes is exact at T = 1, at most
  ``m p_K^(1/T - 1)`` below, at most ``V^(1 - 1/T) m^(1/T)`` above (power mean).
* Top-k, then top-p: tokens cut off have no mass. One that would be let in by a little rounding
  shares the cell of the last token kept.

A position where the unlisted mass leaves more than 0.1% of the distribution open is not judged,
nor is one where the nucleus of top-p may reach beyond the list.
"""

from collections import Counter
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from checks.sampled.sampling import Sampling

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

SLACK = 1e-3
"""Largest share of a position's distribution that may stay open."""
EDGE_NAT = 0.30
"""Tokens cut by top-k this close (nat) to the last one kept may be let in by rounding."""
EDGE_MASS = 0.03
"""Tokens cut by top-p may be let in where the mass before them exceeds p by at most this much."""
LARGEST_VOCABULARY = 2**18


@dataclass(frozen=True, slots=True)
class TopLists:
    """What the baseline lists at n consecutive output positions, from the first one on.

    `tokens` [n] are the ids that stand there; `ids` and `logprobs` [n, K] the K best, best first,
    raw natural logs.
    """

    tokens: Ints
    ids: Ints
    logprobs: Floats

    def __len__(self) -> int:
        return len(self.tokens)


@dataclass(frozen=True, slots=True)
class Distribution:
    """`probs` [n, K + 1]: the cells, the last one all unlisted tokens; `chosen` [n]: those drawn.

    `cells` [n, K] maps listed tokens to cells. `judged` [n] is false where too much is open. `ids`
    are the listed tokens in the distribution's order. All arrays keep every position.
    """

    probs: Floats
    chosen: Ints
    cells: Ints
    judged: npt.NDArray[np.bool_]
    ids: Ints


def distribution_of(lists: TopLists, sampling: Sampling) -> Distribution:
    """The distribution at each position of a turn; `lists` must begin at the first output token."""
    ids, logits, penalty = _penalized(lists, sampling)
    unlisted = np.clip(1.0 - np.exp(lists.logprobs).sum(axis=1), 0.0, 1.0)
    shift = logits[:, :1] / sampling.temperature
    weights = np.exp(logits / sampling.temperature - shift)
    low, high = _unlisted_weight(lists, sampling, unlisted, penalty)
    scale = np.exp(-shift[:, 0])
    low, high = low * scale, high * scale
    width = logits.shape[1]
    kept = np.ones_like(weights, dtype=np.bool_)
    edge = np.zeros_like(kept)
    if 0 < sampling.top_k <= width:
        last = logits[:, sampling.top_k - 1 : sampling.top_k]
        kept = logits >= last
        edge = ~kept & (logits >= last - EDGE_NAT)
        low, high = np.zeros_like(low), np.zeros_like(high)
    elif sampling.top_k:
        low = np.zeros_like(low)
    total = (weights * kept).sum(axis=1) + high
    judged = (high - low) / total <= SLACK
    if sampling.top_p < 1.0:
        shares = weights * kept / total[:, None]
        before = np.cumsum(shares, axis=1) - shares
        inside = before < sampling.top_p
        inside[:, 0] = True
        edge |= kept & ~inside & (before < sampling.top_p + EDGE_MASS)
        kept &= inside
        judged &= 1.0 - high / total >= sampling.top_p
        high = np.zeros_like(high)
    mass = np.concatenate([weights * kept, high[:, None]], axis=1)
    probs = mass / mass.sum(axis=1, keepdims=True)
    cells = _cells(kept, edge)
    return Distribution(probs, _chosen(lists.tokens, ids, cells), cells, judged, ids)


def _unlisted_weight(
    lists: TopLists, sampling: Sampling, unlisted: Floats, penalty: float
) -> tuple[Floats, Floats]:
    """Least and largest tempered weight of all unlisted tokens, before scaling."""
    inverse = 1.0 / sampling.temperature
    if inverse == 1.0:
        return unlisted * np.exp(-penalty), unlisted
    nothing = np.zeros_like(unlisted)
    if inverse > 1.0:
        return nothing, unlisted * np.exp((inverse - 1.0) * lists.logprobs[:, -1])
    return nothing, LARGEST_VOCABULARY ** (1.0 - inverse) * unlisted**inverse


def _penalized(lists: TopLists, sampling: Sampling) -> tuple[Ints, Floats, float]:
    """(ids, logits best first, largest penalty an unlisted token can have)."""
    if not sampling.penalized:
        return lists.ids, lists.logprobs, 0.0
    logits, seen = lists.logprobs.copy(), Counter[int]()
    for row, token in enumerate(lists.tokens):
        for column, listed in enumerate(lists.ids[row]):
            count = seen[int(listed)]
            if count:
                logits[row, column] -= (
                    sampling.presence_penalty + sampling.frequency_penalty * count
                )
        seen[int(token)] += 1
    order = np.argsort(-logits, axis=1, kind="stable")
    most = sampling.presence_penalty + sampling.frequency_penalty * max(seen.values(), default=0)
    return (
        np.take_along_axis(lists.ids, order, axis=1),
        np.take_along_axis(logits, order, axis=1),
        most,
    )


def _cells(kept: npt.NDArray[np.bool_], edge: npt.NDArray[np.bool_]) -> Ints:
    """Cell of each listed token: its own, the last kept one at the edge, else the unlisted one."""
    width = kept.shape[1]
    own = np.broadcast_to(np.arange(width), kept.shape)
    last = kept.sum(axis=1, keepdims=True) - 1
    return np.where(kept, own, np.where(edge, last, width)).astype(np.int64)


def _chosen(tokens: Ints, ids: Ints, cells: Ints) -> Ints:
    hit = ids == tokens[:, None]
    listed = hit.any(axis=1)
    place = hit.argmax(axis=1)
    width = ids.shape[1]
    return np.where(listed, np.take_along_axis(cells, place[:, None], axis=1)[:, 0], width)
