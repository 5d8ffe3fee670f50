"""One greedy turn judged against the noise floor."""

from dataclasses import dataclass, replace

from checks.greedy.rate_table import NoiseByShape
from checks.greedy.turn import GreedyTurn, TurnRegrets, excused
from checks.tokens.fork import Fork, Kind, fork_between
from checks.tokens.regret import above
from traces.journal.score import Shape


@dataclass(frozen=True, slots=True)
class TurnJudgement:
    """One turn: tokens judged, the fork, and every token far beyond the baseline's noise.

    All hold output indices: `hard` the baseline does not show itself, `excused` it does. `sure` is
    whether a single one of `hard` condemns. `max_regret` is in nat, `None` where nothing of the
    turn was judged. `repeat_fork` is where the baseline's repeat parts from its first stream.
    """

    session: str
    turn: str
    not_judged: str | None
    tokens: int
    unscored: int
    processed: int
    equal: bool
    fork: Fork | None
    repeat_divergence: int | None
    max_regret: float | None
    hard: tuple[int, ...]
    excused: tuple[int, ...]
    sure: bool
    repeat_fork: Fork | None = None


def judge_turn(turn: GreedyTurn, measured: TurnRegrets, noise: NoiseByShape) -> TurnJudgement:
    hard: list[int] = []
    pardoned: list[int] = []
    unknown = 0
    for part in measured.candidate:
        floor = noise[part.shape]
        over = above(part.values, floor.far)
        unknown += int((part.bounded & ~over).sum())
        for offset in over.nonzero()[0]:
            index = part.start + int(offset)
            (pardoned if excused(turn, index, floor.far) else hard).append(index)
    values = [float(part.values.max()) for part in measured.candidate if len(part)]
    return TurnJudgement(
        session=turn.session,
        turn=turn.turn,
        not_judged=measured.not_judged,
        tokens=measured.tokens - unknown,
        unscored=measured.unscored + unknown,
        processed=measured.processed,
        equal=measured.not_judged is None and measured.divergence is None,
        fork=_fork(turn, measured, hard, pardoned, noise["decode"].far),
        repeat_divergence=measured.repeat_divergence,
        max_regret=max(values, default=None),
        hard=tuple(hard),
        excused=tuple(pardoned),
        sure=all(floor.open is None for floor in noise.values()),
        repeat_fork=_repeat_fork(turn, measured, noise["decode"].far),
    )


def _repeat_fork(turn: GreedyTurn, measured: TurnRegrets, hard: float) -> Fork | None:
    """The baseline against itself: ``hard`` here says how noisy it is, and condemns nothing."""
    if measured.repeat_divergence is None or turn.repeat is None:
        return None
    return _both_sides(fork_between(turn.repeat.tokens or (), turn.baseline.tokens or (), hard))


def _fork(
    turn: GreedyTurn, measured: TurnRegrets, hard: list[int], pardoned: list[int], bound: float
) -> Fork | None:
    """The first fork, with what only the run knows: its excuse and its score by teacher forcing."""
    index = measured.divergence
    if index is None:
        return None
    fork = _both_sides(fork_between(turn.candidate.tokens or (), turn.baseline.tokens or (), bound))
    if fork is None:
        return None
    found = regret_of(measured, index)
    kind: Kind = "near_tie"
    if index in hard:
        kind = "hard"
    elif index in pardoned:
        kind = "excused"
    elif found is None or found[1]:
        kind = "unscored"
    scored = turn.scored_candidate
    again = None
    if scored is not None and 0 <= index - scored.start < len(scored.ids):
        again = float(scored.best[index - scored.start] - scored.logprobs[index - scored.start])
    return replace(fork, kind=kind, prefill_regret=again)


def _both_sides(fork: Fork | None) -> Fork | None:
    """A stream that just ends where the other goes on has no fork to describe."""
    return None if fork is None or fork.kind == "prefix" else fork


def regret_of(measured: TurnRegrets, index: int) -> tuple[float, bool, Shape] | None:
    """(regret in nat, only a lower bound?, shape) of output token `index`; `None`: unscored."""
    for part in measured.candidate:
        if 0 <= index - part.start < len(part):
            place = index - part.start
            return float(part.values[place]), bool(part.bounded[place]), part.shape
    return None
