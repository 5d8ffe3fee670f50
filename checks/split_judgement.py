"""Does a parse depend on where the same tokens were cut into deltas?

One token per delta is the reference: it is what a server without speculation sends. Three kinds of
cuts are held against it: into two deltas, into deltas of 1 … k + 1 tokens as speculation makes
them, and everything in one delta (which only a client without streaming would see; it alone is a
warning). A difference between the reference and the non-streaming parse is the parser's own fault
and not speculation's.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from checks import findings as f
from checks.cuts import Cut, deltas, near_markup, one_by_one, random_cuts, smallest, two_way
from checks.excerpt import excerpt
from checks.findings import WARNING, Finding
from checks.parse_result import ParseResult

TWO_WAY, RANDOM, SINGLE, GIVEN = "two-way", "random", "one delta", "given"
NEAREST = (GIVEN, RANDOM, TWO_WAY, SINGLE)
"""Kinds of cuts, the nearest to what speculation sends first."""
SHORT = 600
"""Outputs up to this many tokens are cut in two at every place, longer ones near markup only."""

Stream = Callable[[Cut], ParseResult]


@dataclass(frozen=True, slots=True)
class SplitFailure:
    """The smallest cut that changes the result, the kind it came from, and the result."""

    kind: str
    cut: Cut
    result: ParseResult


@dataclass(frozen=True, slots=True)
class SplitJudgement:
    """`tried` and `failed` count cuts by kind; `reference` is one token per delta, `whole` the
    non-streaming parse (`None` where it was not made). `failure` is of the kind that is nearest
    to what speculation sends."""

    pieces: tuple[str, ...]
    reference: ParseResult
    whole: ParseResult | None
    tried: dict[str, int] = field(default_factory=dict)
    failed: dict[str, int] = field(default_factory=dict)
    failure: SplitFailure | None = None

    @property
    def invariant(self) -> bool:
        """No cut changes the result."""
        return self.failure is None

    @property
    def single_only(self) -> bool:
        """Only the whole output in one delta changes it."""
        return self.failure is not None and self.failure.kind == SINGLE

    @property
    def parser_fault(self) -> str | None:
        """How streaming, one token at a time, differs from not streaming."""
        if self.whole is None or self.reference.same(self.whole):
            return None
        return self.reference.difference(self.whole)

    def findings(self) -> Iterator[Finding]:
        """SPLIT_VARIANT, once; a warning where only one single delta differs."""
        if self.failure is None:
            return
        how = self.failure.result.difference(self.reference)
        yield Finding(
            f.SPLIT_VARIANT,
            f"{how} when {joined_words(self.pieces, self.failure.cut)}",
            severity=WARNING if self.single_only else "",
            baseline=str(self.reference.as_json()),
            candidate=str(self.failure.result.as_json()),
            detail={
                "cut": list(self.failure.cut),
                "kind": self.failure.kind,
                "failed": self.failed,
                "tried": self.tried,
            },
        )

    def as_json(self) -> dict[str, Any]:
        """For ``draftgate parsers --json``."""
        failure = None
        if self.failure is not None:
            failure = {
                "kind": self.failure.kind,
                "cut": list(self.failure.cut),
                "where": joined_words(self.pieces, self.failure.cut),
                "result": self.failure.result.as_json(),
                "differs": self.failure.result.difference(self.reference),
            }
        return {
            "invariant": self.invariant,
            "single_only": self.single_only,
            "parser_fault": self.parser_fault,
            "tried": self.tried,
            "failed": self.failed,
            "reference": self.reference.as_json(),
            "failure": failure,
        }


def judge_splits(
    pieces: Sequence[str],
    stream: Stream,
    whole: ParseResult | None,
    *,
    largest: int,
    count: int,
    seed: int,
) -> SplitJudgement:
    """Cut an output every way: in two, at random into deltas of 1 … `largest` tokens, not at all.

    `pieces` are the texts its tokens add; `stream` parses it under a cut.
    """
    size = len(pieces)
    places = None if size <= SHORT else near_markup(pieces)
    kinds: list[tuple[str, Iterable[Cut]]] = [
        (TWO_WAY, two_way(size, places)),
        (RANDOM, random_cuts(size, largest, count, seed)),
        (SINGLE, [()] if size > 1 else []),
    ]
    return _judge(pieces, stream, whole, kinds)


def judge_given(pieces: Sequence[str], stream: Stream, cuts: Sequence[Cut]) -> SplitJudgement:
    """Try the cuts a case file names."""
    kinds = [(GIVEN, [cut for cut in cuts if cut]), (SINGLE, [cut for cut in cuts if not cut])]
    return _judge(pieces, stream, None, kinds)


def _judge(
    pieces: Sequence[str],
    stream: Stream,
    whole: ParseResult | None,
    kinds: Sequence[tuple[str, Iterable[Cut]]],
) -> SplitJudgement:
    size = len(pieces)
    reference = stream(one_by_one(size))

    def differs(cut: Cut) -> bool:
        return not stream(cut).same(reference)

    wrong: dict[str, list[Cut]] = {}
    tried: dict[str, int] = {}
    for kind, cuts in kinds:
        every = list(cuts)
        tried[kind] = len(every)
        wrong[kind] = [cut for cut in every if differs(cut)]
    failed = {kind: len(found) for kind, found in wrong.items()}
    nearest = next((kind for kind in NEAREST if wrong.get(kind)), None)
    failure = None
    if nearest is not None:
        # The most cuts leave the fewest joined tokens to try.
        cut = max(wrong[nearest], key=len)
        cut = cut if nearest == SINGLE else smallest(size, cut, differs)
        failure = SplitFailure(nearest, cut, stream(cut))
    return SplitJudgement(tuple(pieces), reference, whole, tried, failed, failure)


def joined_words(pieces: Sequence[str], cut: Cut) -> str:
    """Which tokens arrive together under a cut: ``'</tool_call>\\n' arrives in one delta``."""
    size = len(pieces)
    if not cut:
        return "everything arrives in one delta"
    parts = [
        excerpt("".join(pieces[start:end]), 0, sum(map(len, pieces[start:end])))
        for start, end in deltas(size, cut)
        if end - start > 1
    ]
    words = " and ".join(parts[:3]) + (f" and {len(parts) - 3} more" if len(parts) > 3 else "")
    return f"{words} {'arrives' if len(parts) == 1 else 'each arrive'} in one delta"
