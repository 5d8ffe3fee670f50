"""An arm sends each turn once, in order, and keeps whatever came of it."""

import asyncio
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from replay.launch.port import free_port
from replay.sending.arm import ArmResult, run_arm
from replay.sending.job import Job
from tests.support.scripted.arm import jobs, plan
from tests.support.scripted.server import Answer, Script, ScriptedServer, Seen, scripted
from traces.errors import InputError, ServerError
from traces.journal.journal import JournalReader
from traces.wire.capture import Capture

TOO_LONG = b"""{"error": {"message": "This model's maximum context length is 16 tokens.",
 "type": "BadRequestError", "param": "input_tokens", "code": 400}}"""


def replay(
    tmp_path: Path, script: Script, sessions: list[list[Job]], **more: Any
) -> tuple[ArmResult, ScriptedServer, list[Capture]]:
    """Run one arm against one scripted server."""
    file = tmp_path / "j.jsonl.zst"

    async def run() -> tuple[ArmResult, ScriptedServer]:
        async with scripted(script) as server:
            return await run_arm(plan(server.url, **more), sessions, file), server

    result, server = asyncio.run(run())
    return result, server, list(JournalReader(file))


def turn(seen: Seen) -> tuple[str, str]:
    return seen.body["session"], seen.body["turn"]


def test_all_turns_are_sent_once_in_session_order_at_the_concurrency(tmp_path: Path) -> None:
    result, server, captures = replay(
        tmp_path, lambda seen: Answer(gap_s=0.01), jobs(5, 4), concurrency=3
    )
    assert (result.sent, result.resumed, result.failed, result.skipped) == (20, 0, 0, {})
    for session in range(5):
        sent = [turn(s)[1] for s in server.seen if turn(s)[0] == f"s{session}"]
        assert sent == ["t0", "t1", "t2", "t3"]
    assert max(s.in_flight for s in server.seen) == 3
    assert {(c.key.session, c.key.turn) for c in captures} == {turn(s) for s in server.seen}
    assert {(c.key.run, c.key.path, c.key.arm) for c in captures} == {("r1", "candidate", "main")}


def test_a_session_sticks_to_one_url_and_all_urls_are_used(tmp_path: Path) -> None:
    async def run() -> list[set[str]]:
        async with scripted(lambda s: Answer()) as one, scripted(lambda s: Answer()) as two:
            await run_arm(plan(one.url, two.url), jobs(12, 3), tmp_path / "j.zst")
            return [{turn(seen)[0] for seen in server.seen} for server in (one, two)]

    first, second = asyncio.run(run())
    assert first
    assert second
    assert not first & second
    assert len(first | second) == 12


def test_a_second_run_sends_nothing_twice(tmp_path: Path) -> None:
    replay(tmp_path, lambda seen: Answer(), jobs(3, 2))
    result, server, captures = replay(tmp_path, lambda seen: Answer(), jobs(3, 4))
    assert (result.resumed, result.sent) == (6, 6)
    assert {turn(s)[1] for s in server.seen} == {"t2", "t3"}
    assert len(captures) == 12


def test_a_changed_request_under_the_same_run_id_is_refused(tmp_path: Path) -> None:
    replay(tmp_path, lambda seen: Answer(), jobs(1, 1))
    changed = [[replace(jobs(1, 1)[0][0], request={"session": "s0", "turn": "t0", "seed": 1})]]
    with pytest.raises(InputError, match="session s0, turn t0: the journal holds another request"):
        replay(tmp_path, lambda seen: Answer(), changed)


def test_a_turn_of_which_nothing_came_is_tried_again_and_every_attempt_kept(
    tmp_path: Path,
) -> None:
    tries: Counter[tuple[str, str]] = Counter()

    def script(seen: Seen) -> Answer:
        tries[turn(seen)] += 1
        broken = turn(seen) == ("s0", "t1") and tries[turn(seen)] <= 2
        return Answer(drop="before") if broken else Answer()

    result, _, captures = replay(tmp_path, script, jobs(2, 3))
    assert (result.sent, result.failed, result.lost) == (6, 0, 2)
    attempts = [
        (c.key.attempt, c.ended) for c in captures if (c.key.session, c.key.turn) == ("s0", "t1")
    ]
    assert attempts == [(0, "error"), (1, "error"), (2, "done")]


def test_a_stream_that_breaks_in_the_middle_is_not_tried_again(tmp_path: Path) -> None:
    broken = Answer(writes=[b"data: {}\n\n"], gap_s=0.02, drop="after")
    result, server, captures = replay(tmp_path, lambda seen: broken, jobs(1, 2))
    assert (result.sent, len(server.seen)) == (2, 2)
    assert [c.ended for c in captures] == ["error", "error"]


def test_a_time_out_counts_against_the_path_and_is_not_tried_again(tmp_path: Path) -> None:
    result, server, captures = replay(
        tmp_path, lambda seen: Answer(hang_s=3), jobs(1, 1), timeout_s=0.2
    )
    assert (result.sent, len(server.seen)) == (1, 1)
    assert captures[0].ended == "timeout"


@pytest.mark.parametrize(
    ("status", "after", "least"),
    [
        (429, "0.0", None),  # no number of RFC 9110
        (429, "soon", None),
        (503, "", None),
        (500, "1", None),
        (429, "1", 1.0),
        (503, "0", 0.01),
        (503, "Mon, 30 Nov 2020 13:00:00 GMT", 0.01),
    ],
)
def test_a_busy_server_is_waited_for_as_long_as_it_asks(
    tmp_path: Path, status: int, after: str, least: float | None
) -> None:
    tries: Counter[tuple[str, str]] = Counter()

    def script(seen: Seen) -> Answer:
        tries[turn(seen)] += 1
        busy = turn(seen) == ("s0", "t1") and tries[turn(seen)] <= 2
        headers = {"Retry-After": after} if after else {}
        return Answer(writes=[b"{}"], status=status, headers=headers) if busy else Answer()

    result, _, captures = replay(tmp_path, script, jobs(1, 2))
    assert (result.sent, result.failed) == (2, 0)
    statuses = [c.status for c in captures if c.key.turn == "t1"]
    if least is None:
        assert statuses == [status]
        assert result.waits == 0
    else:
        assert statuses == [status, status, 200]
        assert [c.key.attempt for c in captures if c.key.turn == "t1"] == [0, 1, 2]
        assert (result.waits, result.waited_s) == (2, 2 * least)


def test_patience_ends_and_what_was_refused_then_is_sent_again_by_the_next_run(
    tmp_path: Path,
) -> None:
    busy = Answer(writes=[b"{}"], status=429, headers={"Retry-After": "1"})
    result, server, _ = replay(tmp_path, lambda seen: busy, jobs(1, 1), patience_s=0.5)
    assert (result.sent, result.waits, len(server.seen)) == (1, 0, 1)
    result, _, captures = replay(tmp_path, lambda seen: Answer(), jobs(1, 1))
    assert (result.sent, result.resumed) == (1, 0)
    assert [(c.key.attempt, c.status) for c in captures] == [(0, 429), (1, 200)]


def test_a_turn_too_long_is_skipped_with_the_server_s_reason_also_after_resume(
    tmp_path: Path,
) -> None:
    def script(seen: Seen) -> Answer:
        long = seen.body["turn"] == "t1"
        return Answer(writes=[TOO_LONG], status=400) if long else Answer()

    reason = "This model's maximum context length is 16 tokens."
    for _ in range(2):
        result, _, _ = replay(tmp_path, script, jobs(2, 2))
        assert result.skipped == {("s0", "t1"): reason, ("s1", "t1"): reason}
        assert result.done == 4


def test_another_refusal_is_an_answer_not_a_skip(tmp_path: Path) -> None:
    body = b'{"error": {"message": "min_p is not supported with speculative decoding"}}'
    result, _, captures = replay(tmp_path, lambda s: Answer(writes=[body], status=400), jobs(1, 1))
    assert (result.sent, result.skipped, captures[0].status) == (1, {}, 400)


def test_a_server_that_is_gone_ends_the_run_and_finished_turns_stay(tmp_path: Path) -> None:
    file = tmp_path / "j.jsonl.zst"

    async def run() -> None:
        async with scripted(lambda seen: Answer()) as server:
            await run_arm(plan(server.url), jobs(2, 1), file)
        await run_arm(plan(server.url, patience_s=0.1), jobs(2, 4), file)

    with pytest.raises(
        ServerError, match=r"path candidate: http://127\.0\.0\.1:\d+ gives no answer"
    ):
        asyncio.run(run())
    captures = list(JournalReader(file))
    assert sum(c.status == 200 for c in captures) == 2
    assert any(c.status is None for c in captures)

    result, server, _ = replay(tmp_path, lambda seen: Answer(), jobs(2, 4))
    assert (result.resumed, result.sent) == (2, 6)
    assert len(server.seen) == 6


def test_a_dead_launched_server_is_reported_in_its_own_words(tmp_path: Path) -> None:
    def dead() -> None:
        raise ServerError("path candidate: the vLLM server ended; last words", "fix it")

    async def run() -> None:
        url = f"http://127.0.0.1:{free_port()}"
        await run_arm(plan(url), jobs(3, 3), tmp_path / "j.zst", check_alive=dead)

    with pytest.raises(ServerError, match="last words") as caught:
        asyncio.run(run())
    assert caught.value.fix == "fix it"


def test_canceling_leaves_whole_records_and_no_open_journal(tmp_path: Path) -> None:
    file = tmp_path / "j.jsonl.zst"

    def script(seen: Seen) -> Answer:
        return Answer(hang_s=0 if seen.body["turn"] == "t0" else 60)

    async def run() -> None:
        async with scripted(script) as server:
            arm = asyncio.create_task(run_arm(plan(server.url), jobs(2, 2), file))
            while len(server.seen) < 4:
                await asyncio.sleep(0.01)
            arm.cancel()
            with pytest.raises(asyncio.CancelledError):
                await arm

    asyncio.run(run())
    assert [c.key.turn for c in JournalReader(file)] == ["t0", "t0"]
    result, _, _ = replay(tmp_path, lambda seen: Answer(), jobs(2, 2))
    assert (result.resumed, result.sent) == (2, 2)


def test_progress_counts_every_turn_dealt_with(tmp_path: Path) -> None:
    counts: list[int] = []

    async def run() -> None:
        async with scripted(lambda seen: Answer()) as server:
            file = tmp_path / "j.zst"
            await run_arm(plan(server.url), jobs(2, 3), file, progress=counts.append)

    asyncio.run(run())
    assert counts == [1, 2, 3, 4, 5, 6]


def test_a_path_without_url_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ServerError, match="path candidate: no URL"):
        asyncio.run(run_arm(plan(), jobs(1, 1), tmp_path / "j.zst"))


def test_a_server_that_takes_no_connection_is_waited_for(tmp_path: Path) -> None:
    """It restarts: what it has not answered is sent once it listens."""
    file, port, said = tmp_path / "j.jsonl.zst", free_port(), list[str]()

    async def run() -> tuple[ArmResult, ScriptedServer]:
        waited = plan(f"http://127.0.0.1:{port}", concurrency=1)
        arm = asyncio.create_task(run_arm(waited, jobs(1, 2), file, note=said.append))
        await asyncio.sleep(0.5)
        async with scripted(lambda seen: Answer(), port) as server:
            return await arm, server

    result, server = asyncio.run(run())
    assert (result.sent, result.lost, result.refusals) == (2, 0, 1)
    words = "takes no connection; it is waited for, up to 300 s"
    assert said == [f"path candidate: http://127.0.0.1:{port} {words}"]
    assert 0.3 < result.refused_s < 5
    assert len(server.seen) == 2
    attempts = [(c.key.turn, c.key.attempt, c.ended) for c in JournalReader(file)]
    assert attempts == [("t0", 0, "refused"), ("t0", 1, "done"), ("t1", 0, "done")]


@pytest.mark.parametrize(
    "answer",
    [b"HTTP/1.1 XX what\r\n\r\n", b"HTTP/1.1 200 OK\r\nX-A: " + b"a" * 9000 + b"\r\n\r\n"],
    ids=["status line", "header of 9 KB"],
)
def test_an_answer_that_is_no_http_is_the_turn_s_and_is_not_asked_for_again(
    tmp_path: Path, answer: bytes
) -> None:
    """Three of them in a row are no server that is gone."""

    async def garble(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(answer)
        await writer.drain()
        writer.close()

    async def run() -> ArmResult:
        async with await asyncio.start_server(garble, "127.0.0.1", 0) as server:
            url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
            return await run_arm(plan(url), jobs(1, 4), tmp_path / "j.zst")

    result = asyncio.run(run())
    assert (result.sent, result.failed, result.lost) == (4, 0, 0)
    captures = list(JournalReader(tmp_path / "j.zst"))
    assert [(c.ended, c.status, c.key.attempt) for c in captures] == [("malformed", None, 0)] * 4
    assert all("no HTTP answer: " in str(c.error) for c in captures)


def test_a_connection_that_the_server_closes_between_two_turns_loses_none(tmp_path: Path) -> None:
    """It answers one request per connection, and loses the second one that comes over it."""
    met: list[int] = []

    async def once(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        met.append(0)
        place = len(met) - 1
        while await reader.readuntil(b"\r\n\r\n"):
            await reader.read(1 << 16)
            if met[place]:
                writer.transport.abort()
                return
            met[place] += 1
            writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 14\r\n\r\ndata: [DONE]\n\n")

    async def run() -> ArmResult:
        async with await asyncio.start_server(once, "127.0.0.1", 0) as server:
            url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
            return await run_arm(plan(url, concurrency=1), jobs(1, 3), tmp_path / "j.zst")

    result = asyncio.run(run())
    assert (result.sent, result.lost) == (3, 0)
    captures = list(JournalReader(tmp_path / "j.zst"))
    attempts = [(c.key.turn, c.key.attempt, c.ended) for c in captures]
    assert attempts == [("t0", 0, "done"), ("t1", 0, "done"), ("t2", 0, "done")]
    assert all(c.lost_ms is None for c in captures)
