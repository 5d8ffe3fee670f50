"""The proxy: byte for byte, at once, and no more alive than either side."""

import asyncio
import gzip
from collections.abc import Awaitable, Callable

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from replay.recording.headers import HOP_BY_HOP
from replay.recording.tape import Held
from tests.support.raw_http import (
    Received,
    connected,
    exchanged,
    forwarding,
    parted,
    raw_upstream,
)

CHAT = "/v1/chat/completions"
HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"


def request(
    path: str = CHAT, body: bytes = b"{}", more: bytes = b"", method: str = "POST"
) -> bytes:
    head = f"{method} {path} HTTP/1.1\r\nHost: agent\r\nConnection: close\r\n".encode() + more
    return head + f"Content-Length: {len(body)}\r\n\r\n".encode() + body


def chunk(data: bytes) -> bytes:
    return f"{len(data):x}\r\n".encode() + data + b"\r\n"


def run(test: Callable[[], Awaitable[None]]) -> None:
    asyncio.run(asyncio.wait_for(test(), 60))


def end_to_end(headers: list[tuple[str, str]]) -> list[tuple[str, str]]:
    return [pair for pair in headers if pair[0].lower() not in HOP_BY_HOP]


EVENTS = (b"data: {}\n\n", b"data: {}\r\n\r\n", b": ping\n\n", b"data: \xe6\xbc\xa2\n\n", b"\r")
EVENT = st.sampled_from(EVENTS)
STATUSES = (b"200 OK", b"200 Fine", b"400 Bad Request", b"429 Slow", b"503 ")
NAMES = (b"Date", b"server", b"X-Id", b"X-Id", b"Retry-After")
BODIES = st.lists(st.one_of(EVENT, st.binary(max_size=40)), max_size=12).map(b"".join)


@st.composite
def answers(draw: st.DrawFn) -> list[bytes]:
    """The writes of an answer: any status, any body, chunked, with a length or until the close,
    cut anywhere."""
    status = draw(st.sampled_from(STATUSES))
    body = draw(BODIES)
    framing = draw(st.sampled_from(("length", "chunked", "close")))
    head = b"HTTP/1.1 " + status + b"\r\n"
    for name in draw(st.lists(st.sampled_from(NAMES))):
        head += name + b": a b\r\n"
    if draw(st.booleans()):
        head += b"Content-Type: text/event-stream\r\n"
    if framing == "length":
        parts = [head + f"Content-Length: {len(body)}\r\n\r\n".encode(), body]
    elif framing == "chunked":
        size = draw(st.integers(1, 30))
        pieces = [chunk(body[at : at + size]) for at in range(0, len(body), size)]
        parts = [head + b"Transfer-Encoding: chunked\r\n\r\n", *pieces, b"0\r\n\r\n"]
    else:
        parts = [head + b"Connection: close\r\n\r\n", body]
    whole = b"".join(parts)
    cuts = sorted(draw(st.lists(st.integers(0, len(whole)), max_size=6)))
    return [whole[a:b] for a, b in zip([0, *cuts], [*cuts, len(whole)], strict=True)]


def test_what_comes_back_is_what_a_direct_connection_gives() -> None:
    with asyncio.Runner() as runner:
        writes: list[bytes] = []

        async def script(received: Received, writer: asyncio.StreamWriter) -> None:
            for write in writes:
                writer.write(write)
                await writer.drain()
                await asyncio.sleep(0)

        upstream_context = raw_upstream(script)
        upstream = runner.run(upstream_context.__aenter__())
        proxy_context = forwarding(upstream.url)
        proxy = runner.run(proxy_context.__aenter__())

        @settings(max_examples=150, suppress_health_check=list(HealthCheck))
        @given(answers(), st.sampled_from((CHAT, "/v1/models")))
        def same(drawn: list[bytes], path: str) -> None:
            writes[:] = drawn
            direct = parted(runner.run(exchanged(upstream.url, request(path))))
            passed = parted(runner.run(exchanged(proxy.url, request(path))))
            assert passed[0] == direct[0]
            assert end_to_end(passed[1]) == end_to_end(direct[1])
            assert passed[2] == direct[2]

        same()
        assert len(proxy.tapes) > 20
        runner.run(proxy_context.__aexit__(None, None, None))
        runner.run(upstream_context.__aexit__(None, None, None))


@pytest.mark.parametrize("path", [CHAT, "/v1/messages/count_tokens?beta=true&x=%2f%20a", "/health"])
@pytest.mark.parametrize("method", ["POST", "PUT", "GET", "HEAD", "DELETE", "OPTIONS"])
def test_the_upstream_gets_the_request_as_it_was(path: str, method: str) -> None:
    async def test() -> None:
        async def script(received: Received, writer: asyncio.StreamWriter) -> None:
            writer.write(b"HTTP/1.1 204 No Content\r\n\r\n")

        body = gzip.compress(b'{"a": 1}') + bytes(range(256))
        more = b"X-API-Key: k\r\nx-two: 1\r\nX-Two: 2\r\nContent-Encoding: gzip\r\nCookie: c=d\r\n"
        more += b"Connection: X-Hop\r\nX-Hop: 1\r\nTE: trailers\r\n"
        async with raw_upstream(script) as upstream, forwarding(upstream.url) as proxy:
            answer = await exchanged(proxy.url, request(path, body, more, method))
            (got,) = upstream.received
        assert parted(answer)[0] == b"HTTP/1.1 204 No Content"
        assert got.head.startswith(f"{method} {path} HTTP/1.1\r\n".encode())
        assert got.body == body
        wanted = [("X-API-Key", "k"), ("x-two", "1"), ("x-two", "2"), ("Content-Encoding", "gzip")]
        wanted += [("Cookie", "c=d"), ("Content-Length", str(len(body)))]
        found = [pair for pair in end_to_end(got.headers) if pair[0] != "Host"]
        assert sorted(found) == sorted(wanted)

    run(test)


def test_a_chunked_request_arrives_whole_and_100_continue_is_answered() -> None:
    async def test() -> None:
        async def script(received: Received, writer: asyncio.StreamWriter) -> None:
            writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")

        async with raw_upstream(script) as upstream, forwarding(upstream.url) as proxy:
            reader, writer = await connected(proxy.url)
            writer.write(f"POST {CHAT} HTTP/1.1\r\nHost: a\r\n".encode())
            writer.write(b"Expect: 100-continue\r\nTransfer-Encoding: chunked\r\n\r\n")
            assert await reader.readuntil(b"\r\n\r\n") == b"HTTP/1.1 100 Continue\r\n\r\n"
            writer.write(chunk(b'{"a":') + chunk(b" 1}") + b"0\r\n\r\n")
            assert (await reader.readuntil(b"\r\n\r\n")).startswith(b"HTTP/1.1 200 OK")
            writer.close()
            assert upstream.received[0].body == b'{"a": 1}'
            tape, why = proxy.tapes[0]
            assert (tape.exchanged().request, why) == (b'{"a": 1}', None)

    run(test)


def test_each_read_is_passed_on_at_once() -> None:
    """The upstream writes an event only after the client has the one before, headers first."""

    async def test() -> None:
        seen = [asyncio.Event() for _ in range(4)]

        async def script(received: Received, writer: asyncio.StreamWriter) -> None:
            writer.write(HEAD)
            for number, event in enumerate(seen):
                await event.wait()
                writer.write(chunk(b"data: %d\n\n" % number))
            writer.write(b"0\r\n\r\n")

        async with raw_upstream(script) as upstream, forwarding(upstream.url) as proxy:
            reader, writer = await connected(proxy.url)
            writer.write(request())
            await reader.readuntil(b"\r\n\r\n")
            for number, event in enumerate(seen):
                event.set()
                assert b"data: %d" % number in await reader.readuntil(b"\n\n\r\n")
            assert await reader.read() == b"0\r\n\r\n"
            writer.close()
            reads = [read for _, read in proxy.tapes[0][0].exchanged().reads]
            assert reads == [b"data: %d\n\n" % number for number in range(4)]

    run(test)


@pytest.mark.parametrize("streaming", [True, False])
def test_a_client_that_goes_away_ends_the_upstream_request(streaming: bool) -> None:
    async def test() -> None:
        async def script(received: Received, writer: asyncio.StreamWriter) -> None:
            if streaming:
                writer.write(HEAD + chunk(b"data: 0\n\n"))
            await received.gone.wait()

        async with raw_upstream(script) as upstream, forwarding(upstream.url) as proxy:
            reader, writer = await connected(proxy.url)
            writer.write(request())
            while not upstream.received:
                await asyncio.sleep(0.01)
            if streaming:
                await reader.readuntil(b"data: 0\n\n")
            writer.close()
            await asyncio.wait_for(upstream.received[0].gone.wait(), 10)
            while proxy.forwarder.in_flight:
                await asyncio.sleep(0.01)
            assert [why for _, why in proxy.tapes] == ["unfinished"]

    run(test)


@pytest.mark.parametrize(
    "written",
    [
        b"",
        b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc",
        HEAD + chunk(b"data: 0\n\n"),
        HEAD + chunk(b"data: 0\n\n") + b"f\r\nda",
    ],
)
def test_an_upstream_that_breaks_off_ends_the_client_at_the_same_byte(written: bytes) -> None:
    async def test() -> None:
        async def script(received: Received, writer: asyncio.StreamWriter) -> None:
            writer.write(written)

        async with raw_upstream(script) as upstream, forwarding(upstream.url) as proxy:
            answer = await exchanged(proxy.url, request())
            direct = await exchanged(upstream.url, request())
            assert [why for _, why in proxy.tapes] == ["unfinished"]
        if not written:
            assert answer == direct == b""
        else:
            passed, wanted = parted(answer)[2], parted(direct)[2]
            assert passed == wanted
            assert passed in (b"abc", b"data: 0\n\n<torn>", b"data: 0\n\nda<torn>")

    run(test)


def test_an_upstream_that_is_not_there_is_a_502() -> None:
    async def test() -> None:
        async with forwarding("http://127.0.0.1:9") as proxy:
            status, _, body = parted(await exchanged(proxy.url, request()))
            assert status == b"HTTP/1.1 502 Bad Gateway"
            assert b"upstream_unreachable" in body
            assert [why for _, why in proxy.tapes] == ["refused"]

    run(test)


def test_no_request_target_names_another_host() -> None:
    async def test() -> None:
        async def script(received: Received, writer: asyncio.StreamWriter) -> None:
            writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")

        async with raw_upstream(script) as other, forwarding("http://127.0.0.1:9") as proxy:
            place = other.url.removeprefix("http://")
            for target in (f"@{place}/x", f"http://{place}/x", f"x@{place}/"):
                answer = await exchanged(proxy.url, request(target, method="GET"))
                assert answer.startswith((b"HTTP/1.0 400", b"HTTP/1.1 400")), target
            assert other.received == []

    run(test)


@pytest.mark.parametrize("limit", [0, 10])
def test_what_is_too_much_to_keep_is_passed_on_all_the_same(limit: int) -> None:
    async def test() -> None:
        async def script(received: Received, writer: asyncio.StreamWriter) -> None:
            writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n" + b"a" * 1000)

        async with raw_upstream(script) as upstream, forwarding(upstream.url) as proxy:
            proxy.held = Held(limit=limit)
            assert parted(await exchanged(proxy.url, request()))[2] == b"a" * 1000
            (tape, why), *_ = proxy.tapes
            assert (tape.spoiled, tape.size, proxy.held.bytes, why) == ("queue_full", 0, 0, None)

    run(test)
