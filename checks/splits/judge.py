"""Does a parse depend on where the same tokens were cut into deltas?

One token per delta is the reference: it is what a server without speculation sends. Three kinds of
cuts are compared with it: into two deltas, into deltas of 1 … k + 1 tokens as speculation makes
them, and everything in one delta (which only a client without streaming would see; it alone is a
warning). White space that comes or goes, as around calls, is a warning too. A difference between
the reference and the non-streaming parse is the parser's own fault and not speculation's; a
difference by the cut is what speculation makes of a parser.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from checks import findings as f
from checks.excerpt import excerpt
from checks.findings import WARNING, Finding
from checks.splits.cuts import Cut, deltas, near_markup, one_by_one, random_cuts, smallest, two_way
from checks.splits.parse_result import ParseResult

TWO_WAY, RANDOM, SINGLE, GIVEN = "two-way", "random", "one delta", "given"
NEAREST = (GIVEN, RANDOM, TWO_WAY, SINGLE)
"""Kinds of cuts, the nearest to what speculation sends first."""
SHORT = 600
"""Outputs up to this many tokens are cut in two at every place, longer ones near markup only."""
TRIES = 2000
"""So many parses are spent on shrinking a failing cut; what is left may not be the smallest."""

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
    to what speculation sends, whose steps commit up to `largest` tokens (`None`: not known)."""

    pieces: tuple[str, ...]
    reference: ParseResult
    whole: ParseResult | None
    tried: dict[str, int] = field(default_factory=dict)
    failed: dict[str, int] = field(default_factory=dict)
    failure: SplitFailure | None = None
    largest: int | None = None

    @property
    def invariant(self) -> bool:
        """No cut changes the result."""
        return self.failure is None

    @property
    def single_only(self) -> bool:
        """Only the whole output in one delta changes it."""
        return self.failure is not None and self.failure.kind == SINGLE

    @property
    def space_only(self) -> bool:
        """Only white space differs, whatever the cut."""
        return self.failure is not None and self.failure.result.same_but_for_space(self.reference)

    @property
    def minor(self) -> bool:
        """A difference that is a warning."""
        return self.single_only or self.space_only

    @property
    def parser_fault(self) -> str | None:
        """How streaming, one token at a time, differs from not streaming."""
        if self.whole is None or self.reference.same_but_for_space(self.whole):
            return None
        return self.reference.difference(self.whole)

    def findings(self) -> Iterator[Finding]:
        """SPLIT_VARIANT, once; a warning where only one single delta, or white space, differs."""
        if self.failure is None:
            return
        how = self.failure.result.difference(self.reference)
        yield Finding(
            f.SPLIT_VARIANT,
            f"{how} when {joined_words(self.pieces, self.failure.cut)}{self._reach()}",
            severity=WARNING if self.minor else "",
            baseline=str(self.reference.as_json()),
            candidate=str(self.failure.result.as_json()),
            detail={
                "cut": list(self.failure.cut),
                "kind": self.failure.kind,
                "failed": self.failed,
                "tried": self.tried,
            },
        )

    def _reach(self) -> str:
        """Whether one engine step sends so many tokens at once."""
        if self.failure is None or self.largest is None or self.failure.kind == SINGLE:
            return ""
        longest = max(end - start for start, end in deltas(len(self.pieces), self.failure.cut))
        if longest <= self.largest:
            return f", as one step of up to {self.largest} tokens sends it"
        return f"; a step sends up to {self.largest} tokens, so several must be sent together"

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
            "space_only": self.space_only,
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
    short: int = SHORT,
    tries: int = TRIES,
) -> SplitJudgement:
    """Cut an output every way: in two, at random into deltas of 1 … `largest` tokens, not at all.

    `pieces` are the texts its tokens add; `stream` parses it under a cut. Outputs longer than
    `short` are cut in two near markup only; at most `tries` parses are spent on shrinking.
    """
    size = len(pieces)
    places = None if size <= short else near_markup(pieces)
    kinds: list[tuple[str, Iterable[Cut]]] = [
        (TWO_WAY, two_way(size, places)),
        (RANDOM, random_cuts(size, largest, count, seed)),
        (SINGLE, [()] if size > 1 else []),
    ]
    return _judge(pieces, stream, whole, kinds, largest, tries)


def judge_given(pieces: Sequence[str], stream: Stream, cuts: Sequence[Cut]) -> SplitJudgement:
    """Try the cuts a case file names."""
    kinds = [(GIVEN, [cut for cut in cuts if cut]), (SINGLE, [cut for cut in cuts if not cut])]
    return _judge(pieces, stream, None, kinds, None, TRIES)


def _judge(
    pieces: Sequence[str],
    stream: Stream,
    whole: ParseResult | None,
    kinds: Sequence[tuple[str, Iterable[Cut]]],
    largest: int | None,
    tries: int,
) -> SplitJudgement:
    size = len(pieces)
    reference = stream(one_by_one(size))

    def differs(cut: Cut) -> bool:
        return not stream(cut).same(reference)

    def differs_by_more_than_space(cut: Cut) -> bool:
        return not stream(cut).same_but_for_space(reference)

    wrong: dict[str, list[Cut]] = {}
    grave: dict[str, list[Cut]] = {}
    tried: dict[str, int] = {}
    for kind, cuts in kinds:
        every = list(cuts)
        tried[kind] = len(every)
        wrong[kind] = [cut for cut in every if differs(cut)]
        grave[kind] = [cut for cut in wrong[kind] if differs_by_more_than_space(cut)]
    failed = {kind: len(found) for kind, found in wrong.items()}
    failure = _nearest(size, stream, grave, differs_by_more_than_space, tries) or _nearest(
        size, stream, wrong, differs, tries
    )
    return SplitJudgement(tuple(pieces), reference, whole, tried, failed, failure, largest)


def _nearest(
    size: int,
    stream: Stream,
    wrong: Mapping[str, Sequence[Cut]],
    differs: Callable[[Cut], bool],
    tries: int,
) -> SplitFailure | None:
    """The failing cut of the kind that is nearest to what speculation sends, made small."""
    kind = next((kind for kind in NEAREST if wrong.get(kind)), None)
    if kind is None:
        return None
    # The most cuts leave the fewest joined tokens to try.
    cut = max(wrong[kind], key=len)
    cut = cut if kind == SINGLE else smallest(size, cut, differs, tries)
    return SplitFailure(kind, cut, stream(cut))


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
