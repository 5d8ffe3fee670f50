"""A paper server whose answers to some requests are an attack."""

import asyncio
import gzip
import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from aiohttp import web

from tests.support.paper.server import PaperServer

MIB = 1 << 20


@dataclass
class Raw:
    """An answer as bytes on the wire, each part after a pause (s)."""

    parts: Iterable[bytes]
    status: int = 200
    headers: dict[str, str] | None = None
    pause_s: float = 0.0


def events(*data: str | dict[str, Any]) -> Raw:
    """A stream of these events, ended by [DONE]."""
    texts = [part if isinstance(part, str) else json.dumps(part) for part in data]
    return Raw([f"data: {text}\n\n".encode() for text in (*texts, "[DONE]")])


def long_line(size: int = 24 * MIB) -> Raw:
    """An event that does not end."""
    return Raw(b'data: {"choices": "' if i == 0 else b"a" * MIB for i in range(size // MIB))


def gzip_bomb(size: int = 200 * MIB) -> Raw:
    """A short body that unpacks to a long one, although the request takes none that is packed."""
    return Raw([gzip.compress(bytes(size), 9)], headers={"Content-Encoding": "gzip"})


@dataclass
class HostileServer(PaperServer):
    """Answers by `attack` where that gives something: of (route, body of the request)."""

    attack: Callable[[str, dict[str, Any]], Raw | None] = lambda route, body: None

    def application(self) -> web.Application:
        app = super().application()
        app.middlewares.append(self._attacked)
        return app

    @web.middleware
    async def _attacked(self, request: web.Request, handler: Any) -> web.StreamResponse:
        body = await request.json() if request.method == "POST" else {}
        raw = self.attack(request.path, body)
        if raw is None:
            return await handler(request)
        response = web.StreamResponse(status=raw.status, headers=raw.headers)
        await response.prepare(request)
        try:
            for part in raw.parts:
                await asyncio.sleep(raw.pause_s)
                await response.write(part)
            await response.write_eof()
        except ConnectionError:
            pass  # the client has broken it off
        return response
