"""Passes requests on to the upstream and its answers back, byte for byte and as they come.

Each network read of the upstream is one write to the client; bodies are not decompressed, statuses,
reasons and end-to-end headers are the upstream's. A client that goes away ends the upstream's
request; an upstream that breaks off ends the client's connection at the same byte. The only time
limit is `CONNECT_TIMEOUT_S` for making a connection. An upstream that takes no connection is
answered by 502.
"""

import asyncio
import contextlib
import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Self

import aiohttp
from aiohttp import web
from multidict import CIMultiDict
from yarl import URL

from replay.recording.headers import ANSWERED_HERE, passed_on
from replay.recording.tape import TURNS, Tape
from replay.sending.connection import CONNECT_TIMEOUT_S, KEPT_S

HEADER_BYTES = 1 << 17
"""Of one header line, and of a request line; aiohttp's own limit of 8 KiB is below some cookies."""

AUTOMATIC = ("Accept", "Accept-Encoding", "Content-Type", "User-Agent")
"""Headers that aiohttp's client adds where there are none."""

ADDED = ("Content-Type", "Date", "Server")
"""Headers that aiohttp's server adds where there are none."""

SILENT = logging.getLogger("draftgate.record.http")
"""aiohttp logs each malformed request with its bytes; they may hold secrets."""
SILENT.addHandler(logging.NullHandler())
SILENT.propagate = False

Handler = Callable[[web.BaseRequest], Awaitable[web.StreamResponse]]
Begin = Callable[[str], Tape | None]
End = Callable[[Tape, str | None], None]


class Forwarder:
    """A handler of `aiohttp.web.Server` for one upstream, open while its `async with` lasts.

    `begin` gives the tape of an exchange on a recorded route; `end` takes it back, with the reason
    where the answer did not come to its end.
    """

    def __init__(self, upstream: str, begin: Begin, end: End) -> None:
        self._upstream = upstream
        self._begin, self._end = begin, end
        self._session: aiohttp.ClientSession | None = None
        self.in_flight = 0

    async def __aenter__(self) -> Self:
        self._session = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(limit=0, keepalive_timeout=KEPT_S),
            timeout=aiohttp.ClientTimeout(total=None, sock_connect=CONNECT_TIMEOUT_S),
            cookie_jar=aiohttp.DummyCookieJar(),
            auto_decompress=False,
            skip_auto_headers=AUTOMATIC,
            max_line_size=HEADER_BYTES,
            max_field_size=HEADER_BYTES,
        )
        return self

    async def __aexit__(self, *error: object) -> None:
        if self._session is not None:
            await self._session.close()

    @staticmethod
    def server(handler: Handler) -> web.Server:
        """The server that clients speak to, around `handle`; call it inside a running loop."""
        return web.Server(
            handler,
            handler_cancellation=True,
            auto_decompress=False,
            access_log=None,
            logger=SILENT,
            max_line_size=HEADER_BYTES,
            max_field_size=HEADER_BYTES,
        )

    async def handle(self, request: web.BaseRequest) -> web.StreamResponse:
        """One request, passed on."""
        tape = self._begin(request.path) if _is_turn(request) else None
        self.in_flight += 1
        why: str | None = "unfinished"
        try:
            response, why = await self._pass_on(request, tape)
            return response
        finally:
            self.in_flight -= 1
            if tape is not None:
                self._end(tape, why)

    async def _pass_on(
        self, request: web.BaseRequest, tape: Tape | None
    ) -> tuple[web.StreamResponse, str | None]:
        assert self._session is not None
        if not request.raw_path.startswith("/"):  # else it could name another host
            return web.Response(status=400, text="a request target begins with /"), "refused"
        if tape is not None:
            tape.request_encoding = request.headers.get("Content-Encoding", "")
        await _continue(request)
        try:
            async with self._session.request(
                request.method,
                URL(self._upstream + request.raw_path, encoded=True),
                headers=passed_on(request.raw_headers, ANSWERED_HERE),
                data=_asked(request, tape) if request.body_exists else None,
                allow_redirects=False,
            ) as upstream:
                return await _answer(request, upstream, tape)
        except (aiohttp.ClientConnectorError, aiohttp.ConnectionTimeoutError) as error:
            return _unreachable(error), "refused"
        except (aiohttp.ClientError, ConnectionError) as error:
            return _broken_off(request, error), "unfinished"


async def _answer(
    request: web.BaseRequest, upstream: aiohttp.ClientResponse, tape: Tape | None
) -> tuple[web.StreamResponse, str | None]:
    """The upstream's answer, written to the client as it comes."""
    response = _Passed(upstream.status, upstream.reason, passed_on(upstream.raw_headers))
    if tape is not None:
        tape.status = upstream.status
        tape.answer_type = upstream.headers.get("Content-Type", "")
        tape.answer_encoding = upstream.headers.get("Content-Encoding", "")
    await response.prepare(request)
    async for read in upstream.content.iter_any():
        if tape is not None:
            tape.answered(read)
        await response.write(read)
    return response, None


class _Passed(web.StreamResponse):
    """An answer with the upstream's headers, and no header that the upstream did not send."""

    def __init__(self, status: int, reason: str | None, headers: CIMultiDict[str]) -> None:
        super().__init__(status=status, reason=reason or "", headers=headers)
        self._missing = [name for name in ADDED if name not in headers]

    async def _prepare_headers(self) -> None:
        await super()._prepare_headers()
        for name in self._missing:
            self.headers.popall(name, None)


async def _asked(request: web.BaseRequest, tape: Tape | None) -> AsyncIterator[bytes]:
    """The request body, as it comes from the client."""
    async for read in request.content.iter_any():
        if tape is not None:
            tape.asked(read)
        yield read


async def _continue(request: web.BaseRequest) -> None:
    """Answer ``Expect: 100-continue``, so that the client sends its body."""
    if request.headers.get("Expect", "").lower() == "100-continue":
        await request.writer.write(b"HTTP/1.1 100 Continue\r\n\r\n")
        request.writer.output_size = 0


def _is_turn(request: web.BaseRequest) -> bool:
    return request.method == "POST" and request.path in TURNS


def _unreachable(error: aiohttp.ClientError) -> web.Response:
    """The answer in place of an upstream that takes no connection."""
    words = f"the upstream of draftgate record takes no connection ({type(error).__name__})"
    body = {"error": {"message": words, "type": "upstream_unreachable", "code": 502}}
    return web.json_response(body, status=502)


def _broken_off(request: web.BaseRequest, error: Exception) -> web.StreamResponse:
    """Close the client's connection behind the bytes it has, as the upstream did."""
    with contextlib.suppress(AttributeError):
        if request.transport is not None:
            request.transport.close()
    return web.Response(status=502)


async def drained(forwarder: Forwarder, seconds: float) -> bool:
    """Wait until nothing is in flight, at most so long; whether that came."""
    end = asyncio.get_running_loop().time() + seconds
    while forwarder.in_flight and asyncio.get_running_loop().time() < end:
        await asyncio.sleep(0.05)
    return not forwarder.in_flight
