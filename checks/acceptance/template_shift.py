"""What a changed prompt template does to acceptance: the same turns, profiled in two arms.

Sessions are paired, so an interval of the difference is that of the change and not of the traffic.

    Δ length = length(changed) - length(main)        Δ c_i, Δ drift likewise
    share    = accepted per draft(changed) / accepted per draft(main)      0.5: half is lost

The target answers a changed prompt otherwise too, so a small shift may be its text and not the
drafter; a drafter that does not know the template loses half and more.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np

from checks.acceptance.profile import MIN_COUNT, drift
from checks.acceptance.profile_sums import ProfileSums, Slice, Sums
from checks.stats.session_interval import (
    Change,
    Estimate,
    Matrix,
    change_of,
    clustered,
    not_available,
)

COMPARED = ("all", "boundary", "context")
LEVEL = 0.05


@dataclass(frozen=True, slots=True)
class Shift:
    """The change of one slice's profile; every estimate is a difference, changed minus main.

    `main` and `changed` are the acceptance lengths, `None` where there were too few drafts.
    """

    dimension: str
    slice: str
    main: float | None
    changed: float | None
    length: Estimate
    share: Estimate
    conditional: tuple[Estimate, ...]
    drift: Estimate

    @property
    def change(self) -> Change | None:
        """Where the whole interval of the length lies; `None` without one."""
        return change_of(self.length)


def compare_templates(main: ProfileSums, changed: ProfileSums, *, seed: int = 0) -> list[Shift]:
    """One shift per slice that both arms have; sessions that only one arm replayed do not count.

    The slices of a dimension share one 5% chance of a wrong `change` (Bonferroni). Raises
    ValueError where the arms drafted with another number of tokens.
    """
    if main.k != changed.k:
        raise ValueError(f"{main.k} draft tokens in one arm, {changed.k} in the other")
    before, after = main.by_session(), changed.by_session()
    both = [key for key in before if key[0] in COMPARED and key in after]
    alike = {key: sum(key[0] == other[0] for other in both) for key in both}
    return [
        _shift(key, before[key], after[key], main.k, 1 - LEVEL / alike[key], seed) for key in both
    ]


def _shift(
    key: Slice,
    before: dict[str, Sums],
    after: dict[str, Sums],
    k: int,
    level: float,
    seed: int,
) -> Shift:
    shared = [session for session in before if session in after]
    sums = np.array([_row(before[s]) + _row(after[s]) for s in shared], float).reshape(
        len(shared), 2 * (2 + 2 * k)
    )
    totals = sums.sum(axis=0)
    half = 2 + 2 * k

    def change(statistic: str, position: int, seen: Sequence[float]) -> Estimate:
        count = int(min(seen))
        if count < MIN_COUNT:
            return not_available(count, len(shared))

        def difference(rows: Matrix) -> Matrix:
            here, there = (_value(statistic, part, position, k) for part in np.hsplit(rows, 2))
            return np.asarray(there / here if statistic == "share" else there - here)

        possible = {"length": (-k, k), "share": (0, np.inf), "conditional": (-1, 1)}
        within = possible.get(statistic, (-np.inf, np.inf))
        return clustered(difference, sums, count, seed=seed, level=level, within=within)

    drafts = (totals[0], totals[half])
    reached = [(totals[2 + k + i], totals[half + 2 + k + i]) for i in range(k)]
    deep = reached[1] if k > 1 else (0.0, 0.0)
    enough = min(drafts) >= MIN_COUNT
    return Shift(
        *key,
        1 + totals[1] / totals[0] if enough else None,
        1 + totals[half + 1] / totals[half] if enough else None,
        change("length", 0, drafts),
        change("share", 0, drafts),
        tuple(change("conditional", i, reached[i]) for i in range(k)),
        change("drift", 0, deep),
    )


def _row(sums: Sums) -> list[float]:
    """Drafts, accepted tokens, accepted by position, reached by position."""
    return [*chain((sums.drafts, sums.accepted_tokens), sums.accepted, sums.reached)]


def _value(statistic: str, rows: Matrix, position: int, k: int) -> Matrix:
    match statistic:
        case "conditional":
            return np.asarray(rows[:, 2 + position] / rows[:, 2 + k + position])
        case "drift":
            return drift(rows[:, 2:])
    return np.asarray(rows[:, 1] / rows[:, 0])
