"""Acceptance against a reference run: does the interval cover, do sound runs fail, is a loss seen?

    python -m evidence.simulated.acceptance_sizes --runs 1000

Sessions differ: each has an acceptance rate of its own (beta distributed) and a size of its own
(log-normal), which gives the drafts of a session a design effect near 30, as profiles of real runs
show. A run is compared with a reference with other sessions of the same traffic, or with the same.
"""

import argparse
from collections import Counter
from collections.abc import Sequence

import numpy as np

from checks.acceptance.loss import losses
from checks.acceptance.profile_row import ProfileRow, SessionCounts
from checks.acceptance.reference import compare_with_reference
from checks.findings import Finding
from checks.policy import Policy
from evidence.markdown import table

LABELS = ("prose", "code", "tool.string", "diff.add", "reasoning", "shell.command")
RATE, CONCENTRATION, DRAFTS = 0.55, 8.0, 300
"""Mean acceptance of the first position, how alike sessions are (beta), drafts of a session."""
DEPTH = 3


def traffic(rng: np.random.Generator, sessions: int) -> tuple[np.ndarray, np.ndarray]:
    """Rate of every session and label [sessions, labels], and its drafts."""
    own = rng.beta(RATE * CONCENTRATION, (1 - RATE) * CONCENTRATION, (sessions, 1))
    rates = np.clip(own + rng.normal(0.0, 0.08, (sessions, len(LABELS))), 0.02, 0.98)
    size = rng.lognormal(np.log(DRAFTS / len(LABELS)), 0.8, (sessions, 1))
    return rates, np.maximum(size * rng.dirichlet(np.full(len(LABELS), 2.0), sessions), 1 / 6) * 6


def profile(
    rng: np.random.Generator, rates: np.ndarray, sizes: np.ndarray, first: int, kept: float
) -> list[ProfileRow]:
    """A run over this traffic with `kept` of its acceptance; sessions are named from `first` on."""
    rows = []
    for column, label in enumerate(LABELS):
        sessions = []
        for place, (rate, size) in enumerate(zip(rates[:, column], sizes[:, column], strict=True)):
            left, accepted = int(size), []
            for _ in range(DEPTH):
                left = int(rng.binomial(left, rate * kept))
                accepted.append(left)
            sessions.append(
                (
                    f"{first + place:05}",
                    SessionCounts(int(size), tuple(accepted), (int(size), *accepted[:-1])),
                )
            )
        total = [sum(counts.accepted[i] for _, counts in sessions) for i in range(DEPTH)]
        drafts = sum(counts.drafts for _, counts in sessions)
        rows.append(
            ProfileRow(label, "0-8k", drafts, drafts * DEPTH, tuple(total), sum(total),
                       sessions=tuple(sessions))
        )  # fmt: skip
    return rows


def true_loss(kept: float) -> float:
    """What is lost of all accepted tokens, by much traffic without chance."""
    rates, sizes = traffic(np.random.default_rng(0), 20_000)

    def accepted(share: float) -> float:
        each = rates * share
        return float((sizes * (each + each**2 + each**3)).sum())

    return 1 - accepted(kept) / accepted(1.0)


def pair_of_runs(
    seed: Sequence[int], sessions: int, kept: float, same: bool
) -> tuple[list[ProfileRow], list[ProfileRow]]:
    """(run, reference)."""
    rng = np.random.default_rng(seed)
    rates, sizes = traffic(rng, sessions)
    reference = profile(rng, rates, sizes, 0, 1.0)
    if not same:
        rates, sizes = traffic(rng, sessions)
    return profile(rng, rates, sizes, 0 if same else sessions, kept), reference


CASES = [
    (kept, same, sessions)
    for kept, same in ((1.0, False), (1.0, True), (0.85, False), (0.85, True), (0.7, False))
    for sessions in (10, 26, 52, 104)
]


def row(kept: float, same: bool, sessions: int, runs: int, seed: int) -> tuple[object, ...]:
    """Coverage of the row over all boundaries, what it decides, and whether any code fires."""
    margin = Policy().acceptance_loss_margin
    real, covered, older, words = true_loss(kept), 0, 0, Counter[str]()
    any_lost = 0
    for place in range(runs):
        run, reference = pair_of_runs((seed, place), sessions, kept, same)
        found = losses(run, reference, margin)
        whole = found[0]
        covered += whole.low is not None and whole.low <= real <= (whole.high or 0.0)
        words[whole.decision] += 1
        any_lost += any(one.decision == "lost" for one in found)
        older += any(isinstance(one, Finding) for one in compare_with_reference(run, reference))
    return (
        f"{real:.0%}",
        "the same" if same else "others",
        sessions,
        runs,
        f"{covered / runs:.1%}",
        words["lost"],
        any_lost,
        words["not decided"],
        words["kept"],
        older,
    )


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--runs", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    head = ("true loss", "sessions of the reference", "sessions", "runs", "interval covers",
            "lost", "any row lost", "not decided", "kept", "other codes")  # fmt: skip
    print(table(head, [row(*case, given.runs, given.seed) for case in CASES]))


if __name__ == "__main__":
    main()
