"""The client keeps every read with its time, and says how the stream ended."""

import asyncio
import itertools
from pathlib import Path

import pytest

from replay.launch.port import free_port
from replay.sending.client import StreamClient
from tests.support.scripted.server import DONE, Answer, scripted, sse
from traces.journal.journal import JournalWriter
from traces.wire.capture import Capture, CaptureKey

KEY = CaptureKey("r1", "candidate", "main", "s1", "t1")
SECRET = "sk-very-secret-key"


def exchange(answer: Answer, timeout_s: float = 10.0, api_key: str = "") -> Capture:
    async def run() -> Capture:
        async with scripted(lambda seen: answer) as server:
            client = StreamClient(server.url, timeout_s=timeout_s, api_key=api_key)
            async with client:
                return await client.send(KEY, {"messages": [], "stream": True})

    return asyncio.run(run())


def test_each_write_of_the_server_is_one_read_with_its_time() -> None:
    writes = [*sse({"n": 1}, {"n": 2}, {"n": 3}), DONE]
    capture = exchange(Answer(writes=writes, gap_s=0.05))
    assert [read.encode() for _, read in capture.events if isinstance(read, str)] == writes
    times = [at for at, _ in capture.events]
    assert all(later - earlier > 45 for earlier, later in itertools.pairwise(times))
    assert (capture.status, capture.ended, capture.error) == (200, "done", None)


def test_the_time_to_the_first_byte_counts_from_the_request() -> None:
    capture = exchange(Answer(hang_s=0.2))
    assert capture.events[0][0] > 195


def test_a_read_that_ends_inside_a_character_is_kept_as_bytes() -> None:
    capture = exchange(Answer(writes=[b'data: {"c":"\xe2\x82', b'\xac"}\n\n', DONE], gap_s=0.05))
    assert capture.events[0][1] == b'data: {"c":"\xe2\x82'
    assert capture.body == b'data: {"c":"\xe2\x82\xac"}\n\n' + DONE


@pytest.mark.parametrize(
    ("answer", "ended"),
    [
        (Answer(writes=sse({"n": 1})), "closed"),
        (Answer(writes=sse({"n": 1}), drop="after", gap_s=0.05), "error"),
        (Answer(drop="before"), "error"),
        (Answer(writes=[*sse({"n": 1}), DONE], drop="after", gap_s=0.05), "done"),
        (Answer(writes=[b"data: [DO", b"NE]\r\n\r\n"], gap_s=0.02), "done"),
        (Answer(writes=[b'data: {"c":"\\ndata: [DONE]"}\n\n']), "closed"),
        (Answer(writes=[b'{"error":{"message":"no"}}'], status=400), "closed"),
    ],
)
def test_how_a_stream_ended(answer: Answer, ended: str) -> None:
    capture = exchange(answer)
    assert capture.ended == ended
    assert (capture.error is not None) == (ended == "error")
    assert capture.status == (None if answer.drop == "before" else answer.status)


def test_a_time_out_keeps_what_came_before_it() -> None:
    capture = exchange(Answer(writes=sse({"n": 1}, {"n": 2}), gap_s=30), timeout_s=2)
    assert (capture.ended, capture.status) == ("timeout", 200)
    assert capture.body == sse({"n": 1})[0]
    assert "no end after 2." in str(capture.error)


def test_a_refused_connection_is_a_capture_without_status() -> None:
    async def run() -> Capture:
        async with StreamClient(f"http://127.0.0.1:{free_port()}/v1/") as client:
            return await client.send(KEY, {})

    capture = asyncio.run(run())
    assert (capture.status, capture.ended, capture.events) == (None, "refused", ())
    assert "Connect" in str(capture.error)


def test_the_key_goes_to_the_server_and_nowhere_else(tmp_path: Path) -> None:
    received: list[str | None] = []

    async def run() -> Capture:
        def script(seen: object) -> Answer:
            received.append(seen.headers.get("Authorization"))  # type: ignore[attr-defined]
            return Answer(headers={"Set-Cookie": SECRET, "X-Api-Key": SECRET, "X-Request-Id": "7"})

        async with scripted(script) as server, StreamClient(server.url, api_key=SECRET) as client:
            return await client.send(KEY, {"messages": []})

    capture = asyncio.run(run())
    assert received == [f"Bearer {SECRET}"]
    assert capture.headers["x-request-id"] == "7"
    assert SECRET not in repr(capture)
    file = tmp_path / "j.jsonl.zst"
    with JournalWriter(file) as writer:
        writer.add(capture)
    assert SECRET.encode() not in file.read_bytes()
