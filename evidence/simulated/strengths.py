"""Faults that only a count shows, at three strengths: how much is read until the gate says so.

    python -m evidence.simulated.strengths

Wrong greedy tokens and regrets above the soft bound, in simulated runs that grow until half of them
are caught. Each is compared with what the formula that judges it predicts of
counts at their expected values.
"""

import argparse
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from checks.greedy.bounds import LADDER, RATE
from checks.greedy.judge import judge_measured
from checks.greedy.levels import MAIN_LEVELS
from checks.greedy.noise import SOFT_FLOOR
from checks.greedy.rate import EXCEEDANCE_SESSIONS, tolerated_p
from checks.greedy.rate_table import RateTable
from checks.policy import Policy
from evidence.markdown import table
from evidence.simulated.noise_runs import NoiseModel, RunSize, simulate

QUIET = NoiseModel(0.05)
TOKENS = 84
"""Tokens of a turn, as in `evidence.simulated.noise_runs`."""
TURNS = 4
POLICY = Policy(rate_margin=3e-4, noise_tails="light")
GROWTH = 1.2
HEAD = ("fault", "strength", "until half are caught", "predicted")

Caught = Callable[[int, int], bool]
"""(size, seed) -> whether a run of that size is caught."""


def half_caught(caught: Caught, first: int, runs: int) -> int:
    """Smallest size, in steps of 20%, at which at least half of the runs are caught."""
    size = first
    while sum(caught(size, seed) for seed in range(runs)) * 2 < runs:
        size = int(size * GROWTH) + 1
    return size


def spoiled(bound: str, rate: float, regret: float) -> Caught:
    """Runs of so many sessions whose tokens cost `regret` nat more at `rate`; is `bound` broken?"""

    def caught(sessions: int, seed: int) -> bool:
        rng = np.random.default_rng(seed)
        turns, measured = simulate(QUIET, RunSize(sessions, TURNS, TOKENS), rng, streams=-1.0)
        # The baseline would not repeat a wrong token, so it is not asked.
        turns = [replace(turn, own_tokens={}) for turn in turns]
        for place, regrets in enumerate(measured):
            parts = [
                replace(p, values=p.values + regret * (rng.random(len(p)) < rate))
                for p in regrets.candidate
            ]
            measured[place] = replace(regrets, candidate=tuple(parts))
        judged = judge_measured(turns, measured, POLICY, seed)
        return any(b.name == bound and b.state == "fail" for b in judged.bounds)

    return caught


def wrong_tokens(rates: Sequence[float], runs: int) -> list[tuple[object, ...]]:
    """Tokens 2 nat less likely: one is enough, so ``ln 2 / rate`` tokens in the median."""
    found: list[tuple[object, ...]] = []
    for rate in rates:
        sessions = half_caught(spoiled(LADDER, rate, 2.0), 2, runs)
        read, need = sessions * TURNS * TOKENS, np.log(2) / rate
        found.append(
            ("wrong greedy token", f"{rate:g} per token", f"{read:,} tokens", f"{need:,.0f} tokens")
        )
    return found


def rate_need(rate: float, noise: float) -> float:
    """Tokens at which exceedances as expected break the bound: the candidate's at `rate`, the
    baseline's at `noise`, as many tokens read of each, and no clustering.
    """
    tokens, limit = 100.0, MAIN_LEVELS.rate / 2
    while True:
        read = np.full((1, 1), tokens)
        counts = RateTable(read * rate, read, read * noise, read)
        enough = rate * tokens >= EXCEEDANCE_SESSIONS
        if enough and tolerated_p(counts, 1.0) <= limit:
            return tokens
        tokens *= 1.02


def scaled_noise() -> float:
    """How often the baseline's own regret exceeds half of the soft bound, as the bound asks."""
    _, measured = simulate(QUIET, RunSize(400, TURNS, TOKENS), np.random.default_rng(0))
    values = np.concatenate([part.values for turn in measured for part in turn.noise])
    return float((values > SOFT_FLOOR / POLICY.noise_scale).mean())


def soft_regrets(rates: Sequence[float], runs: int) -> list[tuple[object, ...]]:
    """Tokens 0.5 nat less likely, above the soft bound and below the hard one."""
    found: list[tuple[object, ...]] = []
    noise = scaled_noise()
    for rate in rates:
        sessions = half_caught(spoiled(RATE, rate, 0.5), 3, runs)
        read, need = sessions * TURNS * TOKENS, rate_need(rate, noise)
        found.append(
            ("regret of 0.5 nat", f"{rate:g} per token", f"{read:,} tokens", f"{need:,.0f} tokens")
        )
    return found


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--runs", type=int, default=40, help="runs of each size")
    runs = parser.parse_args().runs
    rows = [
        *wrong_tokens((1e-3, 3e-4, 1e-4), runs),
        *soft_regrets((1e-2, 3e-3, 1e-3), runs),
    ]
    print(table(HEAD, rows))


if __name__ == "__main__":
    main()
