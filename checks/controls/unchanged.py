"""Negative control: a copy that went through the same editing and came out unchanged.

Nothing may fire for it that does not fire for the run itself.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from checks import findings as codes
from checks.bounds import ControlResult, ControlState, fired
from checks.controls.edit import place_of, write
from checks.controls.pair_control import Judge, with_stream
from checks.findings import Finding
from checks.greedy.judge import GreedyFloor, GreedyJudgement, TurnResult, conclude, judge_one
from checks.greedy.rate_table import NoiseByShape
from checks.greedy.turn import GreedyTurn, measure_turn
from checks.pair import Pair
from checks.policy import Policy
from traces.wire.response import Response
from traces.wire.tokens import texts_of

KIND = "unchanged copy"


@dataclass(frozen=True, slots=True)
class Copies:
    """Copies of a session's turns, judged: how many, the codes that only a copy's pair fires, and
    the greedy turns of which a copy is judged otherwise."""

    count: int = 0
    extra: frozenset[str] = frozenset()
    altered: tuple[TurnResult, ...] = ()

    def __add__(self, other: "Copies") -> "Copies":
        return Copies(
            self.count + other.count, self.extra | other.extra, self.altered + other.altered
        )


def copy_turns(
    turns: Iterable[tuple[GreedyTurn, TurnResult]],
    pairs: Sequence[tuple[Pair, Sequence[str]]],
    judge: Judge,
    noise: NoiseByShape,
) -> Copies:
    """Copy every turn and pair, and judge the copies; a pair comes with the codes it fires."""
    count, extra, altered = len(pairs), set[str](), []
    for turn, result in turns:
        again = replace(turn, candidate=copy(turn.candidate))
        copied = judge_one(again, measure_turn(again), noise)
        count += 1
        if not _alike(copied, result):
            altered.append(copied)
    for pair, own in pairs:
        if pair.candidate.stream is not None:
            side = with_stream(pair.candidate, copy(pair.candidate.stream))
            extra |= set(fired(judge(replace(pair, candidate=side)))) - set(own)
    return Copies(count, frozenset(extra), tuple(altered))


def judge_unchanged(
    copies: Copies,
    judgement: GreedyJudgement,
    results: Sequence[TurnResult],
    floor: GreedyFloor,
    policy: Policy,
    seed: int,
) -> ControlResult:
    """Compare what fired, turn by turn and in all."""
    extra = copies.extra
    if copies.altered:
        named = {
            (one.regrets.session, one.regrets.turn): one for one in (*results, *copies.altered)
        }
        again = conclude(list(named.values()), floor, policy, seed)
        extra |= _codes(again.findings) - _codes(judgement.findings)
    if not copies.count:
        return ControlResult(KIND, None, "no_data", (), "no turn to copy")
    state: ControlState = "missed" if extra else "caught"
    return ControlResult(KIND, None, state, tuple(sorted(extra)), f"{copies.count} copies judged")


def _alike(copied: TurnResult, result: TurnResult) -> bool:
    """Whether a copy has the regrets and the codes of its turn."""
    sides = [
        [(part.shape, part.start, part.values.tobytes(), part.bounded.tobytes()) for part in parts]
        for one in (copied, result)
        for parts in (one.regrets.candidate, one.regrets.noise)
    ]
    same = sides[:2] == sides[2:] and (copied.wrong, copied.sent) == (result.wrong, result.sent)
    return same and _codes(copied.findings) == _codes(result.findings)


def _codes(findings: Iterable[Finding]) -> set[str]:
    return {finding.code for finding in findings if finding.severity == codes.ERROR}


def copy(response: Response) -> Response:
    """The response with its first visible token written over itself."""
    for index, text in enumerate(texts_of(response.tokens or ())):
        place = place_of(response, index)
        if place is not None and text is not None:
            return write(response, place, text)
    return response
