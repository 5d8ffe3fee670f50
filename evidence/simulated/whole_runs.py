"""One simulated run with every test on that can fail one.

The distribution of its rounding is known, so a fail of a sound candidate is a false alarm. Per
session a run has two greedy turns of 300 tokens, 200 sampled tokens, turns with tool calls, scores
of equal tokens and answers that only rates compare; besides, a further arm with a fourth of its
sessions, an acceptance profile beside a reference of the same sessions, and six slices.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from checks import findings as codes
from checks.acceptance.loss import losses
from checks.acceptance.reference import compare_with_reference
from checks.bounds import Bound
from checks.calls.answer_rates import TurnRates, judge_rates
from checks.calls.behavior import PairedOutcome, judge_behavior
from checks.calls.call_agreement import judge_agreement
from checks.findings import ERROR, Finding
from checks.greedy.bounds import ARGMAX
from checks.greedy.judge import GreedyJudgement, conclude, floor_of, judge_measured, judge_one
from checks.greedy.levels import further_levels
from checks.greedy.shift import TurnShift, judge_shift
from checks.greedy.turn import GreedyTurn, TurnRegrets
from checks.policy import Policy
from checks.sampled.judge import judge_scored
from checks.sampled.turn import ScoredTurn
from checks.slices.judge import judge_slices, slice_findings
from checks.slices.slices import Slice
from evidence.simulated.acceptance_sizes import pair_of_runs
from evidence.simulated.call_sizes import run_of as changed_calls
from evidence.simulated.noise_runs import NoiseModel, RunSize, simulate
from evidence.simulated.pool import EMPTY
from evidence.simulated.sampled_sizes import Rounding
from evidence.simulated.score_sizes import run_of as strayed_scores
from evidence.simulated.tool_sizes import outcomes
from tests.support.synthetic_model import response_of
from traces.wire.response import Token, TopLogprob

MARGIN = 3e-4
SIZE = RunSize(24, 2, 300)
DIMENSIONS = {"template": 2, "tool": 2, "context": 2}
FORKS = 0.1
"""Share of turns that fork, after which tool calls succeed by another draw."""
CHANGING = 0.01
"""Share of turns with calls that either path changes."""
READ_AGAIN = 2.0
"""How far scores of tokens read again stray, in multiples of the baseline's repeat."""

NOT_SIMULATED = (ARGMAX,)
"""Most turns are regrets alone, without the streams that this bound reads."""

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
    """`failed` names what failed the run, `open` the bounds that kept it from passing; either is
    empty where nothing did."""

    failed: frozenset[str]
    open: frozenset[str]

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


def policy_of(case: Case) -> Policy:
    """What the user has set; turns are few here because they are long."""
    return Policy.model_validate(
        {"rate_margin": MARGIN, "noise_tails": case.tails, "min_turns": SIZE.turns}
    )


def judge(
    case: Case,
    drawn: Sequence[ScoredTurn],
    seed: Sequence[int],
    edit: Edit = sound,
    sessions: int = SIZE.sessions,
) -> Outcome:
    """One run of so many sessions; its sampled turns are taken from `drawn`, at least as many."""
    rng = np.random.default_rng(list(seed))
    policy = policy_of(case)
    size = replace(SIZE, sessions=sessions)
    main, arm, measured = _greedy(case, policy, rng, edit, seed[-1], size)
    places = rng.choice(len(drawn), sessions, replace=False)
    sampled = judge_scored([drawn[place] for place in places], policy, seed[-1]).search()
    calls = _called(measured, rng, size)
    behavior = judge_behavior(calls, policy, seed[-1])
    agreement = judge_agreement(changed_calls(rng, sessions, CHANGING, 0.0), policy, seed[-1])
    run, reference = pair_of_runs([*seed, 1], 26, 1.0, same=True)
    lost = losses(run, reference, policy.acceptance_loss_margin)
    slices = judge_slices(_sliced(measured, rng), measured, main, calls, (), policy, seed[-1])
    findings = [
        *main.findings,
        *slice_findings(slices, rate_failed=False, success_failed=False),
        *judge_shift(_scores(case, rng, sessions), policy).findings,
        *judge_rates(_answers(rng, sessions), seed[-1]).findings,
        *agreement.findings,
        *(one for one in compare_with_reference(run, reference) if isinstance(one, Finding)),
        *(Finding(codes.ACCEPTANCE_LOSS, "lost") for one in lost if one.decision == "lost"),
    ]
    bounds = [*main.bounds, *sampled.bounds, behavior.bound, agreement.bound]
    return Outcome(
        frozenset(_failing(bounds, findings, arm)),
        frozenset(
            bound.name
            for bound in bounds
            if bound.state == "inconclusive" and bound.name not in NOT_SIMULATED
        ),
    )


def _greedy(
    case: Case, policy: Policy, rng: np.random.Generator, edit: Edit, seed: int, size: RunSize
) -> tuple[GreedyJudgement, GreedyJudgement, list[TurnRegrets]]:
    """(main arm, further arm, regrets of the main arm)."""
    turns, measured = simulated(case.greedy, size, rng, edit)
    main = judge_measured(turns, measured, policy, seed)
    fewer = replace(size, sessions=size.sessions // 4)
    others, arm = simulated(case.greedy, fewer, rng, edit)
    floor = floor_of(arm, policy, seed, measured)
    results = [judge_one(t, m, floor.noise) for t, m in zip(others, arm, strict=True)]
    return main, conclude(results, floor, policy, seed, further_levels(1)), measured


def _sliced(
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


def _called(
    measured: Sequence[TurnRegrets], rng: np.random.Generator, size: RunSize
) -> list[PairedOutcome]:
    """Tool calls of all turns: those of greedy turns under their names, for the slices."""
    names = sorted({turn.session for turn in measured})
    turns = sorted({turn.turn for turn in measured})
    return [
        replace(
            one,
            session=names[int(one.session[1:])],
            turn=turns[place] if (place := int(one.turn[1:])) < len(turns) else one.turn,
        )
        for one in outcomes(rng, size.sessions, 0.0, None, FORKS)
    ]


def _scores(case: Case, rng: np.random.Generator, sessions: int) -> list[TurnShift]:
    """Scores of equal tokens; the candidate's stray as much further as its rounding is larger."""
    return strayed_scores(rng, sessions, READ_AGAIN, READ_AGAIN * case.greedy.verify)


def _answers(rng: np.random.Generator, sessions: int) -> list[TurnRates]:
    """Answers that are two draws, by `checks.calls.answer_rates.QUANTITIES`."""
    found = []
    for place in range(sessions):
        lean = rng.beta(4, 4), rng.lognormal(4, 0.5)
        for _ in range(SIZE.turns):
            called, cut, empty = (rng.random(2) < share for share in (lean[0], 0.1, 0.02))
            lengths = rng.geometric(1 / lean[1], 2)
            values = ((float(a), float(b)) for a, b in (called, lengths, cut, empty))
            found.append(TurnRates(f"s{place}", tuple(values)))
    return found


STREAM = response_of((), [Token(1, None, -0.1, (TopLogprob(1, None, -0.1),))] * SIZE.tokens)
"""Tokens of a faulty candidate, as far as findings name them."""


def _failing(
    bounds: Iterable[Bound], findings: Iterable[Finding], arm: GreedyJudgement
) -> Iterator[str]:
    yield from (bound.name for bound in bounds if bound.state == "fail")
    yield from (f"{bound.name}[arm]" for bound in arm.bounds if bound.state == "fail")
    yield from (finding.code for finding in findings if finding.severity == ERROR)
