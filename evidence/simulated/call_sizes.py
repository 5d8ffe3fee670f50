"""Calls that change at known rates: how often is it noticed, and how often does a run fail?

    python -m evidence.simulated.call_sizes --runs 1000

A session has 4 to 16 turns with calls. How easily its calls change is drawn for it, from a beta
distribution with the mean of the run, so that turns of a session resemble each other. A fault
changes the calls of further turns.
"""

import argparse
from collections import Counter

import numpy as np

from checks.calls.agreement import Change
from checks.calls.call_agreement import TurnChange, judge_agreement, sessions_for
from checks.policy import Policy
from evidence.markdown import table

CALLS = tuple(range(4, 17))
"""Turns with calls of a session: one of these."""
SPREAD = 20
"""Sum of the beta distribution's parameters: turns of a session correlate by 1 / 21."""


def run_of(
    rng: np.random.Generator, sessions: int, noise: float, planted: float
) -> list[TurnChange]:
    """One run: both the candidate and the repeat change calls at the rate `noise`, the candidate
    in a share `planted` of the turns besides."""
    found = []
    for place in range(sessions):
        own = rng.beta(noise * SPREAD, (1 - noise) * SPREAD) if noise else 0.0
        for turn in range(int(rng.choice(CALLS))):
            candidate = rng.random() < own or rng.random() < planted
            words: list[Change] = [
                "consequential" if changed else "same"
                for changed in (candidate, rng.random() < own)
            ]
            found.append(TurnChange(f"s{place}", f"t{turn}", words[0], words[1], True))
    return found


CASES: tuple[tuple[str, int, float, float], ...] = (
    ("equal paths, nothing changes", 24, 0.0, 0.0),
    ("equal paths, 1% of turns change", 24, 0.01, 0.0),
    ("equal paths, 5% of turns change", 24, 0.05, 0.0),
    ("equal paths, 5% of turns change", 156, 0.05, 0.0),
    ("exactly the margin (5 points)", 24, 0.01, 0.05),
    ("exactly the margin (5 points)", 156, 0.01, 0.05),
    ("10 points", 24, 0.01, 0.1),
    ("10 points", 156, 0.01, 0.1),
    ("30 points", 24, 0.01, 0.3),
)


def verdicts(runs: int, seed: int) -> list[tuple[object, ...]]:
    """How often each word, by case; *noticed* counts runs with any finding. Of planted changes, and
    of long runs, a quarter as many runs."""
    found = []
    for name, sessions, noise, planted in CASES:
        counts: Counter[str] = Counter()
        count = runs // 4 if planted or sessions > 100 else runs
        for run in range(count):
            rng = np.random.default_rng((seed, run))
            judged = judge_agreement(run_of(rng, sessions, noise, planted), Policy(), run)
            counts[judged.bound.state] += 1
            counts["noticed"] += bool(judged.findings)
        words = (counts[word] for word in ("noticed", "fail", "inconclusive", "pass"))
        found.append((name, sessions, count, *words))
    return found


def notices(sessions: int, noise: float, planted: float, runs: int, seed: int) -> float:
    """Share of runs in which planted changes are noticed."""
    found = 0
    for run in range(runs):
        turns = run_of(np.random.default_rng((seed, run)), sessions, noise, planted)
        found += bool(judge_agreement(turns, Policy(), run).findings)
    return found / runs


def powers(runs: int, seed: int) -> list[tuple[object, ...]]:
    """Planted changes at the number of sessions predicted for 80%."""
    found = []
    for noise in (0.0, 0.01):
        for planted in (0.01, 0.03, 0.1):
            sessions = sessions_for(planted, noise, CALLS) or 0
            share = notices(sessions, noise, planted, runs, seed)
            found.append((f"{planted:.0%}", f"{noise:.0%}", sessions, f"{share:.1%}"))
    return found


def main() -> None:
    """Print both tables."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--runs", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    head = ("calls", "sessions", "runs", "noticed", "fail", "inconclusive", "pass")
    print(table(head, verdicts(arguments.runs, arguments.seed)))
    print()
    head = ("turns changed", "changed by either path", "sessions predicted for 80%", "noticed")
    print(table(head, powers(arguments.runs // 4, arguments.seed)))


if __name__ == "__main__":
    main()
