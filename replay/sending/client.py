"""The streaming client: one POST, every network read stamped and kept, nothing parsed.

The read loop does as little as it can (one clock call and one append per read), so that arrival
times are the server's and not the client's; `benchmarks/client.py` measures its CPU time.
"""

import time
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import aiohttp

from replay.sending.connection import Connection
from traces.json_bytes import encode_json
from traces.limits import EVENT_BYTES, TURN_BYTES, PastLimit, mebibytes
from traces.wire.capture import Capture, CaptureKey, Event

KEPT_HEADERS = frozenset({"content-type", "date", "retry-after", "server", "x-request-id"})
"""Response headers worth keeping; all others may carry secrets and are dropped."""

CHAT = "/v1/chat/completions"


class StreamClient(Connection):
    """Sends requests to one server."""

    def __init__(
        self, base_url: str, *, api_key: str = "", timeout_s: float = 600.0, connections: int = 64
    ) -> None:
        super().__init__(
            base_url,
            api_key=api_key,
            timeout_s=timeout_s,
            connections=connections,
            headers={"Accept-Encoding": "identity", "Content-Type": "application/json"},
        )

    async def send(self, key: CaptureKey, request: Mapping[str, Any], route: str = CHAT) -> Capture:
        """One exchange. Network errors and time-outs do not raise: they are what was captured."""
        http = self.http
        body = encode_json(request)
        reads: list[tuple[float, bytes]] = []
        status: int | None = None
        headers: dict[str, str] = {}
        error: str | None = None
        ended = ""
        sent_at = time.time()
        clock = time.perf_counter
        start = clock()
        try:
            url = self.base_url + route
            async with http.post(url, data=body, allow_redirects=False) as response:
                status = response.status
                headers = _kept(response.headers)
                size = Size()
                async for read in response.content.iter_any():
                    reads.append((clock() - start, read))
                    size.add(read)
        except PastLimit as limit:
            ended, error = "error", f"broken off: {limit}"
        except TimeoutError:
            ended, error = "timeout", f"no end after {clock() - start:.1f} s"
        except (aiohttp.ClientError, OSError) as problem:
            ended, error = "error", f"{type(problem).__name__}: {problem}"
        if _is_done(reads):
            ended, error = "done", None
        return Capture(
            key=key,
            request=dict(request),
            status=status,
            sent_at=sent_at,
            events=tuple(_event(at, read) for at, read in reads),
            ended=ended or "closed",
            headers=headers,
            error=error,
        )

    async def abort(self, request: Mapping[str, Any], events: int) -> bool:
        """Send a request and close its stream after so many events, as a client that goes away
        does; whether it had not ended by then. What the server makes of it is not kept."""
        seen, last = 0, b""
        try:
            async with self.exchange(request, CHAT) as answer:
                async for read in answer.content.iter_any():
                    seen, last = seen + read.count(b"data:"), (last + read)[-64:]
                    if seen >= events:
                        return b"[DONE]" not in last
        except (aiohttp.ClientError, TimeoutError, OSError):
            pass  # the turn that follows shows what is wrong with the server
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


def _event(at_s: float, read: bytes) -> Event:
    """Milliseconds, and text wherever the read did not end inside a character."""
    at_ms = round(at_s * 1000, 3)
    try:
        return (at_ms, read.decode())
    except UnicodeDecodeError:
        return (at_ms, read)


def _is_done(reads: list[tuple[float, bytes]]) -> bool:
    """Whether the last line of the body is ``data: [DONE]``, the terminal event."""
    tail = b""
    for _, read in reversed(reads):
        tail = read + tail
        if len(tail) > 64:
            break
    last = tail.rstrip().rsplit(b"\n", 1)[-1]
    return last in (b"data: [DONE]", b"data:[DONE]")
