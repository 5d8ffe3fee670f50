"""Turns are fitted into the context before anything is sent."""

import asyncio
import json

import pytest

from replay.launch.port import free_port
from replay.sending.endpoint import Endpoint
from replay.sending.fit import Fitted, fit_turns
from replay.sending.job import Job
from tests.support.scripted.server import Answer, Script, Seen, scripted
from traces.errors import ServerError


def tokenized(seen: Seen) -> Answer:
    """A server with a context of 100 tokens, one token per character of the first message."""
    assert seen.route == "/tokenize"
    count = len(seen.body["messages"][0]["content"])
    body = {"count": count, "max_model_len": 100, "tokens": list(range(count))}
    return Answer(writes=[json.dumps(body).encode()])


def job(turn: str, prompt: int, max_tokens: int) -> Job:
    messages = [{"role": "user", "content": "x" * prompt}]
    return Job("s", turn, {"messages": messages, "tools": [], "max_tokens": max_tokens, "top_p": 1})


def fit(script: Script, *jobs: Job, api_key: str = "") -> Fitted:
    async def run() -> Fitted:
        async with scripted(script) as server, Endpoint(server.url, api_key=api_key) as endpoint:
            return await fit_turns(endpoint, "m", [list(jobs)])

    return asyncio.run(run())


def test_max_tokens_is_lowered_to_the_room_left_for_answer_and_scorer() -> None:
    fitted = fit(tokenized, job("a", 20, 50), job("b", 60, 50), job("c", 67, 50))
    assert [j.request["max_tokens"] for j in fitted.sessions[0]] == [50, 39, 32]
    assert fitted.prompt_tokens == {("s", "a"): 20, ("s", "b"): 60, ("s", "c"): 67}
    assert fitted.skipped == {}


def test_a_turn_without_room_is_skipped_with_its_numbers() -> None:
    fitted = fit(tokenized, job("a", 68, 50), job("b", 97, 2), job("c", 98, 2), job("d", 500, 50))
    assert [j.turn for j in fitted.sessions[0]] == ["b"]
    assert fitted.skipped == {
        ("s", turn): f"the prompt has {size} tokens, the server's context 100"
        for turn, size in (("a", 68), ("c", 98), ("d", 500))
    }


def test_a_server_without_tokenize_leaves_the_turns_as_they_are() -> None:
    before = job("a", 500, 50)
    fitted = fit(lambda seen: Answer(status=404, writes=[b"Not Found"]), before)
    assert fitted.sessions == [[before]]
    assert fitted.prompt_tokens == {}


def test_only_what_decides_the_prompt_is_sent() -> None:
    def script(seen: Seen) -> Answer:
        assert seen.body.keys() == {"model", "messages", "tools"}
        return tokenized(seen)

    assert fit(script, job("a", 5, 5)).sessions[0]


def test_a_server_that_wants_a_key_or_is_not_there_is_named() -> None:
    with pytest.raises(ServerError, match=r"/tokenize refuses access \(status 401\)") as caught:
        fit(lambda seen: Answer(status=401), job("a", 5, 5))
    assert "api_key_env" in caught.value.fix

    async def run() -> None:
        async with Endpoint(f"http://127.0.0.1:{free_port()}") as endpoint:
            await endpoint.get_json("/version")

    with pytest.raises(ServerError, match="/version cannot be reached"):
        asyncio.run(run())
