"""Whatever happens to the recorder, its disk or its queue: traffic flows, losses are counted."""

import asyncio
import errno
import os
import shutil
import signal
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import aiohttp
import msgspec
import pytest
from aiohttp import web

from replay.recording.handover import Handover
from replay.recording.serving import Recorder as InProcess
from replay.recording.serving import RecordSettings
from replay.recording.tally import LEFT_OUT, LOST, Tally
from replay.recording.tape import Held
from replay.writing.writer import WriterSettings
from tests.support.agents import PlainAgent, stand_in
from tests.support.recorder import Recorder, chat, recording, rows_in, said, sessions_in, writer
from tests.support.scripted.server import DONE, Answer, Seen, scripted, sse

NESTED = b'{"messages": [{"role": "user", "content": %s}]}'


async def ask(http: aiohttp.ClientSession, url: str, number: int, size: int = 10) -> None:
    """One conversation of one turn, answered."""
    content = f"{number} " + "x" * size
    body = {"model": "m", "messages": [{"role": "user", "content": content}]}
    async with http.post(url + "/v1/chat/completions", json=body) as answer:
        assert answer.status == 200
        assert b"said 1" in await answer.read()


def run(
    tmp_path: Path,
    test: Callable[[aiohttp.ClientSession, Recorder], Awaitable[None]],
    *options: str,
) -> None:
    """`test` with a recorder process over the stand-in."""

    async def whole() -> None:
        async with (
            scripted(stand_in) as upstream,
            recording(upstream.url, tmp_path, *options) as recorder,
            aiohttp.ClientSession() as http,
        ):
            await test(http, recorder)

    asyncio.run(asyncio.wait_for(whole(), 120))


def test_kill_9_of_the_recorder_loses_no_turn_it_handed_over(tmp_path: Path) -> None:
    """The writer outlives it and writes what it has been given."""

    async def test(http: aiohttp.ClientSession, recorder: Recorder) -> None:
        for number in range(20):
            await ask(http, recorder.url, number)
        await recorder.recorded(1)  # the writer has begun; the rest is with it or on file
        await asyncio.sleep(0.5)
        recorder.process.kill()
        await recorder.process.wait()
        await recorder.recorded(20)

    run(tmp_path, test)
    assert len(sessions_in(tmp_path)) == 20


def test_kill_9_of_both_at_once_keeps_every_turn_on_file(tmp_path: Path) -> None:
    async def test(http: aiohttp.ClientSession, recorder: Recorder) -> None:
        agent = PlainAgent(http, recorder.url)
        await agent.work("a task", 8)
        await recorder.recorded(8)
        os.kill(recorder.writer_pid, signal.SIGKILL)
        recorder.process.kill()
        await recorder.process.wait()

    run(tmp_path, test)
    (session,) = sessions_in(tmp_path)
    assert len(session.turns) == 8


def test_kill_9_of_the_writer_loses_nothing_at_all(tmp_path: Path) -> None:
    """What it had not confirmed goes to the next writer."""

    async def test(http: aiohttp.ClientSession, recorder: Recorder) -> None:
        await ask(http, recorder.url, 0)
        await recorder.recorded(1)
        await asyncio.sleep(0.2)
        os.kill(recorder.writer_pid, signal.SIGSTOP)
        for number in range(1, 10):
            await ask(http, recorder.url, number, size=100_000)
        os.kill(recorder.writer_pid, signal.SIGKILL)
        await ask(http, recorder.url, 10)
        await recorder.recorded(11)
        counts = await recorder.end()
        assert (counts["recorded"], counts["lost"]) == (11, 0)

    run(tmp_path, test)
    assert len(sessions_in(tmp_path)) == 11


def test_a_turn_under_which_writers_end_is_given_up_and_counted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import replay.recording.handover as handover

    monkeypatch.setattr(handover, "MODULE", "tests.replay.recording.dying_writer")
    monkeypatch.setattr(handover, "RESTART_S", 0.01)
    tally, held, lines = Tally(), Held(), []

    async def test() -> None:
        async with Handover("{}", tally, held, lines.append) as over:
            for number in range(3):
                held.bytes += 5
                over.put(chat(number, said(f"{number}"), "A"), 5)
            assert await over.flushed(60)

    asyncio.run(test())
    assert tally.reasons == {"writer_lost": 1}
    assert tally.recorded == 2
    assert held.bytes == 0
    assert len(lines) == 1


def test_a_machine_that_starts_no_process_costs_no_turn_once_it_does(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real, refused = asyncio.create_subprocess_exec, []

    async def busy(*command: Any, **options: Any) -> Any:
        if len(refused) < 3:
            refused.append(command)
            raise OSError(errno.EAGAIN, os.strerror(errno.EAGAIN))
        return await real(*command, **options)

    monkeypatch.setattr(asyncio, "create_subprocess_exec", busy)
    monkeypatch.setattr("replay.recording.handover.RESTART_S", 0.01)
    tally, lines = Tally(), list[str]()
    settings = WriterSettings(str(tmp_path), 1.0, 0, 1 << 28, 1 << 30)

    async def test() -> None:
        words = msgspec.json.encode(settings).decode()
        async with Handover(words, tally, Held(), lines.append) as over:
            over.put(chat(0, said("a"), "A"), 0)
            assert await over.flushed(60)
            assert await over.finished()

    asyncio.run(test())
    assert (tally.recorded, len(refused), lines) == (1, 3, [])


def test_a_queue_that_is_full_drops_and_counts(tmp_path: Path) -> None:
    """The writer hangs, as on a disk that does not answer: what does not fit is lost, the rest
    is written once it goes on."""
    lines: list[str] = []

    async def test() -> dict[str, Any]:
        async with scripted(stand_in) as upstream:
            settings = RecordSettings(upstream.url, "", tmp_path)
            recorder = InProcess(settings, lines.append)
            recorder.held.limit = 10_000_000
            async with recorder.handover, recorder.forwarder, aiohttp.ClientSession() as http:
                runner = web.ServerRunner(recorder.forwarder.server(recorder.handle))
                await runner.setup()
                site = web.TCPSite(runner, "127.0.0.1", 0)
                await site.start()
                url = f"http://127.0.0.1:{runner.addresses[0][1]}"
                await ask(http, url, 0)
                assert await recorder.handover.flushed(60)
                assert recorder.handover.writer_pid is not None
                os.kill(recorder.handover.writer_pid, signal.SIGSTOP)
                for number in range(1, 16):
                    await ask(http, url, number, size=1 << 20)
                os.kill(recorder.handover.writer_pid, signal.SIGCONT)
                assert await recorder.handover.flushed(60)
                await runner.cleanup()
            assert recorder.held.bytes == 0
            return recorder.tally.as_json()

    counts = asyncio.run(asyncio.wait_for(test(), 120))
    assert counts["reasons"] == {"queue_full": 15 - 9}
    assert (counts["turns"], counts["recorded"]) == (16, 10)
    assert len(sessions_in(tmp_path)) == 10
    assert len([line for line in lines if "queue_full" in line]) == 1


def test_a_full_disk_costs_turns_and_no_traffic(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    recorder = writer(tmp_path)
    assert recorder.record(chat(0, said("a"), "A")).reason is None
    real = os.write

    def full(fd: int, data: bytes) -> int:
        if data.startswith(b"\x28\xb5\x2f\xfd"):
            return real(fd, data[:10])  # a part fits, then none
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "write", full)
    refused = recorder.record(chat(1, said("a", "A", "b"), "B"))
    assert (refused.reason, "No space left" in refused.detail) == ("disk", True)
    monkeypatch.setattr(os, "write", real)
    assert recorder.record(chat(2, said("a", "A", "b", "B", "c"), "C")).reason is None
    recorder.close()
    (session,) = sessions_in(tmp_path)
    assert [turn.index for turn in session.turns] == [0, 1]


def test_a_folder_that_is_removed_is_not_made_again(tmp_path: Path) -> None:
    """It may have been the mount of a disk: what lies beneath is not filled."""
    folder = tmp_path / "recordings"

    async def test(http: aiohttp.ClientSession, recorder: Recorder) -> None:
        await ask(http, recorder.url, 0)
        await recorder.recorded(1)
        shutil.rmtree(folder)
        for number in range(1, 4):
            await ask(http, recorder.url, number)
        await recorder.until("the folder has gone")
        folder.mkdir()
        await ask(http, recorder.url, 4)
        counts = await recorder.end()
        assert counts["recorded"] == 1
        assert counts["reasons"] == {"disk": 4}

    run(folder, test)
    assert list(folder.iterdir()) == []


def test_a_file_that_is_moved_away_is_left_alone(tmp_path: Path) -> None:
    recorder = writer(tmp_path / "in")
    recorder.record(chat(0, said("a"), "A"))
    (file,) = (tmp_path / "in").iterdir()
    file.rename(tmp_path / file.name)
    recorder.record(chat(1, said("a", "A", "b"), "B"))
    recorder.close()
    assert [len(s.turns) for s in sessions_in(tmp_path / "in")] == [1]
    assert rows_in(tmp_path) == 1


def test_the_budget_is_never_passed_and_nothing_is_deleted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    budget = 20_000
    recorder = writer(tmp_path, max_bytes=budget, rotate=6000)
    prompts = [said(f"{number}" + os.urandom(400).hex()) for number in range(60)]
    said_of = [recorder.record(chat(n, prompt, "A")) for n, prompt in enumerate(prompts)]
    assert {one.reason for one in said_of} == {None, "budget"}
    sizes = [file.stat().st_size for file in tmp_path.iterdir()]
    assert budget - 2000 < sum(sizes) <= budget
    assert sum(one.bytes for one in said_of) == sum(sizes)
    kept = [n for n, one in enumerate(said_of) if one.reason is None]
    assert kept == list(range(len(kept)))
    monkeypatch.setattr("replay.writing.budget.LOOK_AGAIN_S", 0.0)
    next(tmp_path.iterdir()).unlink()
    assert recorder.record(chat(99, said("again"), "A")).reason is None
    again = writer(tmp_path, "q", max_bytes=budget // 4)
    assert again.record(chat(100, said("another recorder"), "A")).reason == "budget"


def test_a_session_stays_in_its_file_while_files_rotate(tmp_path: Path) -> None:
    recorder = writer(tmp_path, rotate=3000)
    history: list[str] = ["the long one"]
    for number in range(12):
        recorder.record(chat(2 * number, said(*history), f"A{number}"))
        history += [f"A{number}", f"go on {number}"]
        if number < 6:
            other = said(f"other {number}" + os.urandom(500).hex())
            recorder.record(chat(2 * number + 1, other, "A"))
    recorder.close()
    assert 2 <= len(list(tmp_path.iterdir())) <= 4
    assert sorted(len(s.turns) for s in sessions_in(tmp_path)) == [1] * 6 + [12]


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (Answer(status=400, writes=[b'{"error": {}}'], content_type="application/json"), "refused"),
        (Answer(writes=[b'data: {"choices": []}\n\n'], drop="after"), "unfinished"),
        (Answer(drop="before"), "unfinished"),
        (
            Answer(writes=[*sse({"choices": []}, {"error": {"message": "e"}}), DONE]),
            "answer_error",
        ),
        (Answer(writes=[b"\xff\xfe no answer"]), "unreadable"),
        (Answer(writes=[b"zzz"], headers={"Content-Encoding": "br"}), "unreadable"),
    ],
)  # fmt: skip
def test_what_is_no_finished_turn_is_counted_by_its_reason(
    answer: Answer, reason: str, tmp_path: Path
) -> None:
    async def test() -> None:
        async with (
            scripted(lambda seen: answer) as upstream,
            recording(upstream.url, tmp_path) as recorder,
            aiohttp.ClientSession(auto_decompress=False) as http,
        ):
            body = {"model": "m", "messages": [{"role": "user", "content": "a"}]}
            try:
                async with http.post(recorder.url + "/v1/chat/completions", json=body) as got:
                    await got.read()
            except aiohttp.ClientError:
                assert answer.drop
            counts = await recorder.end()
            assert counts["reasons"] == {reason: 1}
            assert counts["lost"] == (reason in LOST)
            assert reason in LOST or reason in LEFT_OUT

    asyncio.run(asyncio.wait_for(test(), 60))


@pytest.mark.parametrize(
    ("stream", "reason"),
    [
        (b'data: {"choices": [{"delta": {"content": "a"}}]}\n\ndata: [DONE]\n\n', None),
        (b'data: {"choices": [{"delta": {"content": "a"}}]}\r\n\r\ndata: [DONE]\r\n\r\n', None),
        (b'event: message_stop\ndata: {"type": "message_stop"}\n\n', "unreadable"),
        (b'event: response.completed\ndata: {"type": "response.completed"', "unfinished"),
        (b'data: {"choices": [{"delta": {"content": "data: [DONE]"}}]}\n\n', "unfinished"),
        (b"data: [DONE]", "unfinished"),
        (b"", "unfinished"),
    ],
)
def test_a_client_that_leaves_behind_the_last_event_has_its_turn(
    stream: bytes, reason: str | None, tmp_path: Path
) -> None:
    exchanged = chat(0, said("a"), "A")
    names = {b"event: m": "/v1/messages", b"event: r": "/v1/responses"}
    route = names.get(stream[:8], exchanged.route)
    changed = {"cut": True, "reads": [(1.0, stream)], "answer_type": "text/event-stream"}
    changed |= {"route": route}
    assert writer(tmp_path).record(msgspec.structs.replace(exchanged, **changed)).reason == reason


def test_a_client_that_closes_at_done_is_recorded_and_one_that_closes_before_is_not(
    tmp_path: Path,
) -> None:
    """The upstream keeps the connection open behind the last event."""

    def slow(seen: Seen) -> Answer:
        answer = stand_in(seen)
        answer.gap_s = 0.5
        return answer

    async def test() -> None:
        async with scripted(slow) as upstream, recording(upstream.url, tmp_path) as recorder:
            for wanted in (b"[DONE]", b"said"):
                async with aiohttp.ClientSession() as http:
                    message = {"role": "user", "content": wanted.decode()}
                    body = {"model": "m", "messages": [message], "stream": True}
                    async with http.post(recorder.url + "/v1/chat/completions", json=body) as got:
                        while wanted not in await got.content.readany():
                            pass
                        got.close()
            await asyncio.sleep(0.2)
            counts = await recorder.end()
            assert (counts["recorded"], counts["reasons"]) == (1, {"unfinished": 1})

    asyncio.run(asyncio.wait_for(test(), 60))


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (b"{", "unreadable"),
        (b"[]", "not_a_request"),
        (b'{"model": "m", "input": "more", "previous_response_id": "r"}', "not_a_request"),
        (b'{"model": "m", "prompt": [1, 2]}', "not_a_request"),
        (b'{"model": "m", "messages": []}', "not_a_request"),
        (NESTED % (b"[" * 300 + b"]" * 300), None),
        (NESTED % (b"[" * 100_000 + b"]" * 100_000), "unreadable"),
        (NESTED % b'"\xff\xfe"', "unreadable"),
        (NESTED % b'"\\ud800"', "unreadable"),
    ],
)
def test_hostile_requests_cost_one_turn_at_most(
    body: bytes, reason: str | None, tmp_path: Path
) -> None:
    recorder = writer(tmp_path)
    said_of = recorder.record(msgspec.structs.replace(chat(0, [], "A"), request=body))
    assert said_of.reason == reason
    assert recorder.record(chat(1, said("a"), "A")).reason is None
    recorder.close()
    assert len(sessions_in(tmp_path)) == 1 + (reason is None)


def test_the_status_is_shown_on_a_signal_while_traffic_flows(tmp_path: Path) -> None:
    async def test(http: aiohttp.ClientSession, recorder: Recorder) -> None:
        await ask(http, recorder.url, 0)
        await recorder.recorded(1)
        await asyncio.sleep(0.2)
        recorder.process.send_signal(signal.SIGUSR1)
        await recorder.until("1 request passed on, 1 turn: 1 recorded in 1 session")
        await ask(http, recorder.url, 1)
        assert (await recorder.end(signal.SIGINT))["recorded"] == 2
        assert len(recorder.said) == 1  # nothing else, such as a traceback at the end

    run(tmp_path, test)


def test_requests_in_flight_end_before_the_recorder_does(tmp_path: Path) -> None:
    def slow(seen: Seen) -> Answer:
        answer = stand_in(seen)
        answer.gap_s = 0.3
        return answer

    async def test() -> None:
        async with (
            scripted(slow) as upstream,
            recording(upstream.url, tmp_path) as recorder,
            aiohttp.ClientSession() as http,
        ):
            asking = asyncio.create_task(ask(http, recorder.url, 0))
            await asyncio.sleep(0.1)
            counts: dict[str, Any] = await recorder.end()
            await asking
            assert counts["recorded"] == 1

    asyncio.run(asyncio.wait_for(test(), 60))
