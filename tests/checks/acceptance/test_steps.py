"""Reconciliation of engine steps with tokens: exact where the facts decide, silent where not."""

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from checks.acceptance.drafting import Drafting
from checks.acceptance.steps import StepFacts, Steps, Unaligned, reconcile, step_facts
from traces.wire.response import Chunk, Response, Speculation, Usage

EAGLE = Drafting("eagle3", 3)
NGRAM = Drafting("ngram", 3, 2, 4)


def facts(
    accepted: tuple[int, ...],
    completion: int,
    chunks: tuple[int, ...] | None,
    drafted: tuple[int, ...] | None = None,
    **more: int | None,
) -> StepFacts:
    return StepFacts(accepted, drafted or (3,) * len(accepted), completion, chunks, **more)


def aligned(result: Steps | Unaligned) -> Steps:
    assert isinstance(result, Steps), result
    return result


def reason(result: Steps | Unaligned) -> str:
    assert isinstance(result, Unaligned)
    return result.reason


def test_prefill_then_steps() -> None:
    steps = aligned(reconcile(facts((2, 0, 3), 9, (1, 3, 1, 4)), EAGLE))
    assert steps.committed.tolist() == [1, 3, 1, 4]
    assert steps.first.tolist() == [0, 1, 4, 5]
    assert steps.drafted.tolist() == [0, 3, 3, 3]
    assert steps.reported.tolist() == [False, True, True, True]
    assert steps.of_token.tolist() == [0, 1, 1, 1, 2, 3, 3, 3, 3]


@pytest.mark.parametrize("chunks", [(9,), (4, 5), (1, 4, 4), (1, 3, 5)])
def test_chunks_may_merge_adjacent_steps(chunks: tuple[int, ...]) -> None:
    assert aligned(reconcile(facts((2, 0, 3), 9, chunks), EAGLE)).committed.tolist() == [1, 3, 1, 4]


@pytest.mark.parametrize("chunks", [(2, 7), (1, 2, 6), (1, 3, 1, 3, 1)])
def test_a_chunk_that_ends_inside_a_step_contradicts(chunks: tuple[int, ...]) -> None:
    assert reason(reconcile(facts((2, 0, 3), 9, chunks), EAGLE)) == "chunk_inside_step"


def test_the_last_step_may_overshoot_the_end() -> None:
    steps = aligned(reconcile(facts((2, 3), 6, (1, 3, 2)), EAGLE))
    assert steps.committed.tolist() == [1, 3, 2]
    assert steps.accepted.tolist() == [0, 2, 3]


def test_the_last_step_commits_at_least_one_token() -> None:
    assert aligned(reconcile(facts((2, 3), 5, (1, 3, 1)), EAGLE)).committed.tolist() == [1, 3, 1]
    assert reason(reconcile(facts((2, 3), 4, (1, 3)), EAGLE)) == "counts"


def test_too_many_tokens_for_a_drafter_that_drafts_each_step() -> None:
    """A preemption's prefill, or a sequence too long for the drafter: where is not known."""
    assert reason(reconcile(facts((2, 0, 3), 10, (1, 3, 1, 4, 1)), EAGLE)) == "counts"


def test_skipped_steps_are_never_placed_by_chunk_shape() -> None:
    assert reason(reconcile(facts((2,), 6, (1, 1, 3, 1)), NGRAM)) == "ambiguous"


def test_a_skipping_drafter_aligns_where_nothing_can_have_been_skipped() -> None:
    assert aligned(reconcile(facts((2, 0), 5, (1, 3, 1)), NGRAM)).committed.tolist() == [1, 3, 1]


def test_skipped_and_trimmed_look_the_same() -> None:
    """5 tokens: 1 + 3 + 1 with nothing trimmed, or one skipped and one trimmed."""
    assert reason(reconcile(facts((0, 2), 5, (1, 1, 3)), NGRAM)) == "ambiguous"
    assert aligned(reconcile(facts((0, 2), 5, (1, 1, 3)), EAGLE)).committed.tolist() == [1, 1, 3]


def test_padded_prefill_after_a_full_cache_hit() -> None:
    """First entry: k drafted, none accepted, and no prefill token besides."""
    said = facts((0, 2, 0), 5, (1, 3, 1), prompt=33, cached=32)
    steps = aligned(reconcile(said, EAGLE))
    assert steps.committed.tolist() == [1, 3, 1]
    assert steps.reported.tolist() == [False, True, True]


def test_no_padded_prefill_without_a_full_cache_hit() -> None:
    said = facts((0, 2, 1), 6, (1, 1, 3, 1), prompt=33, cached=16)
    assert aligned(reconcile(said, EAGLE)).committed.tolist() == [1, 1, 3, 1]


def test_a_padded_prefill_that_may_or_may_not_be_is_not_guessed() -> None:
    """1 + 3 + 2 after a padded prefill, or 1 + 1 + 3 + 1 with one token trimmed."""
    for chunks in [(1, 3, 2), (1, 1, 3, 1), (6,)]:
        assert reason(reconcile(facts((0, 2, 1), 6, chunks), EAGLE)) == "ambiguous"


def test_without_drafts_each_token_is_a_step() -> None:
    steps = aligned(reconcile(facts((), 4, (2, 2)), NGRAM))
    assert steps.committed.tolist() == [1, 1, 1, 1]
    assert not steps.reported.any()


def test_the_stream_must_carry_every_token() -> None:
    assert reason(reconcile(facts((2,), 4, (1, 2)), EAGLE)) == "ids_missing"
    assert reason(reconcile(facts((2,), 4, None), EAGLE)) == "no_chunk_counts"
    assert reason(reconcile(facts((), 0, None), EAGLE)) == "no_tokens"


def response(speculation: Speculation | None, usage: Usage | None = None) -> Response:
    chunks = (Chunk(1.0, None, None, True), Chunk(2.0, 1, 1, True), Chunk(3.0, 3, 3, True))
    usage = usage or Usage(10, 4, 0)
    return Response(200, "", "", (), "stop", None, None, usage, speculation, chunks, done=True)


def test_facts_of_a_response() -> None:
    said = step_facts(response(Speculation((2,), (3,), {"num_spec_steps": 1})))
    assert said == StepFacts((2,), (3,), 4, (1, 3), 10, 0)


@pytest.mark.parametrize(
    ("speculation", "expected"),
    [
        (None, "no_metrics"),
        (Speculation(None, None, {"num_spec_steps": 3}), "summary_only"),
        (Speculation((1, 2), (3,), {}), "arrays_differ"),
        (Speculation((4,), (3,), {}), "accepted_above_drafted"),
    ],
)
def test_what_a_response_may_lack(speculation: Speculation | None, expected: str) -> None:
    found = step_facts(response(speculation))
    assert isinstance(found, Unaligned)
    assert found.reason == expected


def test_null_arrays_are_a_response_without_drafts() -> None:
    said = step_facts(response(Speculation(None, None, {"num_spec_steps": 0})))
    assert said == StepFacts((), (), 4, (1, 3), 10, 0)


@settings(max_examples=300, deadline=None)
@given(
    st.integers(1, 6), st.lists(st.integers(0, 6), max_size=30), st.randoms(use_true_random=False)
)
def test_what_an_engine_did_is_found_again(k: int, draws: list[int], chance: random.Random) -> None:
    """An engine that drafts each step, its last step trimmed, its chunks merged at random."""
    accepted = [min(a, k) for a in draws]
    committed = [1, *(a + 1 for a in accepted)]
    if accepted and accepted[-1]:
        committed[-1] -= chance.randint(0, accepted[-1])
    chunks: list[int] = []
    for count in committed:
        if chunks and chance.random() < 0.3:
            chunks[-1] += count
        else:
            chunks.append(count)
    said = StepFacts(
        tuple(accepted), (k,) * len(accepted), sum(committed), tuple(chunks), prompt=64, cached=32
    )
    steps = aligned(reconcile(said, Drafting("eagle3", k)))
    assert steps.committed.tolist() == committed
    assert steps.accepted.tolist() == [0, *accepted]
