"""A fault planted into one live pair, judged by the exact checks."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from checks.bounds import ControlResult, ControlState, fired
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


@dataclass(frozen=True, slots=True)
class Planted:
    """A fault planted in one of several pairs: whether any holds what it is about, and the first
    clean one it could be planted in, with its `place` in an order that is drawn by seed."""

    control: PairControl
    applies: bool = False
    place: str = ""
    seen: tuple[str, ...] | None = None

    def __add__(self, other: "Planted") -> "Planted":
        first = min(
            (one for one in (self, other) if one.seen is not None),
            key=lambda one: one.place,
            default=self,
        )
        return replace(first, applies=self.applies or other.applies)

    @property
    def result(self) -> ControlResult:
        """Whether it was caught."""
        kind, code = self.control.kind, self.control.code
        if not self.applies:
            return ControlResult(kind, code, "not_applicable", (), self.control.absent)
        if self.seen is None:
            return ControlResult(kind, code, "no_data", (), "no clean turn to plant it in")
        state: ControlState = "caught" if code in self.seen else "missed"
        return ControlResult(kind, code, state, self.seen, "planted in one turn")


def plant_in(
    control: PairControl, pairs: Sequence[tuple[str, Pair, Sequence[str]]], judge: Judge
) -> Planted:
    """Plant it in the first suitable pair that fires no error code itself; `pairs` are (place in
    the order, pair, the codes it fires)."""
    suitable = [(place, pair, own) for place, pair, own in pairs if control.applies(pair)]
    for place, pair, own in sorted(suitable, key=lambda one: one[0]):
        planted = None if own else control.plant(pair)
        if planted is not None:
            return Planted(control, True, place, fired(judge(planted)))
    return Planted(control, bool(suitable))


def with_stream(side: Side, response: Response) -> Side:
    """The same side with another response on the wire."""
    return side_of_response(response, step_tokens=side.step_tokens, gap_p99_ms=side.gap_p99_ms)


def is_seen_by_tokens(pair: Pair) -> bool:
    """Whether a token in the wrong place can be seen: of sampled turns any token may differ."""
    return pair.greedy and is_comparable(pair)


def is_comparable(pair: Pair) -> bool:
    """Equal tokens on both paths, and an end other than by length."""
    known = pair.candidate.stream is not None and pair.baseline.ids is not None
    ended = pair.candidate.finish_reason not in (None, "length")
    return known and ended and pair.text_comparable and pair.candidate.ids == pair.baseline.ids
