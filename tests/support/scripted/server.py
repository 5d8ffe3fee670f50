"""A scripted stand-in for a vLLM server: it does what a test tells it to, faults included."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web
from aiohttp.test_utils import TestServer

DONE = b"data: [DONE]\n\n"


def sse(*chunks: dict[str, Any]) -> list[bytes]:
    """Chunks as SSE events."""
    return [b"data: " + json.dumps(chunk).encode() + b"\n\n" for chunk in chunks]


@dataclass
class Answer:
    """What the server does with one request: `writes` with `gap_s` between them, then the end.

    `drop` cuts the connection: ``before`` any byte, or ``after`` the writes, without the end of the
    chunked body. `hang_s` waits before the first byte.
    """

    writes: list[bytes] = field(default_factory=lambda: [*sse({"choices": []}), DONE])
    status: int = 200
    content_type: str = "text/event-stream"
    headers: dict[str, str] = field(default_factory=dict)
    gap_s: float = 0.0
    hang_s: float = 0.0
    drop: str = ""


@dataclass
class Seen:
    """One request as it arrived, with how many others were in flight."""

    route: str
    body: dict[str, Any]
    headers: dict[str, str]
    in_flight: int


Script = Callable[[Seen], Answer]


class ScriptedServer:
    """`seen` lists all requests; `script` decides about each."""

    def __init__(self, script: Script) -> None:
        self.script = script
        self.seen: list[Seen] = []
        self.url = ""
        self._in_flight = 0

    async def handle(self, request: web.Request) -> web.StreamResponse:
        self._in_flight += 1
        try:
            body = await request.json() if request.can_read_body else {}
            seen = Seen(request.path, body, dict(request.headers), self._in_flight)
            self.seen.append(seen)
            return await self._answer(request, self.script(seen))
        finally:
            self._in_flight -= 1

    async def _answer(self, request: web.Request, answer: Answer) -> web.StreamResponse:
        await asyncio.sleep(answer.hang_s)
        if answer.drop == "before":
            assert request.transport is not None
            request.transport.abort()
            return web.Response()
        response = web.StreamResponse(status=answer.status, headers=answer.headers)
        response.content_type = answer.content_type
        await response.prepare(request)
        for write in answer.writes:
            await response.write(write)
            await asyncio.sleep(answer.gap_s)
        if answer.drop == "after":
            assert request.transport is not None
            request.transport.abort()
        else:
            await response.write_eof()
        return response


@asynccontextmanager
async def scripted(script: Script, port: int = 0) -> AsyncIterator[ScriptedServer]:
    """A running server; its URL is in `url`."""
    server = ScriptedServer(script)
    app = web.Application(client_max_size=1 << 26)
    app.router.add_route("*", "/{tail:.*}", server.handle)
    running = TestServer(app, port=port or None)
    await running.start_server()
    server.url = str(running.make_url("")).rstrip("/")
    try:
        yield server
    finally:
        await running.close()
