"""What a request of each kind carries."""

import pytest

from replay.sending.request import (
    NEUTRAL_SAMPLING,
    TOP_LOGPROBS,
    gate_request,
    plain_request,
    turn_seed,
)

CHAT = {"messages": [{"role": "user", "content": "hi"}], "tools": [{"type": "function"}]}


def test_a_gate_request_asks_for_all_that_vllm_shows() -> None:
    request = gate_request(CHAT, model="m", cache_salt="run1-main", max_tokens=100)
    assert request == {
        **CHAT,
        "model": "m",
        "temperature": 0.0,
        "repetition_penalty": 1.0,
        "presence_penalty": 0.0,
        "frequency_penalty": 0.0,
        "min_p": 0.0,
        "top_p": 1.0,
        "top_k": 0,
        "n": 1,
        "max_tokens": 100,
        "cache_salt": "run1-main",
        "stream": True,
        "stream_options": {"include_usage": True},
        "return_token_ids": True,
        "return_tokens_as_token_ids": True,
        "logprobs": True,
        "top_logprobs": 5,
        "include_reasoning": True,
    }


def test_the_plain_request_differs_in_what_changes_the_stream_only() -> None:
    gate = gate_request(CHAT, model="m", cache_salt="a", max_tokens=100)
    plain = plain_request(CHAT, model="m", cache_salt="a", max_tokens=100)
    assert gate.keys() - plain.keys() == {
        "return_token_ids",
        "return_tokens_as_token_ids",
        "logprobs",
        "top_logprobs",
        "include_reasoning",
    }
    assert all(gate[key] == value for key, value in plain.items())


def test_users_get_the_scores_that_they_asked_for_and_no_others() -> None:
    asked = {**CHAT, "logprobs": True, "top_logprobs": 0}
    plain = plain_request(asked, model="m", cache_salt="a", max_tokens=9)
    assert (plain["logprobs"], plain["top_logprobs"]) == (True, 0)
    gate = gate_request(asked, model="m", cache_salt="a", max_tokens=9)
    assert (gate["logprobs"], gate["top_logprobs"]) == (True, TOP_LOGPROBS)
    assert "logprobs" not in plain_request(CHAT, model="m", cache_salt="a", max_tokens=9)


def test_the_session_s_own_sampling_stands() -> None:
    chat = {**CHAT, "temperature": 0.7, "top_p": 0.9, "stop": ["END"], "seed": 3, "n": 4}
    request = gate_request(chat, model="m", cache_salt="a", max_tokens=100, seed=9)
    assert (request["temperature"], request["top_p"], request["seed"]) == (0.7, 0.9, 3)
    assert request["stop"] == ["END"]
    assert request["n"] == 1
    assert request["top_k"] == NEUTRAL_SAMPLING["top_k"]


def test_the_run_s_seed_reaches_only_turns_that_sample_without_one() -> None:
    sampled = gate_request(
        {**CHAT, "temperature": 1.0}, model="m", cache_salt="a", max_tokens=9, seed=5
    )
    greedy = gate_request(CHAT, model="m", cache_salt="a", max_tokens=9, seed=5)
    assert sampled["seed"] == 5
    assert "seed" not in greedy


@pytest.mark.parametrize("name", ["max_tokens", "max_completion_tokens"])
@pytest.mark.parametrize(("recorded", "sent"), [(50, 50), (500, 100)])
def test_the_cap_lowers_the_recorded_limit_and_never_raises_it(
    name: str, recorded: int, sent: int
) -> None:
    request = gate_request({**CHAT, name: recorded}, model="m", cache_salt="a", max_tokens=100)
    assert request["max_tokens"] == sent
    assert "max_completion_tokens" not in request


def test_the_recorded_chat_is_not_changed_and_nulls_are_not_sent() -> None:
    chat = {**CHAT, "temperature": None, "stream_options": {"x": 1}}
    before = {**chat, "stream_options": dict(chat["stream_options"])}
    request = gate_request(chat, model="m", cache_salt="a", max_tokens=100)
    assert chat == before
    assert request["temperature"] == 0.0
    assert request["stream_options"] == {"x": 1, "include_usage": True}


def test_one_logprob_is_refused_since_it_hides_the_argmax() -> None:
    with pytest.raises(ValueError, match="argmax"):
        gate_request(CHAT, model="m", cache_salt="a", max_tokens=9, top_logprobs=1)


def test_every_turn_of_every_arm_has_a_seed_of_its_own() -> None:
    names = [(path, arm, turn) for path in "bc" for arm in ("main", "again") for turn in "xy"]
    seeds = {turn_seed(0, *name) for name in names}
    assert len(seeds) == len(names)
    assert all(0 <= seed < 2**63 for seed in seeds)
    assert turn_seed(0, "b", "main", "x") == turn_seed(0, "b", "main", "x")
    assert turn_seed(0, "ab", "c") != turn_seed(0, "a", "bc")
