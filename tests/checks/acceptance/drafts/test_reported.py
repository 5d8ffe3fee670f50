"""Reported draft ids: an engine that knows its drafts is followed step by step, or refused."""

from dataclasses import dataclass, field, replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from checks.acceptance.drafting import Drafting
from checks.acceptance.drafts.align import align
from checks.acceptance.drafts.reported import place
from checks.acceptance.positions import join
from checks.acceptance.steps import StepFacts, Steps, Unaligned
from traces.boundaries.span import TokenLabels
from traces.wire.response import Chunk, Response, Speculation, Token, Usage

TOKENS = st.integers(0, 3)


@dataclass
class Engine:
    """Runs a request as vLLM does and keeps what a server with draft ids reports; `true` holds the
    steps as they were: tokens committed and drafted ids."""

    output: list[int]
    accepted: list[int] = field(default_factory=list)
    drafted: list[int] = field(default_factory=list)
    ids: list[list[int]] = field(default_factory=list)
    first: list[int] = field(default_factory=list)
    true: list[tuple[int, tuple[int, ...]]] = field(default_factory=list)
    at: int = 0

    def report(self, drafted: int, accepted: int, ids: list[int]) -> None:
        self.drafted.append(drafted)
        self.accepted.append(accepted)
        self.ids.append(ids)
        self.first.append(self.at)

    def commit(self, tokens: int, draft: tuple[int, ...] = ()) -> None:
        tokens = min(tokens, len(self.output) - self.at)
        self.true.append((tokens, draft))
        self.at += tokens

    def padded(self, k: int) -> None:
        """A prefill of one token, padded by placeholders."""
        self.report(k, 0, [-1] * k)
        self.commit(1)

    def step(self, draft: list[int], ruled_out: int) -> None:
        """One decode step; a grammar ruled out so many more drafts. The target goes on behind the
        end of the output as the draft does, as it may where a stop ends it."""
        taken = 0
        rest = self.output[self.at :]
        while taken < len(draft) and (taken >= len(rest) or draft[taken] == rest[taken]):
            taken += 1
        if draft or ruled_out:
            self.report(len(draft), taken, [*draft, *[-1] * ruled_out])
        self.commit(taken + 1, tuple(draft))

    def facts(self) -> StepFacts:
        chunks = tuple(tokens for tokens, _ in self.true)
        return StepFacts(tuple(self.accepted), tuple(self.drafted), len(self.output), chunks)

    def place(self, **more: bool) -> Steps | Unaligned:
        return place(self.facts(), self.ids, self.first, self.output, **more)


@settings(max_examples=300, deadline=None)
@given(st.data(), st.lists(TOKENS, min_size=1, max_size=30), st.booleans(), st.booleans())
def test_an_engine_that_knows_its_drafts_is_followed(
    data: st.DataObject, output: list[int], padded: bool, sampled: bool
) -> None:
    """Steps that draft, that do not (K = 0), that lose drafts to a grammar, that run past the end,
    and prefills of a preempted request, padded or not."""
    engine = Engine(output)
    if padded:
        engine.padded(3)
    else:
        engine.commit(1)
    while engine.at < len(output):
        kind = data.draw(st.sampled_from(["decode", "decode", "decode", "resumed", "padded"]))
        if kind == "decode":
            draft = data.draw(st.lists(TOKENS, max_size=4))
            engine.step(draft, data.draw(st.sampled_from([0, 0, 1, 2])))
        elif kind == "padded":
            engine.padded(3)
        else:
            engine.commit(1)
    found = engine.place(sampled=sampled)
    assert isinstance(found, Steps), found
    assert found.committed.tolist() == [tokens for tokens, _ in engine.true]
    if engine.accepted:
        assert found.draft_ids == tuple(draft for _, draft in engine.true)
        drafts = found.draft_of_token or ()
        accepted = [
            int(found.first[s]) + i
            for s in range(len(found))
            for i in range(min(int(found.accepted[s]), int(found.committed[s])))
        ]
        assert [drafts[i] for i in accepted] == [output[i] for i in accepted]


@settings(max_examples=300, deadline=None)
@given(st.data(), st.lists(TOKENS, min_size=4, max_size=20))
def test_a_report_that_does_not_match_the_output_is_refused(
    data: st.DataObject, output: list[int]
) -> None:
    """One accepted draft is made another token, or one place is moved: no reading is left."""
    engine = Engine(output)
    engine.commit(1)
    while engine.at < len(output):
        engine.step([*output[engine.at : engine.at + 2], 9], 0)
    entry = data.draw(st.integers(0, len(engine.ids) - 1))
    if data.draw(st.booleans()):
        engine.ids[entry][0] = 7
    else:
        engine.first[entry] += data.draw(st.sampled_from([-1, 1, 100]))
    found = engine.place()
    assert isinstance(found, Unaligned), found
    assert found.reason in ("drafts_differ", "chunk_inside_step")


OUTPUT = [1, 2, 3, 4, 9]
"""1 from the prefill; 2 alone; 3 and 4 of the draft 3 4 5, and 9 in place of the 5."""
FACTS = StepFacts((2,), (3,), 5, (1, 1, 3))


def test_steps_without_drafts_are_placed() -> None:
    found = place(FACTS, [(3, 4, 5)], [2], OUTPUT)
    assert isinstance(found, Steps)
    assert found.committed.tolist() == [1, 1, 3]
    assert found.draft_ids == ((), (), (3, 4, 5))
    assert found.draft_of_token == (-1, -1, 3, 4, 5)


@pytest.mark.parametrize(
    ("facts", "ids", "first", "reason"),
    [
        (FACTS, [(3, 4, 5)], [0], "drafts_differ"),  # on the prefill
        (FACTS, [(3, 4, 5)], [5], "drafts_differ"),  # behind the output
        (FACTS, [(3, 5, 5)], [2], "drafts_differ"),  # another token was committed
        (FACTS, [(3, 4, 9)], [2], "drafts_differ"),  # the rejected draft was committed
        (FACTS, [(3, 4)], [2], "drafts_differ"),  # fewer ids than drafts
        (FACTS, [(3, 4, 5, 6)], [2], "drafts_differ"),  # more, and none ruled out
        (FACTS, [(3, -1, -1)], [2], "drafts_differ"),  # fewer than were drafted
        (FACTS, [(3, 4, -1)], [2], "drafts_differ"),
        (FACTS, [], [2], "arrays_differ"),
        (FACTS, [(3, 4, 5)], [], "arrays_differ"),
        (replace(FACTS, completion=6), [(3, 4, 5)], [2], "ids_missing"),
        (replace(FACTS, chunks=(1, 2, 2)), [(3, 4, 5)], [2], "chunk_inside_step"),
        (replace(FACTS, chunks=None), [(3, 4, 5)], [2], "no_chunk_counts"),
    ],
)
def test_what_does_not_match_is_unaligned(
    facts: StepFacts, ids: list[tuple[int, ...]], first: list[int], reason: str
) -> None:
    found = place(facts, ids, first, OUTPUT)
    assert isinstance(found, Unaligned)
    assert found.reason == reason


@pytest.mark.parametrize("ids", [(), (-1, -1, -1)])
def test_an_asynchronous_scheduler_shows_no_drafts(ids: tuple[int, ...]) -> None:
    found = place(FACTS, [ids], [2], OUTPUT)
    assert isinstance(found, Unaligned)
    assert found.reason == "draft_ids_unknown"
    if not ids:
        none_accepted = StepFacts((0,), (3,), 2, (1, 1))
        assert isinstance(place(none_accepted, [ids], [1], [1, 2]), Unaligned)


def test_a_rejected_draft_that_was_drawn_again_is_read_where_tokens_are_sampled() -> None:
    found = place(FACTS, [(3, 4, 9)], [2], OUTPUT, sampled=True)
    assert isinstance(found, Steps)
    assert found.draft_of_token == (-1, -1, 3, 4, 9)


def test_a_draft_that_a_grammar_ruled_out_is_no_draft() -> None:
    found = place(StepFacts((2,), (2,), 5, (1, 1, 3)), [(3, 4, -1)], [2], OUTPUT)
    assert isinstance(found, Steps)
    assert found.drafted.tolist() == [0, 0, 2]
    assert found.draft_of_token == (-1, -1, 3, 4, -1)


def response(ids: tuple[tuple[int, ...], ...] | None, first: tuple[int, ...] | None) -> Response:
    speculation = Speculation((2,), (3,), {}, ids, first)
    tokens = [Token(i, str(i), None, ()) for i in OUTPUT]
    chunks = tuple(Chunk(0.0, n, n, True) for n in (1, 1, 3))
    return Response(
        200, "", "", (), "stop", tokens, (1, 2), Usage(2, 5), speculation, chunks, done=True
    )


def test_reported_ids_come_before_counts() -> None:
    """By the counts alone a step without drafts may stand anywhere."""
    drafting = Drafting("suffix", 3)
    found = align(response(((3, 4, 5),), (2,)), drafting)
    assert isinstance(found, Steps)
    assert found.committed.tolist() == [1, 1, 3]
    by_count = align(response(None, None), drafting)
    assert isinstance(by_count, Unaligned)
    assert by_count.reason == "ambiguous"


def test_the_store_gets_the_ids_of_reached_and_of_unreached_drafts() -> None:
    """One row per draft, in order: 3 and 4 were accepted, 5 was rejected; 9 was behind it."""
    facts = StepFacts((2,), (4,), 5, (1, 1, 3))
    steps = place(facts, [(3, 4, 5, 9, -1)], [2], OUTPUT)
    assert isinstance(steps, Steps)
    labels = TokenLabels(np.zeros(5, np.int8), (None,) * 5, (None,) * 5)
    rows = join(steps, labels, 9).columns()
    assert rows["draft_id"].tolist() == [3, 4, 5, 9]
    assert rows["accepted"].tolist() == [True, True, False, False]
    assert rows["token_index"].tolist() == [2, 3, 4, None]


@pytest.mark.parametrize(
    ("config", "one_hot"),
    [
        ({}, False),  # an attached server: nothing is known of its drafter
        ({"method": "eagle3"}, True),
        ({"model": "drafter"}, True),
        ({"method": "eagle3", "draft_sample_method": "greedy"}, True),
        ({"method": "eagle3", "draft_sample_method": "probabilistic"}, False),
        ({"method": "ngram", "draft_sample_method": "probabilistic"}, True),
        ({"method": "ngram", "rejection_sample_method": "block"}, False),
        ({"method": "eagle3", "rejection_sample_method": "standard"}, True),
    ],
)
def test_drafts_are_tested_by_their_distribution_where_they_are_one_hot(
    config: dict[str, str], one_hot: bool
) -> None:
    assert Drafting.from_config(config).one_hot is one_hot
