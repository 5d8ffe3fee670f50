"""Tool calls lost at known rates: how often does `tool_success` fail, pass, or stay open?

    python -m evidence.simulated.tool_sizes --runs 1000

Turns of a session share a fate: the baseline succeeds in a share of a session's turns that is drawn
from a beta distribution. A fault loses calls in any turn, or in all turns of some sessions.
"""

import argparse
from collections import Counter

import numpy as np

from checks.calls.behavior import PairedOutcome, judge_behavior
from checks.policy import Policy
from evidence.markdown import table

SESSIONS, TURNS = 24, 14


def outcomes(
    rng: np.random.Generator, sessions: int, lost: float, confined: float | None, flips: float
) -> list[PairedOutcome]:
    """One run: calls lost at the rate `lost` per turn, or all of them in a share `confined` of the
    sessions; forks change a share `flips` of the turns either way."""
    found = []
    for place in range(sessions):
        base = rng.random(TURNS) < rng.beta(18, 2)
        other = np.where(rng.random(TURNS) < flips, rng.random(TURNS) < base.mean(), base)
        hit = rng.random(TURNS) < lost
        if confined is not None:
            hit = np.full(TURNS, rng.random() < confined)
        other &= ~hit
        found += [
            PairedOutcome(f"s{place}", f"t{i}", bool(b), bool(c))
            for i, (b, c) in enumerate(zip(base, other, strict=True))
        ]
    return found


CASES: tuple[tuple[str, int, float, float | None, float], ...] = (
    ("nothing lost", 24, 0.0, None, 0.0),
    ("nothing lost, forks in 10% of turns", 24, 0.0, None, 0.1),
    ("nothing lost, forks in 30% of turns", 24, 0.0, None, 0.3),
    ("nothing lost, forks in 10% of turns", 156, 0.0, None, 0.1),
    ("exactly the margin (2 points)", 24, 0.0222, None, 0.05),
    ("exactly the margin (2 points)", 156, 0.0222, None, 0.05),
    ("exactly the margin, in 2.2% of sessions", 156, 0.0, 0.0222, 0.05),
    ("4 points, in 4.4% of sessions", 24, 0.0, 0.0444, 0.0),
    ("4 points, in 4.4% of sessions", 156, 0.0, 0.0444, 0.0),
    ("10 points", 24, 0.111, None, 0.05),
    ("10 points", 156, 0.111, None, 0.05),
)


def rows(runs: int, seed: int) -> list[tuple[object, ...]]:
    """How often each word, by case."""
    found = []
    for name, sessions, *rest in CASES:
        counts = Counter(
            judge_behavior(
                outcomes(np.random.default_rng((seed, run)), sessions, *rest), Policy(), run
            ).bound.state
            for run in range(runs)
        )
        found.append((name, sessions, runs, counts["fail"], counts["inconclusive"], counts["pass"]))
    return found


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--runs", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    head = ("calls", "sessions", "runs", "fail", "inconclusive", "pass")
    print(table(head, rows(arguments.runs, arguments.seed)))


if __name__ == "__main__":
    main()
