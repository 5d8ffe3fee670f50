"""Whole runs simulated at the level of regrets: what rounding noise does to a sound candidate.

At every position the two best tokens are `gap` nat apart in exact arithmetic. An arm emits the
first where ``gap + e > 0``; the scorer finds ``gap + e'``. All e are independent: Gaussian
or Laplace rounding, and at some positions a jump, as when an expert flips. The candidate's
noise may be larger than the baseline's (verify shape).
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from checks.greedy.judge import GreedyJudgement, judge_measured
from checks.greedy.turn import GreedyTurn, TurnRegrets
from checks.policy import Policy
from checks.tokens.regret import Regrets
from tests.support.synthetic_model import response_of
from traces.wire.response import Response, Token, TopLogprob

NEEDS_STREAMS = 0.9
"""Turns without a larger regret (nat) cannot be condemned; their streams are left out for speed."""

NO_STREAM = response_of((), ())

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class NoiseModel:
    """`sd`: noise of a logit gap (nat), Gaussian or `laplace`. `jumps`: share of positions
    with a jump of scale `scale`, Pareto of tail index `tail` or, where that is `None`, Gaussian as
    an expert flips. `verify`: factor on the candidate's noise. `spread`: standard deviation of the
    log noise scale between sessions.
    """

    sd: float = 0.05
    jumps: float = 0.0
    scale: float = 0.1
    tail: float | None = 3.0
    verify: float = 1.0
    spread: float = 0.3
    laplace: bool = False

    def draw(self, rng: np.random.Generator, shape: tuple[int, ...], factor: float) -> Floats:
        """Noise of one arm."""
        if self.laplace:
            noise = rng.laplace(0.0, self.sd / 2**0.5, shape)
        else:
            noise = rng.normal(0.0, self.sd, shape)
        hit = rng.random(shape) < self.jumps
        if self.tail is None:
            jump = rng.normal(0.0, self.scale, shape)
        else:
            jump = self.scale * rng.pareto(self.tail, shape) * rng.choice([-1.0, 1.0], shape)
        return np.asarray(factor * (noise + hit * jump))


@dataclass(frozen=True, slots=True)
class RunSize:
    """Sessions, turns of each, tokens of each turn."""

    sessions: int = 24
    turns: int = 10
    tokens: int = 84


def simulate(
    model: NoiseModel, size: RunSize, rng: np.random.Generator, streams: float = NEEDS_STREAMS
) -> tuple[list[GreedyTurn], list[TurnRegrets]]:
    """A sound candidate's run: what `measure_turn` would give for it.

    Turns carry their streams only where a regret (nat) is above `streams`.
    """
    shape = (size.sessions * size.turns, size.tokens)
    near = rng.random(shape) < 0.15
    gap = np.where(near, rng.exponential(0.7, shape), 1.0 + rng.exponential(5.0, shape))
    factor = np.repeat(np.exp(rng.normal(0.0, model.spread, size.sessions)), size.turns)[:, None]

    def arm(scale: float = 1.0) -> Floats:
        return gap + factor * model.draw(rng, shape, scale)

    baseline, repeat, candidate = arm(), arm(), arm(model.verify)
    reread, own = arm(), arm()
    turns, measured = [], []
    for row in range(shape[0]):
        name = (f"s{row // size.turns:03}", f"t{row % size.turns:03}")
        turn, regrets = _turn(
            *name, (baseline[row], repeat[row], candidate[row], reread[row], own[row]), streams
        )
        turns.append(turn)
        measured.append(regrets)
    return turns, measured


def _regret(chosen_by: Floats, seen_by: Floats) -> Floats:
    """Regret (nat) in the eyes of `seen_by` of the token that `chosen_by` picks."""
    return np.asarray(np.maximum(np.where(chosen_by > 0, -seen_by, seen_by), 0.0))


def _turn(
    session: str, turn: str, arms: tuple[Floats, Floats, Floats, Floats, Floats], streams: float
) -> tuple[GreedyTurn, TurnRegrets]:
    baseline, repeat, candidate, reread, own = arms
    fork, again = _fork(candidate, baseline), _fork(repeat, baseline)
    free = _part("decode", 0, _regret(candidate, baseline)[: _upto(fork)])
    parts = [free]
    if fork is not None:
        parts.append(_part("prefill", fork + 1, _regret(candidate, reread)[fork + 1 :]))
    noise = (
        _part("decode", 0, _regret(repeat, baseline)[: _upto(again)]),
        _part("prefill", 0, _regret(baseline, reread)),
    )
    largest = max(float(part.values.max(initial=0.0)) for part in parts)
    kept = largest > streams
    candidate_stream, baseline_stream, again_stream = (
        _stream(gaps) if kept else NO_STREAM for gaps in (candidate, baseline, repeat)
    )
    asked = {i: _token(float(value)) for i, value in enumerate(own)} if kept else {}
    return (
        GreedyTurn(
            session, turn, candidate_stream, baseline_stream, again_stream, own_tokens=asked
        ),
        TurnRegrets(
            session, turn, tuple(parts), noise, fork, again, noise_forked=again is not None
        ),
    )


def _fork(candidate: Floats, baseline: Floats) -> int | None:
    differ = np.flatnonzero((candidate > 0) != (baseline > 0))
    return int(differ[0]) if len(differ) else None


def _upto(fork: int | None) -> int | None:
    return None if fork is None else fork + 1


def _part(shape: str, start: int, values: Floats) -> Regrets:
    assert shape in ("decode", "prefill")
    exact = np.zeros(len(values), dtype=np.bool_)
    return Regrets("decode" if shape == "decode" else "prefill", start, values, exact)


def _stream(gaps: Floats) -> Response:
    return response_of((), [_token(float(gap)) for gap in gaps])


def _token(gap: float) -> Token:
    first, second = (1, 2) if gap > 0 else (2, 1)
    far = -abs(gap) - 0.1
    top = (TopLogprob(first, None, -0.1), TopLogprob(second, None, far))
    return Token(first, None, -0.1, (*top, TopLogprob(3, None, far - 3.0)))


def judge_run(model: NoiseModel, size: RunSize, policy: Policy, seed: int) -> GreedyJudgement:
    """Simulate one run and judge it as the gate does, the baseline asked about suspects."""
    turns, measured = simulate(model, size, np.random.default_rng(seed))
    return judge_measured(turns, measured, policy, seed)
