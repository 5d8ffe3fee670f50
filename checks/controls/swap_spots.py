"""Where a rank-2 token can be planted: clean turns, and the regret its runner-up would have."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from checks.controls.edit import swap_token
from checks.greedy.judge import GreedyJudgement
from checks.greedy.turn import GreedyTurn
from checks.stats.sessions import hash_order
from checks.tokens.regret import regret_at
from traces.journal.score import ScoreRequest


@dataclass(frozen=True, slots=True)
class Spot:
    """Output token `index` of ``turns[turn]``, and the `regret` (nat) of its runner-up."""

    regret: float
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


def spots(
    turns: Sequence[GreedyTurn], judgement: GreedyJudgement, low: float, high: float
) -> list[Spot]:
    """Runner-ups with a regret inside (low, high] nat, in turns equal on both paths."""
    equal = {(t.session, t.turn) for t in judgement.turns if t.equal and not t.unscored}
    found = []
    for place, turn in enumerate(turns):
        if (turn.session, turn.turn) not in equal or turn.processing:
            continue
        candidate, baseline = turn.candidate.tokens or (), turn.baseline.tokens or ()
        for index, (token, seen) in enumerate(zip(candidate, baseline, strict=True)):
            rivals = [entry for entry in token.top if entry.id != token.id]
            if not rivals:
                continue
            regret = regret_at(seen, max(rivals, key=lambda entry: entry.logprob).id)
            if regret is not None and not regret.at_least and low < regret.value <= high:
                found.append(Spot(regret.value, place, index))
    return found


def spread(turns: Sequence[GreedyTurn], found: Sequence[Spot], seed: int) -> list[Spot]:
    """Spots with sessions and turns taking turns, late ones first (short tails)."""
    by_turn: dict[int, list[Spot]] = {}
    for spot in sorted(found, key=lambda spot: (spot.turn, -spot.index)):
        by_turn.setdefault(spot.turn, []).append(spot)
    by_session: dict[str, list[Spot]] = {}
    for place, several in by_turn.items():
        by_session.setdefault(turns[place].session, []).extend(several)
    queues = [by_session[session] for session in hash_order(by_session, seed)]
    longest = max((len(queue) for queue in queues), default=0)
    return [queue[i] for i in range(longest) for queue in queues if i < len(queue)]


def swap_at(turns: Sequence[GreedyTurn], spot: Spot, texts: Mapping[int, str]) -> Swap | None:
    """The planted turn; `None` where its text cannot be rewritten or its prompt is unknown."""
    turn = turns[spot.turn]
    planted = swap_token(turn.candidate, spot.index, texts)
    prompt = turn.candidate.prompt_token_ids or turn.baseline.prompt_token_ids
    if planted is None or prompt is None:
        return None
    ids = planted.token_ids or ()
    request = ScoreRequest((*prompt, *ids[: spot.index]), ids[spot.index :])
    return Swap(replace(turn, candidate=planted, scored_candidate=None), spot.index, request)
