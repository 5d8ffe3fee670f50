"""The cases cut in new ways: faults stay caught by their codes, and sound twins silent."""

import copy
import random
from collections import Counter

from evidence.attacks.variants import (
    CHANGES,
    codes_of,
    judged,
    later,
    rechunk,
    sampled,
    scenarios,
    variants,
    without_ids,
)
from traces.wire.reassembly import response_of_chunks

COUNT = 400


def test_variants_are_judged_as_their_scenarios() -> None:
    """`python -m evidence.attacks.variants` makes thousands; docs/evidence.md has the figures."""
    wrong = []
    seen: Counter[tuple[str, bool]] = Counter()
    for name, changes, scenario in variants(COUNT, seed=23):
        expected, found = codes_of(scenario), judged(scenario)
        seen.update((change, bool(expected)) for change in changes)
        if found != expected:
            wrong.append((name, changes, sorted(found), sorted(expected)))
    assert wrong == []
    assert set(seen) == {(change, faulty) for change in CHANGES for faulty in (True, False)}
    assert min(seen.values()) > COUNT / 20


def test_variants_are_many_and_different() -> None:
    made = [scenario for _, _, scenario in variants(50, seed=1)]
    assert len({repr(scenario) for scenario in made}) == 50
    assert made == [scenario for _, _, scenario in variants(50, seed=1)]


def test_cutting_changes_the_chunks_and_nothing_a_client_reads() -> None:
    rng, changed = random.Random(5), 0
    for _, scenario in scenarios():
        before = copy.deepcopy((scenario.get("candidate") or {}).get("chunks"))
        if not before or not rechunk(scenario, rng):
            continue
        after = scenario["candidate"]["chunks"]
        changed += 1
        assert after != before
        assert read(after) == read(before)
    assert changed > 40


def read(chunks: list[dict]) -> tuple[object, ...]:
    response = response_of_chunks(chunks, done=True)
    calls = [(call.index, call.name, call.arguments) for call in response.tool_calls]
    return response.content, response.reasoning, calls, response.finish_reason, response.usage


def test_a_fault_whose_evidence_is_taken_away_is_found_no_more() -> None:
    """What the generator must not do, so that its expectations mean something."""
    (scenario,) = [s for name, s in scenarios() if name == "scores-shifted: bad"]
    assert judged(scenario) == {"LOGPROBS_SHIFTED"}
    assert not without_ids(scenario, random.Random(0)), "its scores are the evidence"
    for token in scenario["candidate"]["tokens"]:
        del token["logprob"]
    assert judged(scenario) == frozenset()


def test_words_in_front_go_into_texts_tokens_and_counts_alike() -> None:
    for name, scenario in scenarios():
        if name != "scores-shifted: good":
            continue
        tokens = len(scenario["candidate"]["tokens"])
        assert later(scenario, random.Random(0))
        more = len(scenario["candidate"]["tokens"]) - tokens
        assert more > 0
        assert scenario["candidate"]["chunks"][-1]["usage"]["completion_tokens"] == tokens + more
        spelled = "".join(token["text"] for token in scenario["baseline"]["tokens"])
        assert spelled == scenario["baseline"]["message"]["content"]
        assert sampled(scenario, random.Random(0))
        assert judged(scenario) == frozenset()
