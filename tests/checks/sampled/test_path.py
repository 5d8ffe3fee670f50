"""Which sampler a verdict about sampled turns is about."""

from dataclasses import replace

from checks.sampled.path import sampler_statement
from checks.sampled.turn import SampledTurn, ScoredTurn, score_turn

WHOLE = ScoredTurn("s", "t", None)
CUT = replace(WHOLE, cut=True)


def test_no_sampled_turn_no_statement() -> None:
    assert sampler_statement([], ["raw_logprobs"]) is None


def test_without_seeds_and_with_raw_logprobs_the_fast_one_may_run() -> None:
    said = sampler_statement([CUT, WHOLE], ["raw_logprobs"])
    assert said == (
        "2 sampled turns, 1 of them with top-p or top-k: vLLM's fast sampler was exercised where "
        "its platform has one"
    )
    attached = sampler_statement([CUT], [None])
    assert attached is not None
    assert attached.endswith("unless a server's own flags keep it off")


def test_a_seed_or_processed_logprobs_keep_vllm_from_it() -> None:
    seeded = sampler_statement([CUT, replace(CUT, seed=0)], ["raw_logprobs"])
    assert seeded is not None
    assert "native sampler was exercised, not its fast one (1 bring a seed)" in seeded
    processed = sampler_statement([CUT], ["raw_logprobs", "processed_logprobs"])
    assert processed is not None
    assert "(a server reports processed log probabilities)" in processed
    nothing_cut = sampler_statement([WHOLE], ["raw_logprobs"])
    assert nothing_cut is not None
    assert "native sampler" in nothing_cut


def test_what_the_request_cuts_and_seeds() -> None:
    def scored(**sampling: object) -> ScoredTurn:
        return score_turn(SampledTurn("s", "t", {"temperature": 1.0, **sampling}, None), 0)

    assert [scored(top_p=p).cut for p in (None, 1.0, 0.9)] == [False, False, True]
    assert [scored(top_k=k).cut for k in (None, 0, -1, 20)] == [False, False, False, True]
    assert [scored(seed=seed).seed for seed in (None, 0)] == [None, 0]
