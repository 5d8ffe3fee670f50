"""Where a rank-2 token can be planted: clean turns, and the regret its runner-up would have.

A survey goes past the turns of a run one by one and keeps numbers, not captures; the few turns that
something is planted in are asked for again.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import pairwise

import numpy as np

from checks.controls.edit import swap_token, vocabulary
from checks.greedy.turn import GreedyTurn
from checks.greedy.turn_judgement import TurnJudgement
from checks.stats.sessions import hash_order
from traces.journal.exchange import TurnId
from traces.journal.score import ScoreRequest
from traces.wire.tokens import UNKNOWN, Floats, Ints, Tokens


@dataclass(frozen=True, slots=True)
class Spot:
    """Output token `index` of the turn that the survey counts as `turn`."""

    turn: int
    index: int


@dataclass(frozen=True, slots=True)
class Swap:
    """A turn with output token `index` swapped; `request` scores the output from there on."""

    turn: GreedyTurn
    index: int
    request: ScoreRequest

    @property
    def place(self) -> tuple[str, str]:
        """Session and turn."""
        return self.turn.session, self.turn.turn


@dataclass(slots=True)
class Survey:
    """The runner-ups of a run's greedy turns, `count` in all.

    Of every turn that is equal on both paths, `regrets` holds what the runner-up of each output
    token would cost (nat, NaN where that is not known), and `places` its name. `texts` is the
    vocabulary of all turns; `turn_of` gives a turn again.
    """

    turn_of: Callable[[TurnId], GreedyTurn]
    count: int = 0
    places: list[TurnId] = field(default_factory=list)
    regrets: list[Floats] = field(default_factory=list)
    texts: dict[int, str] = field(default_factory=dict)

    @classmethod
    def of(cls, turns: Iterable[GreedyTurn], judged: Iterable[TurnJudgement]) -> "Survey":
        """The survey of turns that are all at hand; `judged` in any order."""
        named = {(turn.session, turn.turn): turn for turn in turns}
        judgements = {(one.session, one.turn): one for one in judged}
        survey = cls(named.__getitem__)
        for place, turn in named.items():
            survey.add(turn, judgements[place])
        return survey

    def add(self, turn: GreedyTurn, judged: TurnJudgement) -> None:
        """One turn more."""
        self.count += 1
        self.texts.update(vocabulary([turn.candidate]))
        if judged.equal and not judged.unscored and not turn.processing:
            tokens = [Tokens.of(side.tokens or ()) for side in (turn.candidate, turn.baseline)]
            self.places.append((turn.session, turn.turn))
            self.regrets.append(runner_up_regrets(*tokens))

    def cheapest(self, low: float) -> Iterator[Spot]:
        """Spots with a regret above `low`, the smallest first."""
        turns, indices, regrets = self._within(low, np.inf)
        for place in np.argsort(regrets, kind="stable").tolist():
            yield Spot(int(turns[place]), int(indices[place]))

    def spread(self, low: float, high: float, seed: int) -> Iterator[Spot]:
        """Spots with a regret inside (low, high], sessions and turns taking turns, late ones first
        (short tails)."""
        turns, indices, _ = self._within(low, high)
        order = np.lexsort((-indices, turns))
        turns, indices = turns[order], indices[order]
        queues: dict[str, list[slice]] = {}
        begins = np.flatnonzero(np.diff(turns, prepend=-1)).tolist()
        for begin, end in pairwise([*begins, len(turns)]):
            session = self.places[int(turns[begin])][0]
            queues.setdefault(session, []).append(slice(begin, end))
        rows = [
            np.concatenate([np.arange(len(turns))[part] for part in queues[session]])
            for session in hash_order(queues, seed)
        ]
        for place in range(max(map(len, rows), default=0)):
            for row in rows:
                if place < len(row):
                    yield Spot(int(turns[row[place]]), int(indices[row[place]]))

    def swap_at(self, spot: Spot) -> "Swap | None":
        """The planted turn; `None` where its text cannot be rewritten or its prompt is unknown."""
        return swap_at(self.turn_of(self.places[spot.turn]), spot.index, self.texts)

    def _within(self, low: float, high: float) -> tuple[Ints, Ints, Floats]:
        """Turn, output index and regret of every runner-up inside (low, high] nat."""
        chosen = [np.flatnonzero((low < of) & (of <= high)) for of in self.regrets]
        turns = [np.full(len(found), turn, np.int64) for turn, found in enumerate(chosen)]
        values = [of[found] for of, found in zip(self.regrets, chosen, strict=True)]
        none = np.empty(0, np.int64)
        return (
            np.concatenate([none, *turns]),
            np.concatenate([none, *chosen]),
            np.concatenate([np.empty(0), *values]),
        )


def runner_up_regrets(candidate: Tokens, baseline: Tokens) -> Floats:
    """What the best other token of the candidate's list costs at each place, as
    `checks.tokens.regret.regret_at` says of the baseline's list; NaN where it is not in it."""
    count, owner = len(candidate), candidate.owner
    other = np.where(candidate.top_ids != candidate.ids[owner], candidate.top_logprobs, -np.inf)
    other = np.where(np.isnan(other), -np.inf, other)
    best = np.full(count, -np.inf)
    np.maximum.at(best, owner, other)
    rival = np.full(count, UNKNOWN, np.int64)
    first = np.flatnonzero((other == best[owner]) & (other > -np.inf))[::-1]
    rival[owner[first]] = candidate.top_ids[first]  # of equal ones the first in the list
    seen, listed_by = np.full(count, np.nan), baseline.owner
    listed = np.flatnonzero(baseline.top_ids == rival[listed_by])
    seen[listed_by[listed]] = baseline.top_logprobs[listed]
    seen = np.where(rival == baseline.ids, baseline.logprobs, seen)
    known = (rival != UNKNOWN) & np.isfinite(baseline.logprobs)
    with np.errstate(invalid="ignore"):
        return np.where(known, baseline.best - seen, np.nan)


def swap_at(turn: GreedyTurn, index: int, texts: Mapping[int, str]) -> Swap | None:
    """The turn with its output token `index` swapped for the runner-up; `None` where its text
    cannot be rewritten or its prompt is unknown."""
    planted = swap_token(turn.candidate, index, texts)
    prompt = turn.candidate.prompt_token_ids or turn.baseline.prompt_token_ids
    if planted is None or prompt is None:
        return None
    ids = planted.token_ids or ()
    request = ScoreRequest((*prompt, *ids[:index]), ids[index:])
    return Swap(replace(turn, candidate=planted, scored_candidate=None), index, request)
