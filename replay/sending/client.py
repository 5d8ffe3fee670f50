"""The streaming client: one POST, every network read stamped and kept, nothing parsed.

The read loop does as little as it can (one clock call and one append per read), so that arrival
times are the server's and not the client's; `benchmarks/client.py` measures its CPU time.
"""

import asyncio
import time
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, Self
from urllib.parse import urlsplit

import aiohttp

from replay.sending.connection import CONNECT_TIMEOUT_S, Connection
from traces.clock import seconds
from traces.json_bytes import encode_json
from traces.limits import ERROR_CHARACTERS, EVENT_BYTES, TURN_BYTES, PastLimit, mebibytes
from traces.shortage import raise_shortage
from traces.wire.capture import LOST, Capture, CaptureKey, Event
from traces.wire.route import PATHS, Route, is_ended

KEPT_HEADERS = frozenset({"content-type", "date", "retry-after", "server", "x-request-id"})
"""Response headers worth keeping; all others may carry secrets and are dropped."""

HIDDEN = b"[api key]"
"""Stands for the key where a server repeats it."""


class StreamClient(Connection):
    """Sends requests to one server.

    Each turn goes over a connection of its own: one that was kept may have been closed by the
    server as the turn was sent, and nothing tells that from a server that died under the turn.
    """

    def __init__(
        self, base_url: str, *, api_key: str = "", timeout_s: float = 600.0, connections: int = 64
    ) -> None:
        super().__init__(
            base_url,
            api_key=api_key,
            timeout_s=timeout_s,
            connections=connections,
            headers={"Accept-Encoding": "identity", "Content-Type": "application/json"},
            traces=[_connected()],
        )
        self._unkept: aiohttp.ClientSession | None = None

    async def __aenter__(self) -> Self:
        await super().__aenter__()
        self._unkept = self._open(aiohttp.TCPConnector(limit=self._connections, force_close=True))
        return self

    async def __aexit__(self, *error: object) -> None:
        if self._unkept is not None:
            await self._unkept.close()
        await super().__aexit__(*error)

    async def send(
        self,
        key: CaptureKey,
        request: Mapping[str, Any],
        route: Route = "chat",
    ) -> Capture:
        """One exchange. Network errors and time-outs do not raise: they are what was captured.
        Raises MachineError where this machine has no file handle or memory for it.

        Its times begin when the connection is there, so that no handshake is in them.
        """
        http = self._unkept or self.http
        body = encode_json(request)
        connected: dict[str, float] = {}
        reads: list[tuple[float, bytes]] = []
        status: int | None = None
        headers: dict[str, str] = {}
        error: str | None = None
        ended, waited = "", 0.0
        sent_at = seconds()
        clock = time.perf_counter
        start = clock()
        try:
            url = self.base_url + PATHS[route]
            async with http.post(
                url, data=body, allow_redirects=False, trace_request_ctx=connected
            ) as response:
                made = connected.get("at", start) - start
                start, sent_at = start + made, sent_at + made
                status = response.status
                headers = _kept(response.headers)
                size = Size()
                async for read in response.content.iter_any():
                    reads.append((clock() - start, read))
                    size.add(read)
        except PastLimit as limit:
            ended, error = "error", f"broken off: {limit}"
        except (aiohttp.ClientError, OSError) as problem:
            raise_shortage(problem)
            waited = clock() - start
            ended, error = _ending(problem, waited)
        if is_ended(route, b"".join(read for _, read in reads)):
            ended, error = "done", None
        if status != 200 and self._api_key:
            reads = _without(self._api_key, reads)
            hidden = HIDDEN.decode()
            headers = {k: text.replace(self._api_key, hidden) for k, text in headers.items()}
        return Capture(
            key=key,
            request=dict(request),
            status=status,
            sent_at=sent_at,
            events=tuple(_event(at, read) for at, read in reads),
            ended=ended or "closed",
            headers=headers,
            error=error,
            lost_ms=round(waited * 1000, 3) if ended in LOST else None,
            route=route,
        )

    async def takes_connections(self) -> bool:
        """Whether the server, or what stands before it, takes a connection now."""
        url = urlsplit(self.base_url)
        port = url.port or (443 if url.scheme == "https" else 80)
        try:
            opening = asyncio.open_connection(url.hostname, port)
            _, writer = await asyncio.wait_for(opening, CONNECT_TIMEOUT_S)
        except OSError as problem:
            raise_shortage(problem)
            return False
        writer.close()
        return True

    async def abort(self, request: Mapping[str, Any], events: int) -> bool:
        """Send a request and close its stream after so many events, as a client that goes away
        does; whether it had not ended by then. What the server makes of it is not kept."""
        seen, last = 0, b""
        try:
            async with self.exchange(request, PATHS["chat"]) as answer:
                async for read in answer.content.iter_any():
                    seen, last = seen + read.count(b"data:"), (last + read)[-64:]
                    if seen >= events:
                        return b"[DONE]" not in last
        except (aiohttp.ClientError, TimeoutError, OSError) as problem:
            raise_shortage(problem)
            # the turn that follows shows what is wrong with the server
        return False

    @asynccontextmanager
    async def exchange(
        self, request: Mapping[str, Any], route: str
    ) -> AsyncGenerator[aiohttp.ClientResponse, None]:
        """An open answer, for callers that stop early or keep no capture. Network errors raise
        (aiohttp.ClientError, TimeoutError).
        """
        url, body = self.base_url + route, encode_json(request)
        async with self.http.post(url, data=body, allow_redirects=False) as response:
            yield response


def _connected() -> aiohttp.TraceConfig:
    """Notes in the context of a request when its connection was made."""

    async def made(session: Any, context: Any, parameters: Any) -> None:
        if context.trace_request_ctx is not None:
            context.trace_request_ctx["at"] = time.perf_counter()

    trace = aiohttp.TraceConfig()
    trace.on_connection_create_end.append(made)
    return trace


def _ending(problem: Exception, waited: float) -> tuple[str, str]:
    """How a capture ended by a network error, and that error in words; `waited` is in seconds."""
    words = f"{type(problem).__name__}: {problem}"
    if isinstance(problem, (aiohttp.ClientConnectorError, aiohttp.ConnectionTimeoutError)):
        return "refused", words
    if isinstance(problem, TimeoutError):
        return "timeout", f"no end after {waited:.1f} s"
    if isinstance(problem, aiohttp.ClientResponseError):
        return "malformed", f"no HTTP answer: {problem.message}"[:ERROR_CHARACTERS]
    return "error", words


@dataclass(slots=True)
class Size:
    """Counts an answer's bytes. Raises PastLimit where it, or one line of it, is too long."""

    turn: int = 0
    line: int = 0

    def add(self, read: bytes) -> None:
        self.turn += len(read)
        last = read.rfind(b"\n")
        self.line = self.line + len(read) if last < 0 else len(read) - last
        if self.line > EVENT_BYTES:
            raise PastLimit(f"an event of more than {mebibytes(EVENT_BYTES)}")
        if self.turn > TURN_BYTES:
            raise PastLimit(f"an answer of more than {mebibytes(TURN_BYTES)}")


def _kept(headers: Mapping[str, str]) -> dict[str, str]:
    return {name.lower(): text for name, text in headers.items() if name.lower() in KEPT_HEADERS}


def _without(api_key: str, reads: list[tuple[float, bytes]]) -> list[tuple[float, bytes]]:
    """A refusal without the key, which some servers repeat in it. What came in several reads is one
    where the key was in it."""
    body = b"".join(read for _, read in reads)
    secret = api_key.encode()
    return [(reads[-1][0], body.replace(secret, HIDDEN))] if secret in body else reads


def _event(at_s: float, read: bytes) -> Event:
    """Milliseconds, and text wherever the read did not end inside a character."""
    at_ms = round(at_s * 1000, 3)
    try:
        return (at_ms, read.decode())
    except UnicodeDecodeError:
        return (at_ms, read)
