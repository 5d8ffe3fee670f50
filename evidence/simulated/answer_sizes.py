"""Rates of answers of known distribution: how often does ANSWERS_SHIFTED fire, sound and shifted?

    python -m evidence.simulated.answer_sizes --runs 1000 --seed 1

A session has 4 to 16 turns. How often its answers call a tool, end at a limit or stay empty, and
how long they are, is drawn for it; each turn is one draw of these on either path. Only turns that
fork are compared, or all of them where all are sampled. A shift changes the candidate's draws.

Criterion: of sound runs no more fire than the 99% quantile of ``Binomial(runs, level)``.
"""

import argparse
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt
from scipy import special, stats

from checks.calls.answer_rates import QUANTITIES, RATES_LEVEL, TurnRates, judge_rates
from evidence.markdown import table

Array = npt.NDArray[np.float64]

TURNS = tuple(range(4, 17))
"""Turns of a session: one of these."""
MEANS = {"calls": 0.5, "cut": 0.1, "empty": 0.05}
SPREAD = 6
"""Sum of the beta distribution's parameters: turns of a session correlate by 1 / 7."""
LENGTH, LENGTHS, WITHIN = 80, 0.5, 0.6
"""Median tokens of an answer; standard deviation of the log between sessions, and inside one."""


@dataclass(frozen=True, slots=True)
class Traffic:
    """A run's turns. `compared` is the share of turns that the rates are about. `pull` moves both
    paths apart in every session, one up and one down by the toss of a coin: in standard deviations
    of a normal score. `tail` is the Pareto index of lengths, `None`: lognormal. With `one_seed` all
    turns draw the same numbers. `shift` is what the candidate's rates are changed by: points of
    turns, or a share of the tokens."""

    sessions: int = 24
    compared: float = 1.0
    equal: bool = False
    pull: float = 0.0
    tail: float | None = None
    one_seed: bool = False
    shift: Mapping[str, float] = field(default_factory=dict)


def run_of(rng: np.random.Generator, traffic: Traffic) -> list[TurnRates]:
    """The turns of one run that are compared by rates."""
    same = rng.random((2, len(QUANTITIES)))
    found = []
    for place in range(traffic.sessions):
        turns = int(rng.choice(TURNS))
        drawn = rng.random((turns, 2, len(QUANTITIES)))
        if traffic.equal:
            drawn[:, 1] = drawn[:, 0]
        if traffic.one_seed:
            drawn[:] = same
        apart = traffic.pull * rng.choice([-1.0, 1.0])
        scores = special.ndtri(drawn) + apart * np.array([[0.5], [-0.5]])
        values = _answers(rng, special.ndtr(scores), traffic)
        seed = 1 if traffic.one_seed else None
        for turn in np.flatnonzero(rng.random(turns) < traffic.compared):
            pairs = tuple((float(b), float(c)) for b, c in values[turn].T)
            found.append(TurnRates(f"s{place}", pairs, seed))
    return found


def _answers(rng: np.random.Generator, drawn: Array, traffic: Traffic) -> Array:
    """What the answers of a session hold: [turns, paths, quantities], as `drawn`, in (0, 1)."""
    values = np.empty_like(drawn)
    long = LENGTH * rng.lognormal(0, LENGTHS)
    for place, name in enumerate(QUANTITIES):
        shift = traffic.shift.get(name, 0.0)
        if name == "tokens":
            heavy = traffic.tail
            shape = (
                np.exp(WITHIN * special.ndtri(drawn[..., place]))
                if heavy is None
                else (1 - drawn[..., place]) ** (-1 / heavy)
            )
            values[..., place] = np.ceil(long * shape * np.array([1.0, 1.0 + shift]))
        else:
            mean = MEANS[name]
            own = rng.beta(mean * SPREAD, (1 - mean) * SPREAD)
            # On average over sessions this moves the rate by exactly `shift`.
            other = own + shift * ((1 - own) / (1 - mean) if shift > 0 else own / mean)
            values[..., place] = drawn[..., place] < np.array([own, other])
    return values


SOUND: tuple[tuple[str, Traffic], ...] = (
    ("equal answers", Traffic(equal=True)),
    ("forks in 10% of turns", Traffic(compared=0.1)),
    ("forks in 10% of turns", Traffic(156, compared=0.1)),
    ("forks in 30% of turns", Traffic(compared=0.3)),
    ("forks in 30% of turns", Traffic(156, compared=0.3)),
    ("sampled", Traffic()),
    ("sampled", Traffic(156)),
    ("sampled, clustered in sessions", Traffic(pull=1.0)),
    ("sampled, clustered in sessions", Traffic(156, pull=1.0)),
    ("sampled, lengths with a Pareto tail of 1.5", Traffic(tail=1.5)),
    ("sampled, lengths with a Pareto tail of 1.1, clustered", Traffic(tail=1.1, pull=1.0)),
    ("sampled, one seed for all turns", Traffic(one_seed=True)),
)
AT_MARGIN: tuple[tuple[str, Traffic], ...] = (
    ("2 points more calls", Traffic(shift={"calls": 0.02})),
    ("2 points more calls", Traffic(156, shift={"calls": 0.02})),
    ("5% more tokens", Traffic(156, shift={"tokens": 0.05})),
    ("2 points more cut, and empty", Traffic(156, shift={"cut": 0.02, "empty": 0.02})),
    ("5% more tokens, clustered", Traffic(156, pull=1.0, shift={"tokens": 0.05})),
)
SHIFTS: tuple[tuple[str, str, tuple[float, float, float]], ...] = (
    ("more calls", "calls", (0.05, 0.1, 0.2)),
    ("fewer calls", "calls", (-0.05, -0.1, -0.2)),
    ("longer answers", "tokens", (0.1, 0.25, 0.5)),
    ("shorter answers", "tokens", (-0.1, -0.25, -0.4)),
    ("more ends at a limit", "cut", (0.05, 0.1, 0.2)),
    ("more empty answers", "empty", (0.05, 0.1, 0.2)),
)
SIZES = (24, 156)


def most_allowed(runs: int) -> int:
    """The 99% quantile of fires of sound runs, were the level spent in full."""
    return int(stats.binom.ppf(0.99, runs, RATES_LEVEL))


def fires(traffic: Traffic, runs: int, seed: int) -> tuple[int, int]:
    """(runs that were judged, runs that fired)."""
    judged = fired = 0
    for run in range(runs):
        found = judge_rates(run_of(np.random.default_rng((seed, run)), traffic), run)
        judged += bool(found.differences)
        fired += bool(found.findings)
    return judged, fired


def sound(
    cases: Iterable[tuple[str, Traffic]], runs: int, seed: int
) -> Iterable[tuple[object, ...]]:
    """How often runs fire that have no more of a difference than is allowed."""
    for name, traffic in cases:
        yield name, traffic.sessions, runs, *fires(traffic, runs, seed), most_allowed(runs)


def powers(runs: int, seed: int) -> Iterable[tuple[object, ...]]:
    """Share of runs of each size that fire, by what was shifted and how far."""
    for what, name, strengths in SHIFTS:
        for strength in strengths:
            traffic = Traffic(shift={name: strength})
            shares = [fires(replace(traffic, sessions=n), runs, seed)[1] / runs for n in SIZES]
            by = f"{abs(strength):.0%}" if name == "tokens" else f"{abs(strength):.0%} of turns"
            yield what, by, *(f"{share:.0%}" for share in shares)


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--runs", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    head = ("sound traffic", "sessions", "runs", "judged", "fired", "99% quantile")
    print(table(head, sound(SOUND, given.runs, given.seed)), end="\n\n")
    head = ("exactly the margin", *head[1:])
    print(table(head, sound(AT_MARGIN, given.runs // 4, given.seed)), end="\n\n")
    head = ("shifted", "by", *(f"{size} sessions" for size in SIZES))
    print(table(head, powers(given.runs // 4, given.seed)))


if __name__ == "__main__":
    main()
