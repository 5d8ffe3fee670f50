"""Sums of drafted positions and steps, per slice and session: all that a profile needs to keep.

A step belongs to the slice its first token is in; a position to the slice of the token committed
there.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from checks.acceptance.positions import DISTANCES, DraftPositions, crossing_name
from checks.acceptance.steps import Steps
from traces.bands import BANDS
from traces.boundaries.label import LABELS

Counts = npt.NDArray[np.int64]
Slice = tuple[str, str]
"""Dimension and slice: ``("boundary", "code")``."""

DIMENSIONS = (
    "all",
    "boundary",
    "crossing",
    "distance",
    "context",
    "template",
    "tool",
    "cached",
    "boundary_context",
)


@dataclass(slots=True)
class Sums:
    """Sums of one slice of one session. `k` is the longest draft.

    `reached[i]`, `accepted[i]`: positions i reached and accepted there. `longer[i]`: steps that
    accepted more than i tokens, as vLLM counts (accepted tokens past the end included), and
    `tried[i]`: steps that drafted more than i tokens and accepted the first i of them.
    `length_sum`: Σ over requests of 1 + accepted / drafts.
    """

    k: int
    drafts: int = 0
    draft_tokens: int = 0
    accepted_tokens: int = 0
    empty: int = 0
    requests: int = 0
    length_sum: float = 0.0
    positions: Counts = field(init=False)

    def __post_init__(self) -> None:
        self.positions = np.zeros((4, self.k), np.int64)  # in one array: there are many of these

    @property
    def reached(self) -> Counts:
        return np.asarray(self.positions[0])

    @property
    def accepted(self) -> Counts:
        return np.asarray(self.positions[1])

    @property
    def longer(self) -> Counts:
        return np.asarray(self.positions[2])

    @property
    def tried(self) -> Counts:
        return np.asarray(self.positions[3])

    def __add__(self, other: "Sums") -> "Sums":
        """Both together; neither changes."""
        both = Sums(self.k)
        for one in (self, other):
            for name in ("drafts", "draft_tokens", "accepted_tokens", "empty", "requests"):
                setattr(both, name, getattr(both, name) + getattr(one, name))
            both.length_sum += one.length_sum
            both.positions += one.positions
        return both

    def add_steps(self, drafted: Counts, accepted: Counts) -> None:
        """Add the steps of one request that are in this slice."""
        self.drafts += len(drafted)
        self.draft_tokens += int(drafted.sum())
        total = int(accepted.sum())
        self.accepted_tokens += total
        self.empty += int(np.count_nonzero(accepted == 0))
        self.requests += 1
        self.length_sum += 1 + total / len(drafted)
        self.longer[:] += _at_least(accepted, self.k + 1)[1:]
        self.tried[:] += _at_least(np.minimum(drafted, accepted + 1), self.k + 1)[1:]

    def add_positions(self, position: Counts, accepted: npt.NDArray[np.bool_]) -> None:
        """Add reached positions that are in this slice."""
        self.reached[:] += np.bincount(position, minlength=self.k)
        self.accepted[:] += np.bincount(position[accepted], minlength=self.k)


class ProfileSums:
    """Sums by slice and session, filled response by response."""

    def __init__(self, k: int) -> None:
        """`k`: num_speculative_tokens; no draft may be longer."""
        self.k = k
        self._sessions: dict[str, dict[Slice, Sums]] = {}

    def add(self, session: str, positions: DraftPositions, steps: Steps) -> None:
        """Add one aligned response."""
        if not len(positions):
            return
        reached = positions.reached
        first = positions.position == 0
        place = positions.position[reached].astype(np.int64)
        hit = positions.accepted[reached]
        drafted, accepted = (
            column[positions.step[first]].astype(np.int64)
            for column in (steps.drafted, steps.accepted)
        )
        of_session = self._sessions.setdefault(session, {})
        for dimension, codes, names in _slicings(positions):
            at_step, at_position = codes[first], codes[reached]
            for code in np.unique(at_position[at_position >= 0]).tolist():
                key = _slice(dimension, names(code))
                sums = of_session.get(key) or of_session.setdefault(key, Sums(self.k))
                mine = at_position == code
                sums.add_positions(place[mine], hit[mine])
                mine = at_step == code
                if mine.any():
                    sums.add_steps(drafted[mine], accepted[mine])

    def slices(self) -> Iterator[tuple[Slice, Sequence[Sums]]]:
        """Every slice with the sums of its sessions, dimensions in their order."""
        for key, sessions in self.by_session().items():
            yield key, list(sessions.values())

    def by_session(self) -> dict[Slice, dict[str, Sums]]:
        """Every slice with the sums of its sessions by name, dimensions in their order."""
        found: dict[Slice, dict[str, Sums]] = {}
        for session in sorted(self._sessions):
            for key, sums in self._sessions[session].items():
                found.setdefault(key, {})[session] = sums
        order = {name: place for place, name in enumerate(DIMENSIONS)}
        keys = sorted(found, key=lambda key: (order[key[0]], key[1]))
        return {key: found[key] for key in keys}

    def __add__(self, other: "ProfileSums") -> "ProfileSums":
        """The sums of other sessions beside these. Raises ValueError where a session is in both,
        or the longest draft is not the same."""
        if self.k != other.k:
            raise ValueError(f"sums of drafts of {self.k} and of {other.k} tokens")
        if twice := self._sessions.keys() & other._sessions.keys():
            raise ValueError(f"sums of a session that is known already: {min(twice)}")
        whole = ProfileSums(self.k)
        whole._sessions = {**self._sessions, **other._sessions}
        return whole


@lru_cache(maxsize=1 << 12)
def _slice(dimension: str, name: str) -> Slice:
    """One object for each slice, which thousands of sessions hold."""
    return dimension, name


def _at_least(values: Counts, count: int) -> Counts:
    """How many of the values are at least 0, 1 … `count` - 1."""
    counted = np.bincount(values, minlength=count)[::-1].cumsum()[::-1]
    return np.asarray(counted[:count], np.int64)


def _slicings(positions: DraftPositions) -> Iterator[tuple[str, npt.NDArray[Any], Any]]:
    """Per dimension: a code for every position, and what turns a code into the slice's name."""
    zero = np.zeros(len(positions), np.int8)
    label, band = positions.label.astype(np.int64), positions.band.astype(np.int64)
    crossing = positions.crossed_from.astype(np.int64) * 100 + label
    yield "all", zero, lambda code: "all"
    yield "boundary", label, lambda code: LABELS[code]
    yield "crossing", crossing, lambda code: crossing_name(*divmod(code, 100))
    yield "distance", positions.distance, lambda code: DISTANCES[code]
    yield "context", band, lambda code: BANDS[code]
    if positions.template is not None:
        yield "template", zero, lambda code: positions.template
    yield "tool", positions.tool, lambda code: positions.tools[code]
    if positions.cached is not None:
        yield "cached", zero, lambda code: "cached" if positions.cached else "not cached"
    both = band * 100 + label
    yield (
        "boundary_context",
        both,
        lambda code: f"{LABELS[code % 100]} | {BANDS[code // 100]}",
    )
