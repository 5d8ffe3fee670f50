"""HTTP as bytes: an upstream that writes what a test tells it, and a client that reads all."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from aiohttp import web

from replay.recording.forwarder import Forwarder
from replay.recording.tape import Held, Tape

Script = Callable[["Received", asyncio.StreamWriter], Awaitable[None]]


@dataclass
class Received:
    """One request as it arrived. `gone` is set when its connection ends."""

    head: bytes
    body: bytes
    gone: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def target(self) -> str:
        return self.head.split(b" ", 2)[1].decode()

    @property
    def headers(self) -> list[tuple[str, str]]:
        return headers_of(self.head)


def headers_of(head: bytes) -> list[tuple[str, str]]:
    """(name, value) in order, names as sent."""
    lines = head.decode("latin-1").split("\r\n")[1:]
    return [(line.split(":", 1)[0], line.split(":", 1)[1].strip()) for line in lines if line]


@dataclass
class RawUpstream:
    """`script` answers each request; `received` lists them."""

    script: Script
    url: str = ""
    received: list[Received] = field(default_factory=list)

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        found: Received | None = None
        try:
            head = await reader.readuntil(b"\r\n\r\n")
            found = Received(head, await _body(reader, head))
            self.received.append(found)
            watching = asyncio.create_task(_watch(reader, found))
            await self.script(found, writer)
            await writer.drain()
            writer.close()
            await watching
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            if found is not None:
                found.gone.set()
            writer.close()


async def _watch(reader: asyncio.StreamReader, found: Received) -> None:
    with suppress(ConnectionError):
        await reader.read()
    found.gone.set()


async def _body(reader: asyncio.StreamReader, head: bytes) -> bytes:
    names = {name.lower(): value for name, value in headers_of(head)}
    if "chunked" in names.get("transfer-encoding", ""):
        body = b""
        while size := int(await reader.readline(), 16):
            body += (await reader.readexactly(size + 2))[:-2]
        await reader.readline()
        return body
    return await reader.readexactly(int(names.get("content-length", 0)))


@asynccontextmanager
async def raw_upstream(script: Script) -> AsyncIterator[RawUpstream]:
    """A listening upstream."""
    upstream = RawUpstream(script)
    server = await asyncio.start_server(upstream.serve, "127.0.0.1", 0)
    upstream.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    try:
        yield upstream
    finally:
        server.close()


@dataclass
class Passed:
    """A forwarder that serves at `url`; `tapes` are the exchanges that ended, with the reason."""

    url: str
    forwarder: Forwarder
    held: Held = field(default_factory=Held)
    tapes: list[tuple[Tape, str | None]] = field(default_factory=list)


@asynccontextmanager
async def forwarding(upstream: str) -> AsyncIterator[Passed]:
    """A forwarder in this process."""
    passed: Passed

    def begin(route: str) -> Tape:
        return Tape(len(passed.tapes), route, passed.held)

    forwarder = Forwarder(upstream, begin, lambda tape, why: passed.tapes.append((tape, why)))
    async with forwarder:
        runner = web.ServerRunner(forwarder.server(forwarder.handle), shutdown_timeout=0.1)
        await runner.setup()
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        port = runner.addresses[0][1]
        passed = Passed(f"http://127.0.0.1:{port}", forwarder)
        try:
            yield passed
        finally:
            await runner.cleanup()


async def connected(url: str) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    """A plain connection to the server of `url`."""
    place = urlsplit(url)
    return await asyncio.open_connection(place.hostname, place.port)


async def exchanged(url: str, request: bytes) -> bytes:
    """All that comes back on a connection of its own, until the server closes it."""
    reader, writer = await connected(url)
    writer.write(request)
    answer = b""
    try:
        while read := await reader.read(1 << 16):
            answer += read
    except ConnectionError:
        pass
    writer.close()
    return answer


def parted(answer: bytes) -> tuple[bytes, list[tuple[str, str]], bytes]:
    """Status line, headers and body of an answer; a chunked body is joined, and ends with
    ``<torn>`` where its last chunk is missing."""
    head, _, body = answer.partition(b"\r\n\r\n")
    headers = headers_of(head)
    names = {name.lower(): value for name, value in headers}
    if "chunked" in names.get("transfer-encoding", ""):
        joined = b""
        while True:
            size, _, rest = body.partition(b"\r\n")
            if not size or len(rest) < int(size, 16):
                return head.split(b"\r\n")[0], headers, joined + rest + b"<torn>"
            if int(size, 16) == 0:
                return head.split(b"\r\n")[0], headers, joined
            joined, body = joined + rest[: int(size, 16)], rest[int(size, 16) + 2 :]
    return head.split(b"\r\n")[0], headers, body
