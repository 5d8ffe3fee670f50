"""All tests that can fail a run, on at once: how often does a sound run fail, and a faulty one?

    python -m evidence.simulated.budget --runs 1000 --seed 1           # sound runs, 14,400 tokens
    python -m evidence.simulated.budget --runs 200 --seed 1 --planned  # of a size that passes
    python -m evidence.simulated.budget --runs 20 --faults             # faulty candidates

A run is that of `evidence.simulated.whole_runs`. Criterion: no more fails of sound runs than the
99% quantile of ``Binomial(runs, 1%)``, 1% being the whole budget (`checks.alpha`); 18 of 1,000.

The planned size is found by pilots of their own, which judge the rate of large regrets alone.
"""

import argparse
import math
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

import numpy as np
from scipy import stats

from checks.alpha import TOTAL
from checks.greedy.judge import floor_of
from checks.greedy.ladder import RUNGS, climb
from checks.greedy.levels import MAIN_LEVELS
from checks.greedy.rate import judge_rate
from checks.sampled.turn import ScoredTurn
from evidence.markdown import table
from evidence.simulated.noise_runs import RunSize, simulate
from evidence.simulated.sampled_sizes import pool
from evidence.simulated.whole_runs import CASES, SIZE, Case, Edit, judge, policy_of, sound, worse

POOL = 2
"""Sessions of sampled turns that runs draw from, in multiples of those of a run."""
PILOTS = 50
SESSIONS = (24, 48, 96, 144, 192, 288, 384, 576, 768)
PLANNED_SHARE = 0.9
"""More than the 80% wanted of whole runs, for other bounds leave some open too."""
TOKENS = SIZE.turns * SIZE.tokens
"""Greedy tokens of a session."""


def most_allowed(runs: int) -> int:
    """The 99% quantile of false fails, were the budget spent in full."""
    return int(stats.binom.ppf(0.99, runs, TOTAL))


FAULTS: tuple[tuple[str, Edit], ...] = (
    ("0.5 nat, 1 token in 1,000", worse(1e-3, 0.5)),
    ("0.5 nat, 1 token in 500", worse(2e-3, 0.5)),
    ("0.5 nat, 1 token in 200", worse(5e-3, 0.5)),
    ("2.5 nat, 1 token in 5,000", worse(2e-4, 2.5)),
    ("2.5 nat, 1 token in 2,000", worse(5e-4, 2.5)),
    ("2.5 nat, 1 token in 1,000", worse(1e-3, 2.5)),
    ("2.5 nat, 1 token in 1,000 of a fourth of the sessions", worse(1e-3, 2.5, 0.25)),
    ("2.5 nat, 1 token in 200 of a fourth of the sessions", worse(5e-3, 2.5, 0.25)),
)
POWERED = ("dense, twice", "dense, twice, not known", "Pareto 3, twice, not known")


def powered() -> Iterator[Case]:
    """The cases that faults are planted in."""
    dense = next(case for case in CASES if case.name == "dense, twice")
    known = {case.name: case for case in (*CASES, replace(dense, name=POWERED[1], tails="auto"))}
    return (known[name] for name in POWERED)


def row(
    case: Case,
    drawn: Sequence[ScoredTurn],
    runs: Iterable[int],
    seed: int,
    edit: Edit = sound,
    sessions: int = SIZE.sessions,
) -> tuple[object, ...]:
    """How often each word, what failed, and what kept runs open; sampled turns are `drawn` from."""
    found = [judge(case, drawn, (seed, place), edit, sessions) for place in runs]
    words = Counter(one.word for one in found)
    failed = Counter(name for one in found for name in one.failed)
    left = Counter(name for one in found if not one.failed for name in one.open)
    return (
        len(found),
        words["fail"],
        words["inconclusive"],
        words["pass"],
        _most(failed),
        _most(left),
    )


def _most(named: Counter[str]) -> str:
    return ", ".join(f"{name} {count}" for name, count in named.most_common(4)) or "none"


def sampled_pool(case: Case, seed: int, sessions: int = SIZE.sessions) -> list[ScoredTurn]:
    """Sampled turns under the case's rounding, for runs of so many sessions."""
    return pool(case.sampled, case.greedy.verify, seed, POOL * sessions)


def planned(case: Case, seed: int) -> int | None:
    """The first of `SESSIONS` at which `PLANNED_SHARE` of pilot runs pass the bound on rates;
    `None` where no number of them suffices: the candidate's excess lies too near the margin."""
    for sessions in SESSIONS:
        passed = 0
        for place in range(PILOTS):
            rng = np.random.default_rng((seed, 7, sessions, place))
            _, measured = simulate(case.greedy, replace(SIZE, sessions=sessions), rng, math.inf)
            policy = policy_of(case)
            floor = floor_of(measured, policy, place)
            rate = judge_rate(measured, floor.noise, floor.halves, policy, place, MAIN_LEVELS.rate)
            passed += rate.state == "pass"
        if passed >= PLANNED_SHARE * PILOTS:
            return sessions
    return None


def needs(case: Case, runs: int, seed: int) -> list[tuple[object, ...]]:
    """How many tokens above each rung would have failed a sound run: the median, by shape."""
    policy = policy_of(case)
    found: dict[str, dict[float, list[float]]] = {}
    for place in range(runs):
        _, measured = simulate(case.greedy, LARGE, np.random.default_rng((seed, place)))
        for rung in climb(measured, policy, MAIN_LEVELS.ladder).rungs:
            seen = found.setdefault(rung.shape, {}).setdefault(rung.threshold, [])
            seen.append(np.inf if rung.needed is None else rung.needed)
    return [
        (f"{case.name} ({case.tails})", shape, *(f"{np.median(each):g}" for each in rungs.values()))
        for shape, rungs in found.items()
    ]


LARGE = RunSize(24, 10, 84)
"""20,160 tokens, as in `evidence.simulated.tables`."""

HEAD = ("runs", "fail", "inconclusive", "pass", "failed by", "open by")


def _faults(cases: Iterable[Case], runs: int, seed: int) -> None:
    for case in cases:
        drawn = sampled_pool(case, seed)
        rows = [(n, *row(case, drawn, range(runs), seed, edit)) for n, edit in FAULTS]
        print(f"\n{case.name}\n\n" + table(("fault", *HEAD), rows), flush=True)


def _sound(cases: Iterable[Case], runs: int, seed: int, as_planned: bool) -> None:
    rows = []
    for case in cases:
        sessions = planned(case, seed) if as_planned else SIZE.sessions
        tokens = "n/a" if sessions is None else f"{sessions * TOKENS:,}"
        name = (f"{case.name} ({case.tails})", sessions or "n/a", tokens)
        found: tuple[object, ...] = ("n/a",) * len(HEAD)
        if sessions is not None:
            drawn = sampled_pool(case, seed, sessions)
            found = row(case, drawn, range(runs), seed, sessions=sessions)
        rows.append((*name, *found))
        print(*rows[-1], sep=" | ", flush=True)
    print("\n" + table(("sound; rounding (policy)", "sessions", "greedy tokens", *HEAD), rows))
    print(f"\nallowed: {most_allowed(runs)} of {runs}")


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--runs", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--case", nargs="+", choices=[case.name for case in CASES])
    parser.add_argument("--planned", action="store_true", help="of a size at which most pass")
    parser.add_argument("--faults", action="store_true", help="faulty candidates")
    parser.add_argument("--needs", action="store_true", help="tokens that break each rung")
    given = parser.parse_args()
    cases = [case for case in CASES if not given.case or case.name in given.case]
    if given.needs:
        rows = [line for case in cases for line in needs(case, given.runs, given.seed)]
        print(table(("rounding (policy)", "shape", *(f"{x:g} nat" for x in RUNGS)), rows))
    elif given.faults:
        _faults(powered(), given.runs, given.seed)
    else:
        _sound(cases, given.runs, given.seed, given.planned)


if __name__ == "__main__":
    main()
