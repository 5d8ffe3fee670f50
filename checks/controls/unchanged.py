"""Negative control: a copy that went through the same editing and came out unchanged.

Nothing may fire for it that does not fire for the run itself.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from checks import findings as codes
from checks.bounds import ControlResult, fired
from checks.controls.edit import place_of, write
from checks.controls.pair_control import Judge, with_stream
from checks.findings import Finding
from checks.greedy.judge import GreedyJudgement, judge_greedy
from checks.greedy.turn import GreedyTurn
from checks.pair import Pair
from checks.policy import Policy
from traces.wire.response import Response

KIND = "unchanged copy"


def judge_unchanged(
    turns: Sequence[GreedyTurn],
    judgement: GreedyJudgement,
    pairs: Sequence[tuple[str, Pair]],
    judge: Judge,
    policy: Policy,
    seed: int,
) -> ControlResult:
    """Copy every turn, judge again, and compare what fired, turn by turn and in all."""
    again = judge_greedy([replace(t, candidate=copy(t.candidate)) for t in turns], policy, seed)
    extra = _codes(again.findings) - _codes(judgement.findings)
    for _, pair in pairs:
        if pair.candidate.stream is None:
            continue
        side = with_stream(pair.candidate, copy(pair.candidate.stream))
        extra |= set(fired(judge(replace(pair, candidate=side)))) - set(fired(judge(pair)))
    count = len(turns) + len(pairs)
    if not count:
        return ControlResult(KIND, None, "no_data", (), "no turn to copy")
    return ControlResult(
        KIND, None, "missed" if extra else "caught", tuple(sorted(extra)), f"{count} copies judged"
    )


def _codes(findings: Iterable[Finding]) -> set[str]:
    return {finding.code for finding in findings if finding.severity == codes.ERROR}


def copy(response: Response) -> Response:
    """The response with its first visible token written over itself."""
    for index, token in enumerate(response.tokens or ()):
        place = place_of(response, index)
        if place is not None and token.text is not None:
            return write(response, place, token.text)
    return response
