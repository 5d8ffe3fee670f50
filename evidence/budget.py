"""All tests that can fail a run, on at once: how often does a sound run fail, and a faulty one?

    python -m evidence.budget --runs 1000 --seed 1

A run has greedy turns (24 sessions of 2 turns of 300 tokens), a further arm with a fourth of its
size, sampled turns (24 sessions of 200 tokens), tool calls, an acceptance profile beside a
reference of the same sessions, and 6 slices. The distribution of its rounding is known, so a fail
of a sound candidate is a false alarm. Criterion: no more of them than the 99% quantile of
``Binomial(runs, 1%)``, 1% being the whole budget (`checks.alpha`); 18 of 1,000.
"""

import argparse
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy import stats

from checks import findings as codes
from checks.acceptance.loss import losses
from checks.acceptance.reference import compare_with_reference
from checks.alpha import TOTAL
from checks.bounds import Bound
from checks.calls.behavior import PairedOutcome, judge_behavior
from checks.findings import ERROR, Finding
from checks.greedy.judge import GreedyJudgement, conclude, floor_of, judge_measured, judge_one
from checks.greedy.ladder import RUNGS, climb
from checks.greedy.levels import MAIN_LEVELS, further_levels
from checks.greedy.turn import GreedyTurn, TurnRegrets
from checks.policy import Policy
from checks.sampled.judge import judge_scored
from checks.sampled.turn import ScoredTurn
from checks.slices.judge import judge_slices, slice_findings
from checks.slices.slices import Slice
from evidence.acceptance_sizes import pair_of_runs
from evidence.markdown import table
from evidence.noise_runs import NoiseModel, RunSize, simulate
from evidence.pool import EMPTY
from evidence.sampled_sizes import Rounding, pool
from evidence.tool_sizes import outcomes
from tests.support.synthetic_model import response_of
from traces.wire.response import Token, TopLogprob

MARGIN = 3e-4
SIZE = RunSize(24, 2, 300)
ARM = RunSize(6, 2, 300)
DIMENSIONS = {"template": 2, "tool": 2, "context": 2}
POOL = 48
"""Sessions of sampled turns that runs draw from."""

Greedy = tuple[list[GreedyTurn], list[TurnRegrets]]
Edit = Callable[[list[TurnRegrets], np.random.Generator], list[TurnRegrets]]


@dataclass(frozen=True, slots=True)
class Case:
    """Rounding of the greedy turns and of the sampled ones, both with the candidate's at `scale`
    times the baseline's; `tails` is what the policy says of it."""

    name: str
    tails: str
    greedy: NoiseModel
    sampled: Rounding


def _case(name: str, tails: str, times: float = 2.0, **kind: object) -> Case:
    """The same kind of rounding in both halves, the candidate's `times` the baseline's; `kind` are
    fields that both know."""
    laplace = bool(kind.pop("laplace", False))
    shared = {key: kind[key] for key in ("jumps", "scale", "tail", "spread") if key in kind}
    return Case(
        name,
        tails,
        replace(NoiseModel(0.05, verify=times, laplace=laplace), **shared),
        replace(Rounding(kind="laplace" if laplace else "normal"), **shared),
    )


FLIPS = {"jumps": 0.05, "scale": 0.5, "tail": None}
HEAVY_3 = {"jumps": 0.05, "scale": 0.2, "tail": 3.0}
HEAVY_25 = {"jumps": 0.05, "scale": 0.1, "tail": 2.5}

CASES = (
    _case("dense", "light", 1.0),
    _case("dense, twice", "light"),
    _case("Laplace, twice", "light", laplace=True),
    _case("dense, twice, clustered in sessions", "light", spread=0.8),
    _case("Pareto 3, twice", "heavy", **HEAVY_3),
    _case("Pareto 2.5, twice", "heavy", **HEAVY_25),
    _case("expert flips, twice", "heavy", **FLIPS),
    _case("Pareto 3, twice, not known", "auto", **HEAVY_3),
    _case("Pareto 2.5, twice, not known", "auto", **HEAVY_25),
    _case("expert flips, twice, not known", "auto", **FLIPS),
)


@dataclass(frozen=True, slots=True)
class Outcome:
    """`failed` names what failed the run, empty where nothing did; `open` whether it could pass."""

    failed: frozenset[str]
    open: bool

    @property
    def word(self) -> str:
        """``fail``, ``inconclusive`` or ``pass``."""
        return "fail" if self.failed else "inconclusive" if self.open else "pass"


def sound(measured: list[TurnRegrets], rng: np.random.Generator) -> list[TurnRegrets]:
    """No fault."""
    return measured


def worse(rate: float, regret: float, sessions: float = 1.0) -> Edit:
    """Tokens `regret` nat less likely at `rate`, in a share of the sessions."""

    def edit(measured: list[TurnRegrets], rng: np.random.Generator) -> list[TurnRegrets]:
        names = sorted({turn.session for turn in measured})
        hit = set(rng.choice(names, max(1, round(sessions * len(names))), replace=False).tolist())
        return [
            replace(
                turn,
                candidate=tuple(
                    replace(p, values=p.values + regret * (rng.random(len(p)) < rate))
                    for p in turn.candidate
                ),
            )
            if turn.session in hit
            else turn
            for turn in measured
        ]

    return edit


def simulated(model: NoiseModel, size: RunSize, rng: np.random.Generator, edit: Edit) -> Greedy:
    """Turns and regrets; of a faulty candidate the baseline repeats no wrong token."""
    turns, measured = simulate(model, size, rng)
    if edit is not sound:
        turns = [GreedyTurn(t.session, t.turn, STREAM, EMPTY) for t in turns]
    return turns, edit(measured, rng)


def greedy_parts(
    case: Case, policy: Policy, rng: np.random.Generator, edit: Edit, seed: int
) -> tuple[GreedyJudgement, GreedyJudgement, list[TurnRegrets]]:
    """(main arm, further arm, regrets of the main arm)."""
    turns, measured = simulated(case.greedy, SIZE, rng, edit)
    main = judge_measured(turns, measured, policy, seed)
    others, arm = simulated(case.greedy, ARM, rng, edit)
    floor = floor_of(arm, policy, seed, measured)
    results = [judge_one(t, m, floor.noise) for t, m in zip(others, arm, strict=True)]
    return main, conclude(results, floor, policy, seed, further_levels(1)), measured


def sliced(
    measured: Sequence[TurnRegrets], rng: np.random.Generator
) -> dict[Slice, frozenset[tuple[str, str]]]:
    """Every turn in one slice of each dimension; templates and tags belong to sessions."""
    found: dict[Slice, set[tuple[str, str]]] = {}
    for dimension, count in DIMENSIONS.items():
        drawn: dict[str, int] = {}
        for turn in measured:
            own = turn.session
            if dimension in ("tool", "context"):
                own = f"{turn.session}/{turn.turn}"
            place = drawn.setdefault(own, int(rng.integers(count)))
            found.setdefault((dimension, str(place)), set()).add((turn.session, turn.turn))
    return {name: frozenset(turns) for name, turns in found.items()}


def called(measured: Sequence[TurnRegrets], rng: np.random.Generator) -> list[PairedOutcome]:
    """Tool calls of the turns, forks in a tenth of them."""
    drawn = outcomes(rng, SIZE.sessions, 0.0, None, 0.1)
    names = sorted({turn.session for turn in measured})
    turns = sorted({turn.turn for turn in measured})
    return [
        replace(one, session=names[int(one.session[1:])], turn=turns[int(one.turn[1:])])
        for one in drawn
        if int(one.turn[1:]) < len(turns)
    ]


def judge(
    case: Case, drawn: Sequence[ScoredTurn], seed: Sequence[int], edit: Edit = sound
) -> Outcome:
    """One run with every test on."""
    rng = np.random.default_rng(list(seed))
    policy = Policy.model_validate({"rate_margin": MARGIN, "noise_tails": case.tails})
    main, arm, measured = greedy_parts(case, policy, rng, edit, seed[-1])
    places = rng.choice(len(drawn), SIZE.sessions, replace=False)
    sampled = judge_scored([drawn[place] for place in places], policy, seed[-1])
    calls = called(measured, rng)
    behavior = judge_behavior(calls, policy, seed[-1])
    run, reference = pair_of_runs([*seed, 1], 26, 1.0, same=True)
    lost = losses(run, reference, policy.acceptance_loss_margin)
    slices = judge_slices(sliced(measured, rng), measured, main, calls, (), policy, seed[-1])
    findings = [
        *main.findings,
        *slice_findings(slices, rate_failed=False, success_failed=False),
        *(one for one in compare_with_reference(run, reference) if isinstance(one, Finding)),
        *(Finding(codes.ACCEPTANCE_LOSS, "lost") for one in lost if one.decision == "lost"),
    ]
    bounds = [*main.bounds, *sampled.bounds, behavior.bound]
    return Outcome(
        frozenset(_failing(bounds, findings, arm)),
        any(b.name in RATES and b.state == "inconclusive" for b in main.bounds),
    )


STREAM = response_of((), [Token(1, None, -0.1, (TopLogprob(1, None, -0.1),))] * SIZE.tokens)
"""Tokens of a faulty candidate, as far as findings name them."""

RATES = ("greedy_regret_ladder", "greedy_regret_rate", "greedy_small_regrets")


def _failing(
    bounds: Iterable[Bound], findings: Iterable[Finding], arm: GreedyJudgement
) -> Iterator[str]:
    yield from (bound.name for bound in bounds if bound.state == "fail")
    yield from (f"{bound.name}[arm]" for bound in arm.bounds if bound.state == "fail")
    yield from (finding.code for finding in findings if finding.severity == ERROR)


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
    case: Case, drawn: Sequence[ScoredTurn], runs: int, seed: int, edit: Edit = sound
) -> tuple[object, ...]:
    """How often each word, and what failed; sampled turns are `drawn` from."""
    found = [judge(case, drawn, (seed, place), edit) for place in range(runs)]
    words = Counter(one.word for one in found)
    named = Counter(name for one in found for name in one.failed)
    by = ", ".join(f"{name} {count}" for name, count in named.most_common(4)) or "none"
    return (runs, words["fail"], words["inconclusive"], words["pass"], by)


def sampled_pool(case: Case, seed: int) -> list[ScoredTurn]:
    """Sampled turns under the case's rounding."""
    return pool(case.sampled, case.greedy.verify, seed, POOL)


def needs(case: Case, runs: int, seed: int) -> list[tuple[object, ...]]:
    """How many tokens above each rung would have failed a sound run: the median, by shape."""
    policy = Policy.model_validate({"rate_margin": MARGIN, "noise_tails": case.tails})
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
"""20,160 tokens, as in `evidence.tables`."""


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--runs", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--case", help="only the cases whose name holds this")
    parser.add_argument("--faults", action="store_true", help="faulty candidates")
    parser.add_argument("--needs", action="store_true", help="tokens that break each rung")
    given = parser.parse_args()
    if given.needs:
        rows = [line for case in CASES for line in needs(case, given.runs, given.seed)]
        print(table(("rounding (policy)", "shape", *(f"{x:g} nat" for x in RUNGS)), rows))
        return
    head = ("runs", "fail", "inconclusive", "pass", "failed by")
    if given.faults:
        for case in powered():
            if not given.case or given.case in case.name:
                drawn = sampled_pool(case, given.seed)
                rows = [(n, *row(case, drawn, given.runs, given.seed, edit)) for n, edit in FAULTS]
                print(f"\n{case.name}\n\n" + table(("fault", *head), rows), flush=True)
        return
    chosen = [case for case in CASES if not given.case or given.case in case.name]
    rows = [
        (f"{c.name} ({c.tails})", *row(c, sampled_pool(c, given.seed), given.runs, given.seed))
        for c in chosen
    ]
    print(table(("sound; rounding (policy)", *head), rows))
    print(f"\nallowed: {most_allowed(given.runs)} of {given.runs}")


if __name__ == "__main__":
    main()
