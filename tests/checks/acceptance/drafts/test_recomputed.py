"""n-gram drafts recomputed: steps without drafts get their place, drafts get their ids."""

from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from checks.acceptance.drafting import Drafting
from checks.acceptance.drafts.recomputed import recompute
from checks.acceptance.steps import StepFacts, Steps, Unaligned
from checks.vllm.ngram import ngram_proposer

LOOKUP = Drafting("ngram", 3, 2, 2, 1000)


def bigram(tokens: Sequence[int]) -> Sequence[int]:
    """What follows the earliest earlier occurrence of the last two ids, 3 ids at most."""
    for i in range(len(tokens) - 2):
        if list(tokens[i : i + 2]) == list(tokens[-2:]):
            return tokens[i + 2 : i + 5]
    return ()


def facts(
    accepted: tuple[int, ...], drafted: tuple[int, ...], chunks: tuple[int, ...], **more: int
) -> StepFacts:
    return StepFacts(accepted, drafted, sum(chunks), chunks, **more)


def test_steps_without_drafts_are_placed() -> None:
    """Prompt 1 2 3 4 5; output 1 2 | 3 4 9: 1 alone, 2 alone, then 3 4 of the draft 3 4 5."""
    found = recompute(
        facts((2,), (3,), (1, 1, 3)), LOOKUP, [1, 2, 3, 4, 5], [1, 2, 3, 4, 9], bigram
    )
    assert isinstance(found, Steps)
    assert found.committed.tolist() == [1, 1, 3]
    assert found.drafted.tolist() == [0, 0, 3]
    assert found.draft_ids == ((), (), (3, 4, 5))


def test_accepted_past_the_end() -> None:
    """The output ends inside the accepted draft; what was accepted past it is only counted."""
    found = recompute(facts((3,), (3,), (1, 1, 2)), LOOKUP, [1, 2, 3, 4, 5], [1, 2, 3, 4], bigram)
    assert isinstance(found, Steps)
    assert found.committed.tolist() == [1, 1, 2]
    assert found.accepted.tolist() == [0, 0, 3]


def test_a_draft_cut_short() -> None:
    found = recompute(
        facts((2,), (2,), (1, 1, 3)), LOOKUP, [1, 2, 3, 4, 5], [1, 2, 3, 4, 9], bigram
    )
    assert isinstance(found, Steps)
    assert found.draft_ids == ((), (), (3, 4))


@pytest.mark.parametrize(
    ("accepted", "drafted", "chunks"),
    [
        ((1,), (3,), (1, 1, 3)),  # two of the draft match
        ((2, 0), (3, 3), (1, 1, 3)),  # one entry too many
        ((), (), (1, 1, 2)),  # ids and counts differ
        ((2,), (4,), (1, 1, 3)),  # more drafted than can be proposed
        ((2,), (3,), (1, 2, 2)),  # a chunk ends inside the step
    ],
)
def test_what_does_not_match_is_unaligned(
    accepted: tuple[int, ...], drafted: tuple[int, ...], chunks: tuple[int, ...]
) -> None:
    said = facts(accepted, drafted, chunks)
    found = recompute(said, LOOKUP, [1, 2, 3, 4, 5], [1, 2, 3, 4, 9], bigram)
    assert isinstance(found, Unaligned)


def test_the_padded_prefill_is_recognized_by_the_ids() -> None:
    """First entry 3 drafted, none accepted: the prefill itself, as the drafts that follow show."""
    said = facts((0, 2), (3, 3), (1, 1, 3), prompt=5, cached=4)
    found = recompute(said, LOOKUP, [1, 2, 3, 4, 5], [1, 2, 3, 4, 9], bigram)
    assert isinstance(found, Steps)
    assert found.committed.tolist() == [1, 1, 3]
    assert found.reported.tolist() == [False, False, True]


@settings(max_examples=200, deadline=None)
@given(
    st.lists(st.integers(0, 3), min_size=4, max_size=30),
    st.lists(st.integers(0, 3), min_size=1, max_size=40),
    st.booleans(),
)
def test_an_engine_with_this_proposer_is_followed(
    prompt: list[int], stream: list[int], padded: bool
) -> None:
    """Run the speculative loop on `stream` as the target's own tokens; its arrays must align."""
    accepted, drafted, committed, drafts = ([0], [3], [1], []) if padded else ([], [], [1], [])
    at = 1
    while at < len(stream):
        draft = list(bigram([*prompt, *stream[:at]]))
        taken = 0
        while draft and taken < len(draft) and at + taken < len(stream):
            if draft[taken] != stream[at + taken]:
                break
            taken += 1
        commit = min(taken + 1, len(stream) - at)
        if draft:
            accepted.append(taken)
            drafted.append(len(draft))
            drafts.append(tuple(draft))
        committed.append(commit)
        at += commit
    said = StepFacts(
        tuple(accepted),
        tuple(drafted),
        len(stream),
        tuple(committed),
        prompt=len(prompt),
        cached=len(prompt) - 1 if padded else 0,
    )
    found = recompute(said, LOOKUP, prompt, stream, bigram)
    if isinstance(found, Unaligned):
        assert padded
        assert found.reason == "ambiguous"
        return
    assert found.committed.tolist() == committed
    assert [d for d in found.draft_ids or () if d] == drafts


def test_limits_of_the_lookup_default_as_in_vllm() -> None:
    assert Drafting.from_config({"method": "ngram", "num_speculative_tokens": 4}) == Drafting(
        "ngram", 4, 5, 5
    )
    given = {"method": "ngram", "num_speculative_tokens": 4, "prompt_lookup_max": 3}
    assert Drafting.from_config(given, 512) == Drafting("ngram", 4, 3, 3, 512)
    assert Drafting.from_config({"model": "drafter", "num_speculative_tokens": 3}).every_step
    assert not Drafting.from_config({"method": "suffix"}).every_step
    assert ngram_proposer(Drafting("eagle3", 3)) is None


@pytest.mark.vllm
def test_the_proposer_of_this_vllm_proposes_what_it_always_did() -> None:
    """Pins vLLM's proposer: longest match first, then the earliest, cut at k and model length."""
    pytest.importorskip("vllm")
    propose = ngram_proposer(Drafting("ngram", 3, 2, 3, 20))
    assert propose is not None
    assert propose([1, 2, 3, 4, 5, 1, 2]) == [3, 4, 5]  # a match of two
    assert propose([9, 1, 2, 7, 7, 7, 8, 1, 2, 6, 6, 6, 8, 1, 2]) == [6, 6, 6]  # of three wins
    assert propose([1, 2, 3, 3, 3, 1, 2, 4, 4, 4, 1, 2]) == [3, 3, 3]  # the earliest of two
    assert propose([1, 2, 3, 4, 5, 2]) == []  # one id is below the minimum
    assert propose([5, 5]) == []
    assert propose([1, 2, 9, 1, 2]) == [9, 1, 2]  # to the end of the tokens
    assert propose([1, 2, 3, 4, 5, *range(10, 21), 1, 2]) == [3, 4]  # 20 - 18 left


def test_a_rejected_draft_that_was_drawn_again_is_read_where_tokens_are_sampled() -> None:
    """1 | 2 | 3 in place of the rejected 3 | 9 in place of the rejected 4: a wrong residual."""
    said = facts((0, 0), (3, 3), (1, 1, 1, 1))
    prompt, output = [1, 2, 3, 4, 5], [1, 2, 3, 9]
    found = recompute(said, LOOKUP, prompt, output, bigram, sampled=True)
    assert isinstance(found, Steps)
    assert found.committed.tolist() == [1, 1, 1, 1]
    assert found.draft_of_token == (-1, -1, 3, 4)
    assert isinstance(recompute(said, LOOKUP, prompt, output, bigram), Unaligned)


def test_the_token_after_the_last_accepted_draft_stands_in_place_of_a_draft_or_of_none() -> None:
    rejected = recompute(
        facts((2,), (3,), (1, 1, 3)), LOOKUP, [1, 2, 3, 4, 5], [1, 2, 3, 4, 9], bigram
    )
    bonus = recompute(
        facts((3,), (3,), (1, 1, 4)), LOOKUP, [1, 2, 3, 4, 5], [1, 2, 3, 4, 5, 9], bigram
    )
    assert isinstance(rejected, Steps)
    assert isinstance(bonus, Steps)
    assert rejected.draft_of_token == (-1, -1, 3, 4, 5)
    assert bonus.draft_of_token == (-1, -1, 3, 4, 5, -1)
