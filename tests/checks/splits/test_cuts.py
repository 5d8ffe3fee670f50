"""Cuts, their shrinking, and the judgement of a parser with a known cut fault."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from checks.splits.cuts import deltas, near_markup, one_by_one, random_cuts, smallest, two_way
from checks.splits.judge import RANDOM, SINGLE, TWO_WAY, judge_given, judge_splits
from checks.splits.parse_result import ParseResult

PIECES = ("I", " look", ".", "<call>", "ls", "</call>", "\n", "<call>", "cat", "</call>")


def texts(cut: tuple[int, ...]) -> list[str]:
    return ["".join(PIECES[a:b]) for a, b in deltas(len(PIECES), cut)]


def sound(cut: tuple[int, ...]) -> ParseResult:
    """A parser that looks at the whole text."""
    text = "".join(texts(cut))
    calls = tuple((part.split("</call>")[0], "{}") for part in text.split("<call>")[1:])
    return ParseResult(text.split("<call>")[0], "", calls)


def faulty(cut: tuple[int, ...]) -> ParseResult:
    """A parser that loses a call whose markers come in one delta."""
    whole = sound(cut)
    lost = {text for text in texts(cut) if "<call>" in text and "</call>" in text}
    return ParseResult(whole.content, "", tuple(c for c in whole.calls if not _in(c[0], lost)))


def _in(name: str, deltas_: set[str]) -> bool:
    return any(f"<call>{name}</call>" in text for text in deltas_)


@given(st.integers(1, 60), st.integers(1, 6), st.integers(0, 99))
def test_random_cuts_are_cuts(tokens: int, largest: int, seed: int) -> None:
    for cut in random_cuts(tokens, largest, 5, seed):
        assert list(cut) == sorted(set(cut))
        sizes = [end - start for start, end in deltas(tokens, cut)]
        assert sum(sizes) == tokens
        assert all(1 <= size <= largest for size in sizes)
    assert list(random_cuts(tokens, largest, 5, seed)) == list(
        random_cuts(tokens, largest, 5, seed)
    )


def test_the_simple_cuts() -> None:
    assert one_by_one(4) == (1, 2, 3)
    assert list(two_way(4)) == [(1,), (2,), (3,)]
    assert list(deltas(4, ())) == [(0, 4)]
    assert near_markup(["a", "b", "<", "c", "d"], reach=0) == [2, 3]


@given(st.integers(0, 900), st.integers(40, 700))
def test_places_near_real_markup_are_kept_of_too_many(place: int, most: int) -> None:
    code = ['{"'] * 900
    pieces = [*code[:place], "<tool", "_call>", *code[place:]]
    found = near_markup(pieces, reach=3, most=most)
    assert found == sorted(set(found))
    assert len(found) <= most
    assert all(0 < at < len(pieces) for at in found)
    wanted = {at for at in range(place - 3, place + 4) if 0 < at < len(pieces)}
    assert wanted <= set(found)
    assert len(found) > most // 3


@given(st.sets(st.integers(1, 29)), st.integers(0, 28), st.integers(1, 3))
def test_the_smallest_cut_is_minimal(cut: set[int], at: int, width: int) -> None:
    """The fault: the tokens `at` … `at + width` arrive together."""
    inside = set(range(at + 1, min(at + width, 29) + 1))

    def differs(some: tuple[int, ...]) -> bool:
        return not inside & set(some)

    start = tuple(sorted(cut - inside))
    assert set(one_by_one(30)) - set(smallest(30, start, differs)) == inside


def test_a_sound_parser_is_invariant() -> None:
    judged = judge_splits(PIECES, sound, sound(()), largest=4, count=40, seed=1)
    assert judged.invariant
    assert judged.parser_fault is None
    assert judged.tried == {TWO_WAY: 9, RANDOM: 40, SINGLE: 1}
    assert list(judged.findings()) == []


def test_a_cut_fault_is_shrunk_to_the_tokens_that_must_come_together() -> None:
    judged = judge_splits(PIECES, faulty, sound(()), largest=4, count=40, seed=1)
    (finding,) = judged.findings()
    assert (finding.code, finding.severity) == ("SPLIT_VARIANT", "error")
    assert finding.detail["kind"] == RANDOM
    together = set(one_by_one(len(PIECES))) - set(finding.detail["cut"])
    assert together in ({4, 5}, {8, 9})
    assert "calls lost" in finding.message
    assert "</call>' arrives in one delta" in finding.message


def test_only_one_single_delta_is_a_warning() -> None:
    def fussy(cut: tuple[int, ...]) -> ParseResult:
        return sound(cut) if cut else ParseResult("".join(PIECES))

    judged = judge_splits(PIECES, fussy, sound(()), largest=4, count=20, seed=1)
    assert judged.single_only
    assert [finding.severity for finding in judged.findings()] == ["warning"]
    assert [f.severity for f in judge_given(PIECES, fussy, [()]).findings()] == ["warning"]
    assert list(judge_given(PIECES, fussy, [(3,)]).findings()) == []


def test_a_parser_that_streams_otherwise_than_it_parses_is_the_parsers_fault() -> None:
    judged = judge_splits(PIECES, sound, ParseResult("other"), largest=2, count=3, seed=1)
    assert judged.invariant
    assert judged.parser_fault == "calls added"


@pytest.mark.parametrize(
    ("result", "expected"),
    [
        (ParseResult("a", "b", (("f", '{"x": 1}'),)), None),
        (ParseResult("a\n", "b ", (("f", '{"x":1.0}'),)), None),
        (ParseResult("A", "b", (("f", '{"x": 1}'),)), "other content"),
        (ParseResult("a", "B", (("f", '{"x": 1}'),)), "other reasoning"),
        (ParseResult("a", "b", (("g", '{"x": 1}'),)), "another name"),
        (ParseResult("a", "b", (("f", '{"x": "1"}'),)), "other arguments"),
        (ParseResult("a", "b", ()), "calls lost"),
        (ParseResult("a", "b", (("f", "{}"), ("f", "{}"))), "calls added"),
        (ParseResult(error="ValueError: no"), "raises ValueError: no"),
    ],
)
def test_results_compare_by_value(result: ParseResult, expected: str | None) -> None:
    reference = ParseResult("a", "b", (("f", '{"x": 1}'),))
    assert result.same(reference) is (expected is None)
    if expected is not None:
        assert result.difference(reference) == expected
