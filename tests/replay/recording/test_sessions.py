"""Traffic of agents becomes the sessions that they held."""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import aiohttp

from replay.writing.exchanged import Exchanged
from tests.support.agents import ClaudeLike, CodexLike, PlainAgent, stand_in
from tests.support.recorder import chat, recording, said, sessions_in, writer
from tests.support.scripted.server import scripted
from traces.session.session import Session

Traffic = Callable[[aiohttp.ClientSession, str], Awaitable[None]]


def recorded(tmp_path: Path, traffic: Traffic, *options: str) -> list[Session]:
    """The sessions of some traffic through a recorder process; nothing is lost."""

    async def run() -> None:
        async with (
            scripted(stand_in) as upstream,
            recording(upstream.url, tmp_path, *options) as recorder,
            aiohttp.ClientSession() as http,
        ):
            await traffic(http, recorder.url)
            counts = await recorder.end()
            assert counts["lost"] == 0
            assert counts["turns"] == counts["recorded"] + sum(counts["reasons"].values())

    asyncio.run(asyncio.wait_for(run(), 120))
    return sessions_in(tmp_path)


def shape(sessions: list[Session]) -> Counter[tuple[str, int, int]]:
    """(route, turns, threads) of sessions."""
    return Counter(
        (s.tags["route"], len(s.turns), len({turn.thread for turn in s.turns})) for s in sessions
    )


def test_each_conversation_is_one_session_and_sub_agents_are_apart(tmp_path: Path) -> None:
    async def traffic(http: aiohttp.ClientSession, url: str) -> None:
        await asyncio.gather(
            ClaudeLike(http, url).work("fix the tests", 5, sub_agent=True),
            ClaudeLike(http, url).work("write a page", 4),
            CodexLike(http, url).work("rename it", 6),
            PlainAgent(http, url).work("count lines", 7, temperature=0.25, seed=3, top_p=0.5),
        )

    sessions = recorded(tmp_path, traffic)
    assert shape(sessions) == {
        ("messages", 5, 1): 1,
        ("messages", 3, 1): 1,
        ("messages", 4, 1): 1,
        ("messages", 1, 1): 2,
        ("responses", 6, 1): 1,
        ("chat", 7, 1): 1,
    }
    for session in sessions:
        assert {turn.fidelity for turn in session.turns} == {"exact"}
        assert all(turn.replayable for turn in session.turns)
    (plain,) = [s for s in sessions if s.tags["route"] == "chat"]
    sampling = plain.turns[3].sampling
    assert sampling is not None
    assert (sampling.temperature, sampling.seed, sampling.top_p) == (0.25, 3, 0.5)
    assert [tool.name for tool in plain.toolsets[plain.turns[0].toolset or ""].tools] == ["ls"]
    assert plain.turns[0].finish_reason in ("tool_calls", None)


def test_parallel_sessions_with_the_same_first_prompt_stay_apart(tmp_path: Path) -> None:
    async def traffic(http: aiohttp.ClientSession, url: str) -> None:
        agents: list[Any] = [kind(http, url) for kind in (PlainAgent, CodexLike) for _ in range(4)]
        await asyncio.gather(*(agent.work("the same task", 6) for agent in agents))

    assert shape(recorded(tmp_path, traffic)) == {
        ("chat", 6, 1): 4,
        ("responses", 6, 1): 4,
    }


def test_a_compacted_history_begins_a_new_session(tmp_path: Path) -> None:
    async def traffic(http: aiohttp.ClientSession, url: str) -> None:
        agent = ClaudeLike(http, url)
        history = await agent.work("a long task", 4)
        await agent.compacted(history, 3)

    found = shape(recorded(tmp_path, traffic))
    assert found == {
        ("messages", 4, 1): 1,
        ("messages", 3, 1): 1,
        ("messages", 1, 1): 1,
    }


def test_the_rate_draws_whole_conversations_and_the_seed_decides(tmp_path: Path) -> None:
    """In every order of requests; another seed draws others."""

    async def traffic(http: aiohttp.ClientSession, url: str) -> None:
        agents = [PlainAgent(http, url).work(f"task {n}", 3) for n in range(24)]
        await asyncio.gather(*agents)

    def drawn(name: str, seed: str) -> set[str]:
        folder = tmp_path / name
        sessions = recorded(folder, traffic, "--rate", "0.5", "--seed", seed)
        assert {len(session.turns) for session in sessions} == {3}
        return {session.prefix(session.turns[0])[1].text for session in sessions}

    first = drawn("a", "1")
    assert 4 <= len(first) <= 20
    assert drawn("b", "1") == first
    assert drawn("c", "2") != first


def test_completions_are_kept_and_are_not_replayed_as_chats(tmp_path: Path) -> None:
    async def traffic(http: aiohttp.ClientSession, url: str) -> None:
        body = {"model": "m", "prompt": "def f(", "max_tokens": 5, "temperature": 0}
        async with http.post(url + "/v1/completions", json=body) as answer:
            assert answer.status == 200
            await answer.read()  # a client that goes away before the end leaves no finished turn

    (session,) = recorded(tmp_path, traffic)
    (turn,) = session.turns
    output = session.output(turn)
    assert output is not None
    assert (session.prefix(turn)[0].text, output.text) == ("def f(", "done")
    assert (turn.replayable, turn.skip_reason) == (False, "raw_prompt")


def names(folder: Path, exchanges: list[Exchanged]) -> list[int]:
    """The session of each exchange, numbered as they appear."""
    recorder, found, sessions = writer(folder), [], []
    for exchange in exchanges:
        assert recorder.record(exchange).reason is None
        sessions.append(next(reversed(recorder.stitcher._sessions)))
    for name in sessions:
        found.append(list(dict.fromkeys(sessions)).index(name))
    recorder.close()
    return found


def test_a_question_asked_again_is_a_fork_of_its_session(tmp_path: Path) -> None:
    turns = [
        chat(0, said("a"), "A"),
        chat(1, said("a", "A", "b"), "B"),
        chat(2, said("a", "A", "c"), "C"),
        chat(3, said("a", "A", "b", "B", "d"), "D"),
        chat(4, said("a", "A", "c", "C", "e"), "E"),
    ]
    assert names(tmp_path, turns) == [0, 0, 0, 0, 0]
    (session,) = sessions_in(tmp_path)
    assert len(session.turns) == 5


def test_an_answer_that_the_client_changed_is_still_its_session(tmp_path: Path) -> None:
    turns = [
        chat(0, said("a"), "A  "),
        chat(1, said("x"), "X"),
        chat(2, said("a", "A", "b"), "B"),
    ]
    assert names(tmp_path, turns) == [0, 1, 0]


def test_equal_beginnings_with_equal_answers_part_where_the_conversations_do(
    tmp_path: Path,
) -> None:
    turns = [
        chat(0, said("a"), "A"),
        chat(1, said("a"), "A"),
        chat(2, said("a", "A", "b"), "B"),
        chat(3, said("a", "A", "c"), "C"),
        chat(4, said("a", "A", "b", "B", "d"), "D"),
        chat(5, said("a", "A", "c", "C", "e"), "E"),
    ]
    assert names(tmp_path, turns) == [0, 1, 0, 1, 0, 1]


def test_sessions_beyond_those_remembered_begin_anew(tmp_path: Path) -> None:
    import replay.writing.stitching as stitching

    recorder = writer(tmp_path)
    for number in range(stitching.MAX_SESSIONS + 1):
        recorder.record(chat(number, said(f"a{number}"), "A"))
    again = recorder.record(chat(9999, said("a0", "A", "b"), "B"))
    kept = recorder.record(chat(9998, said("a9", "A", "b"), "B"))
    assert (again.sessions, kept.sessions) == (1, 0)
    assert len(recorder._cleaners) <= stitching.MAX_SESSIONS
