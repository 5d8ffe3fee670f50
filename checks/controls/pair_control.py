"""A fault planted into one live pair, judged by the exact checks."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from checks.bounds import ControlResult, fired
from checks.findings import Finding, NotJudged
from checks.pair import Pair, Side, side_of_response
from traces.wire.response import Response

Judge = Callable[[Pair], Iterable[Finding | NotJudged]]
"""The exact checks of one pair."""


@dataclass(frozen=True, slots=True)
class PairControl:
    """`plant` gives the faulty copy of a pair, `None` where this pair does not lend itself.

    `code` must fire for the copy. `applies` tells whether a pair holds what the fault is about;
    where none does, the control does not apply, because `absent`.
    """

    kind: str
    code: str
    applies: Callable[[Pair], bool]
    plant: Callable[[Pair], Pair | None]
    absent: str


def judge_pair_control(control: PairControl, pairs: Sequence[Pair], judge: Judge) -> ControlResult:
    """Plant it in the first suitable pair that fires no error code itself."""
    suitable = [pair for pair in pairs if control.applies(pair)]
    if not suitable:
        return ControlResult(control.kind, control.code, "not_applicable", (), control.absent)
    for pair in suitable:
        planted = control.plant(pair)
        if planted is None or fired(judge(pair)):
            continue
        seen = fired(judge(planted))
        return ControlResult(
            control.kind,
            control.code,
            "caught" if control.code in seen else "missed",
            seen,
            "planted in one turn",
        )
    return ControlResult(control.kind, control.code, "no_data", (), "no clean turn to plant it in")


def with_stream(side: Side, response: Response) -> Side:
    """The same side with another response on the wire."""
    return side_of_response(response, step_tokens=side.step_tokens, gap_p99_ms=side.gap_p99_ms)


def is_told_by_tokens(pair: Pair) -> bool:
    """Whether a token in the wrong place can be told: of sampled turns any token may differ."""
    return pair.greedy and is_comparable(pair)


def is_comparable(pair: Pair) -> bool:
    """Equal tokens on both paths, and an end other than by length."""
    known = pair.candidate.stream is not None and pair.baseline.ids is not None
    ended = pair.candidate.finish_reason not in (None, "length")
    return known and ended and pair.text_comparable and pair.candidate.ids == pair.baseline.ids
