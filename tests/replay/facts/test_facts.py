"""What a server says of itself is taken as it says it; silence stays silence."""

import asyncio
import json
from typing import Any

import pytest

from replay.facts.facts import gather_facts
from replay.facts.probes import MARKUPS, parser_probe
from replay.launch.command import ServerSpec
from replay.launch.drafter import read_drafter
from replay.launch.port import free_port
from tests.support.scripted import toy_model
from tests.support.scripted.launch import STAND_IN
from tests.support.scripted.server import DONE, Answer, Script, Seen, scripted, sse
from traces.errors import ServerError
from traces.journal.observables import Observables
from traces.journal.path_facts import ModelFacts, PathFacts

METRICS = """vllm:cache_config_info{block_size="128",cache_dtype="auto",engine="0"} 1.0
vllm:spec_decode_num_drafts_total{engine="0"} 0.0
"""
CALL = {"id": "x1", "function": {"name": "get_weather", "arguments": '{"place": "Bern"}'}}

TOP = [{"token": f"token_id:{n}", "logprob": -0.5 - n} for n in range(5)]
ANSWER = (
    {"choices": [{"index": 0, "delta": {"role": "assistant"}}], "prompt_token_ids": [1, 2]},
    {
        "choices": [
            {
                "index": 0,
                "delta": {"content": "x"},
                "logprobs": {"content": [{**TOP[0], "top_logprobs": TOP}] * 2},
                "token_ids": [4, 5],
                "finish_reason": "length",
            }
        ]
    },
    {
        "choices": [],
        "usage": {
            "prompt_tokens": 2,
            "completion_tokens": 2,
            "prompt_tokens_details": {"cached_tokens": 0},
        },
        "system_fingerprint": "vllm-0.32.0-1",
        "metrics": {"speculative_decoding": {"per_step_accepted": None, "per_step_drafted": None}},
    },
)


def as_json(value: Any) -> Answer:
    return Answer(writes=[json.dumps(value).encode()], content_type="application/json")


def vllm(seen: Seen) -> Answer:
    """A server with a Hermes parser."""
    if seen.route == "/v1/models":
        return as_json({"data": [{"id": "m", "root": "/models/m", "max_model_len": 16384}]})
    if seen.route == "/version":
        return as_json({"version": "0.32.0"})
    if seen.route == "/metrics":
        return Answer(writes=[METRICS.encode()], content_type="text/plain")
    if seen.route == "/tokenize":
        assert seen.body["tools"]
        return as_json({"count": 3, "max_model_len": 16384, "tokens": [1, 2, 3]})
    if seen.route == "/v1/completions":
        return toy_model.answer(seen)
    assert seen.route == "/v1/chat/completions"
    if seen.body.get("stream"):
        return Answer(writes=[*sse(*ANSWER), DONE])
    (text,) = seen.body["structured_outputs"]["choice"]
    if text == MARKUPS["hermes"]:
        message = {"content": None, "tool_calls": [CALL], "reasoning": "by chance"}
        return as_json({"choices": [{"message": message, "finish_reason": "tool_calls"}]})
    if text == MARKUPS["mistral"]:
        return Answer(status=500, writes=[b"no"])
    finish = "length" if text == MARKUPS["pythonic"] else "stop"
    message = {"content": text, "tool_calls": []}
    return as_json({"choices": [{"message": message, "finish_reason": finish}]})


def facts(script: Script, model: str = "m") -> PathFacts:
    async def run() -> PathFacts:
        async with scripted(script) as server:
            return await gather_facts("candidate", server.url, model)

    return asyncio.run(run())


def test_everything_a_vllm_server_shows() -> None:
    found = facts(vllm)
    assert found.version == "0.32.0"
    assert found.models == (ModelFacts("m", "/models/m", 16384),)
    assert found.cache == {"block_size": "128", "cache_dtype": "auto", "engine": "0"}
    assert found.probe_ids == (1, 2, 3)
    assert found.speculation_metrics is True
    assert found.command is None
    probe = found.parser_probe
    assert probe is not None
    assert probe.keys() == MARKUPS.keys() - {"mistral", "pythonic"}
    assert json.loads(probe["hermes"]) == {
        "content": "",
        "reasoning": True,
        "calls": [["get_weather", '{"place": "Bern"}']],
    }
    assert json.loads(probe["kimi_k2"]) == {
        "content": MARKUPS["kimi_k2"],
        "reasoning": False,
        "calls": [],
    }


def test_what_an_answer_shows_of_the_decoding() -> None:
    assert facts(vllm).observables == Observables(
        token_ids=True,
        alternatives=5,
        prompt_token_ids=True,
        usage=True,
        cached_tokens=True,
        speculation=True,
        fingerprint=True,
        prompt_logprobs=True,
        drafted=0,
        processed_logprobs=False,
    )


def test_a_server_that_says_next_to_nothing_gives_no_facts() -> None:
    def silent(seen: Seen) -> Answer:
        if seen.body.get("stream"):
            return Answer(
                writes=[*sse({"choices": [{"index": 0, "delta": {"content": "x"}}]}), DONE]
            )
        return Answer(status=404, writes=[b"Not Found"])

    found = facts(silent)
    nothing = Observables(
        token_ids=False,
        alternatives=0,
        prompt_token_ids=False,
        usage=False,
        cached_tokens=False,
        speculation=False,
        fingerprint=False,
    )
    assert found == PathFacts("candidate", found.url, observables=nothing)


def test_a_server_that_refuses_the_gate_s_request_is_an_error_in_its_words() -> None:
    def refusing(seen: Seen) -> Answer:
        if seen.body.get("logprobs"):
            body = {"error": {"message": "logprobs are switched off here"}}
            return Answer(status=400, writes=[json.dumps(body).encode()])
        return vllm(seen)

    with pytest.raises(ServerError, match="refuses the gate's request: logprobs are switched off"):
        facts(refusing)


def test_a_probe_that_is_cut_off_tells_nothing_and_ends_no_run() -> None:
    def script(seen: Seen) -> Answer:
        forced = seen.body.get("structured_outputs", {}).get("choice")
        return Answer(drop="before") if forced == [MARKUPS["hermes"]] else vllm(seen)

    probe = facts(script).parser_probe
    assert probe is not None
    assert probe.keys() == {"reasoning"}


def test_thinking_is_on_for_the_reasoning_sample_alone() -> None:
    off = {"chat_template_kwargs": {"enable_thinking": False}}
    for markup in MARKUPS:
        request = parser_probe("m", markup)
        assert (off.items() <= request.items()) == (markup != "reasoning")


def test_a_model_that_is_not_served_is_said_with_those_that_are() -> None:
    with pytest.raises(ServerError, match=r"does not serve the model 'other'; it serves m"):
        facts(vllm, model="other")


def test_a_server_that_is_not_there_is_named_with_its_url() -> None:
    url = f"http://127.0.0.1:{free_port()}"
    with pytest.raises(ServerError, match=f"{url}/v1/models cannot be reached"):
        asyncio.run(gather_facts("candidate", url, "m"))


def test_a_method_without_a_draft_model_has_no_drafter_config() -> None:
    found = read_drafter(ServerSpec("candidate", "m", speculative_config={"method": "ngram"}))
    assert (found.checkpoint, found.effective, found.error) == (None, None, None)


def test_a_drafter_that_cannot_be_asked_about_says_why() -> None:
    drafter = {"method": "eagle3", "model": "d", "num_speculative_tokens": 3}
    spec = ServerSpec(
        "candidate", "m", speculative_config=drafter, env={"PYTHONPATH": str(STAND_IN)}
    )
    found = read_drafter(spec)
    assert "No module named 'vllm.engine'" in str(found.error)
    gone = read_drafter(ServerSpec("c", "m", python="/no/python", speculative_config=drafter))
    assert "/no/python cannot be run" in str(gone.error)


def answering(route: str, answer: Any) -> Script:
    """A vLLM server with another answer on one route: JSON, or bytes as they are."""
    raw = answer if isinstance(answer, bytes) else json.dumps(answer).encode()

    def script(seen: Seen) -> Answer:
        if seen.route == route and not seen.body.get("stream"):
            return Answer(writes=[raw], content_type="application/json")
        return vllm(seen)

    return script


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        ([1], "Expected object, got array"),
        ({"data": 5}, r"Expected array, got int - at \$\.data"),
        ({}, "missing required field data"),
        ({"data": ["x"]}, r"at \$\.data\[0\]"),
        ({"data": [{"id": 5}]}, r"at \$\.data\[0\]\.id"),
        ({"data": [{"id": "m", "max_model_len": "abc"}]}, r"\.max_model_len"),
        ({"data": [{"id": "m", "max_model_len": -1}]}, r"\.max_model_len"),
        ({"data": [{"id": "m", "root": 7}]}, r"\.root"),
        ({"data": []}, "does not serve the model 'm'; it serves nothing"),
    ],
)
def test_a_list_of_models_that_is_none_is_said_before_anything_is_replayed(
    answer: Any, words: str
) -> None:
    with pytest.raises(ServerError, match=words) as caught:
        facts(answering("/v1/models", answer))
    assert caught.value.fix


GARBAGE = ["x", 5, [1], None, {}, {"choices": None}, b"<html>", b"\x00\xff{{{", {"version": 5}]
GARBAGE += [
    {"count": "12", "tokens": ["a"]},
    {"tokens": [1.5]},
    {"tokens": [1], "max_model_len": ""},
]
GARBAGE += [{"choices": [{"prompt_logprobs": [None, {"4": {"logprob": "y"}}]}]}]
GARBAGE += [{"choices": [{"prompt_logprobs": [None, {"4": {"x": 1}}, {"5": {"logprob": 1}}]}]}]
GARBAGE += [{"choices": [{"message": 5, "finish_reason": "stop"}]}, {"choices": [5]}]


@pytest.mark.parametrize("route", ["/version", "/metrics", "/tokenize", "/v1/completions"])
@pytest.mark.parametrize("answer", GARBAGE, ids=repr)
def test_garbage_on_a_route_is_as_good_as_silence(route: str, answer: Any) -> None:
    found = facts(answering(route, answer))
    expected = facts(vllm)
    assert found.models == expected.models
    facts_by_route = {
        "/version": found.version,
        "/metrics": found.cache,
        "/tokenize": found.probe_ids,
        "/v1/completions": found.observables and (found.observables.prompt_logprobs or None),
    }
    assert facts_by_route.pop(route) is None
    assert None not in facts_by_route.values()


@pytest.mark.parametrize("answer", GARBAGE, ids=repr)
def test_a_probe_that_gets_garbage_tells_nothing(answer: Any) -> None:
    assert facts(answering("/v1/chat/completions", answer)).parser_probe is None


@pytest.mark.parametrize(
    ("scale", "shown"), [(1.0, False), (0.5, True), (0.52, True), (0.98, False)]
)
def test_logprobs_that_follow_the_temperature_are_processed(scale: float, shown: bool) -> None:
    def warmed(seen: Seen) -> Answer:
        if seen.body.get("temperature") != 2.0:
            return vllm(seen)
        top = [{**entry, "logprob": scale * float(str(entry["logprob"]))} for entry in TOP]
        choice = {"index": 0, "delta": {"content": "x"}, "finish_reason": "length"}
        listed = {"logprobs": {"content": [{**top[0], "top_logprobs": top}]}, "token_ids": [4]}
        return Answer(writes=[*sse({"choices": [{**choice, **listed}]}), DONE])

    observables = facts(warmed).observables
    assert observables is not None
    assert observables.processed_logprobs is shown


def test_a_server_that_refuses_temperatures_shows_nothing_of_its_logprobs() -> None:
    def cold(seen: Seen) -> Answer:
        return Answer(status=400) if seen.body.get("temperature") == 2.0 else vllm(seen)

    observables = facts(cold).observables
    assert observables is not None
    assert observables.processed_logprobs is None
