"""One server over HTTP, open while its `async with` lasts."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Self

import aiohttp

from replay.sending.url import server_root
from traces.errors import ServerError
from traces.limits import BODY_BYTES, ERROR_CHARACTERS, mebibytes

CONNECT_TIMEOUT_S = 10.0

KEPT_S = 3.0
"""So long a connection without a request is kept: vLLM closes one after 5 s
(``VLLM_HTTP_TIMEOUT_KEEP_ALIVE``), and a request that meets that moment is lost."""


async def whole_body(answer: aiohttp.ClientResponse, url: str) -> bytes:
    """The body of an answer. Raises ServerError, which names `url`, past `BODY_BYTES`."""
    body = bytearray()
    async for read in answer.content.iter_any():
        body += read
        if len(body) > BODY_BYTES:
            raise ServerError(
                f"{url} answers with more than {mebibytes(BODY_BYTES)}",
                "is this a vLLM server? correct `urls`, or what stands before it",
            )
    return bytes(body)


async def error_body(answer: aiohttp.ClientResponse) -> bytes:
    """The beginning of an error's body, as much of it as is ever shown."""
    body = bytearray()
    async for read in answer.content.iter_any():
        body += read
        if len(body) > 4 * ERROR_CHARACTERS:
            break
    return bytes(body)


class Connection:
    """`base_url` is the server's root (``http://127.0.0.1:8000``, a trailing ``/v1`` is dropped).

    `api_key` goes out as a bearer token, and into no file or message. `timeout_s` bounds one
    answer, `headers` go with every request, `traces` see how it is sent.
    """

    def __init__(
        self,
        base_url: str,
        *,
        api_key: str,
        timeout_s: float,
        connections: int = 100,
        headers: Mapping[str, str] = MappingProxyType({}),
        traces: Sequence[aiohttp.TraceConfig] = (),
    ) -> None:
        self.base_url = server_root(base_url)
        self._timeout = aiohttp.ClientTimeout(total=timeout_s, sock_connect=CONNECT_TIMEOUT_S)
        self._headers = dict(headers)
        self._traces = list(traces)
        self._api_key = api_key
        if api_key:
            self._headers["Authorization"] = f"Bearer {api_key}"
        self._connections = connections
        self._session: aiohttp.ClientSession | None = None

    async def __aenter__(self) -> Self:
        self._session = self._open(
            aiohttp.TCPConnector(limit=self._connections, keepalive_timeout=KEPT_S)
        )
        return self

    def _open(self, connector: aiohttp.TCPConnector) -> aiohttp.ClientSession:
        return aiohttp.ClientSession(
            connector=connector,
            headers=self._headers,
            timeout=self._timeout,
            trace_configs=self._traces,
        )

    async def __aexit__(self, *error: object) -> None:
        if self._session is not None:
            await self._session.close()
            self._session = None

    @property
    def http(self) -> aiohttp.ClientSession:
        """The open session. Raises RuntimeError outside the `async with`."""
        if self._session is None:
            raise RuntimeError(f"use the {type(self).__name__} inside `async with`")
        return self._session
