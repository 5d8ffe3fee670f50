"""A second server gets copies, never answers, and never slows the first."""

import asyncio
import json
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import aiohttp
import pytest

import draftgate
from replay.writing.shadow import AT_ONCE, MOST_WAITING
from tests.support.agents import PlainAgent, stand_in
from tests.support.paper.gate import paper_paths
from tests.support.paper.server import Faults
from tests.support.paper.spoiled import torn_arguments
from tests.support.recorder import Recorder, recording, sessions_in
from tests.support.scripted.server import Answer, Seen, scripted
from traces.journal.exchange import PATHS
from traces.journal.journal import JournalReader, journal_path

Traffic = Callable[[aiohttp.ClientSession, Recorder], Awaitable[Any]]


async def recorded(upstream: str, shadow: str, folder: Path, traffic: Traffic) -> dict[str, Any]:
    """The counts of a recorder with a shadow after some traffic."""
    async with (
        recording(upstream, folder, "--shadow", shadow) as recorder,
        aiohttp.ClientSession() as http,
    ):
        await traffic(http, recorder)
        return await recorder.end()


SHOWN = {
    "temperature": 0,
    "return_token_ids": True,
    "return_tokens_as_token_ids": True,
    "logprobs": True,
    "top_logprobs": 5,
}
"""Options of clients that ask for what the gate asks for."""

TORN = Faults(spoil=torn_arguments)


@pytest.mark.parametrize(
    ("conversations", "options", "faults", "codes"),
    [
        (40, {}, Faults(), set()),
        (40, {}, TORN, {"TOOL_SUCCESS_INFERIOR"}),
        (6, SHOWN, Faults(), set()),
        (6, SHOWN, TORN, {"ARGS_NOT_JSON"}),
    ],
)
def test_check_judges_the_pair(
    conversations: int, options: dict[str, Any], faults: Faults, codes: set[str], tmp_path: Path
) -> None:
    """Without token ids by the share of calls that succeed; with them turn by turn."""

    async def agents(http: aiohttp.ClientSession, recorder: Recorder) -> None:
        agent = PlainAgent(http, recorder.url, "paper")
        more = {"max_tokens": 64, "stream_options": {"include_usage": True}, **options}
        await asyncio.gather(*(agent.work(f"t{n}", 3, **more) for n in range(conversations)))

    with paper_paths(candidate=faults) as (baseline, candidate):
        counts = asyncio.run(recorded(baseline.url, candidate.url, tmp_path, agents))
    turns = 3 * conversations
    assert counts["shadow"] == {"judged by `draftgate check`": turns}
    assert (counts["recorded"], counts["lost"]) == (turns, 0)
    outcome = draftgate.judge(tmp_path / "shadow")
    assert set(outcome.codes) == codes
    assert outcome.verdict.verdict == ("fail" if codes else "inconclusive")
    keys = [
        sorted((c.key.session, c.key.turn, json.dumps(c.request)) for c in JournalReader(file))
        for file in (journal_path(tmp_path / "shadow", path, "main") for path in PATHS)
    ]
    assert keys[0] == keys[1]
    sessions = sessions_at(tmp_path)
    named = {(session.session_id, turn.turn_id) for session in sessions for turn in session.turns}
    assert {(session, turn) for session, turn, _ in keys[0]} == named


def sessions_at(folder: Path) -> list[Any]:
    """The sessions beside the journals of a shadow."""
    (file,) = folder.glob("sessions-*")
    alone = folder / "alone"
    alone.mkdir()
    (alone / file.name).write_bytes(file.read_bytes())
    return sessions_in(alone)


def test_a_shadow_that_hangs_costs_the_client_nothing_and_copies_are_dropped(
    tmp_path: Path,
) -> None:
    release = asyncio.Event()

    async def test() -> None:
        async def work(http: aiohttp.ClientSession, recorder: Recorder) -> None:
            body = {"model": "m", "stream": True}
            start = time.monotonic()
            for number in range(MOST_WAITING + 40):
                said = [{"role": "user", "content": f"{number}"}]
                url = recorder.url + "/v1/chat/completions"
                async with http.post(url, json={**body, "messages": said}) as answer:
                    assert b"said 1" in await answer.read()
            assert time.monotonic() - start < 60
            await recorder.recorded(MOST_WAITING + 40)
            assert len(shadow.seen) <= AT_ONCE
            release.set()

        def held(seen: Seen) -> Answer:
            answer = stand_in(seen)
            answer.hang_s = 0.0 if release.is_set() else 20.0
            answer.writes = [b"data: the shadow's own\n\n"]
            return answer

        async with scripted(stand_in) as upstream, scripted(held) as shadow:
            counts = await recorded(upstream.url, shadow.url, tmp_path, work)
        assert counts["shadow"]["dropped"] == 40
        assert counts["shadow"]["judged by `draftgate check`"] == MOST_WAITING
        assert counts["lost"] == 0

    asyncio.run(asyncio.wait_for(test(), 200))


def test_a_shadow_that_is_down_and_routes_without_copies_are_counted(tmp_path: Path) -> None:
    async def test() -> None:
        async def work(http: aiohttp.ClientSession, recorder: Recorder) -> None:
            said = [{"role": "user", "content": "a"}]
            for more in ({"stream": True}, {}):
                url = recorder.url + "/v1/chat/completions"
                async with http.post(url, json={"model": "m", "messages": said, **more}) as answer:
                    assert answer.status == 200

        async with scripted(stand_in) as upstream:
            counts = await recorded(upstream.url, "http://127.0.0.1:9", tmp_path, work)
        assert counts["shadow"] == {
            "judged by `draftgate check`": 1,
            "of other routes, or not streamed": 1,
        }
        (capture,) = JournalReader(journal_path(tmp_path / "shadow", "candidate", "main"))
        assert capture.ended == "refused"

    asyncio.run(asyncio.wait_for(test(), 100))
