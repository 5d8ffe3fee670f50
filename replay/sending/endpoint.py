"""Plain questions to a running server: health, version, models, metrics, token counts."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import aiohttp
from msgspec import Struct, ValidationError, convert

from replay.sending.connection import Connection, whole_body
from traces.errors import ServerError
from traces.json_bytes import encode_json
from traces.served_json import decode_served
from traces.shortage import raise_shortage
from traces.wire.chunk import Count

ANSWER_TIMEOUT_S = 300.0
"""The first generation after a start may take minutes on a busy machine."""

TOKENIZED_FIELDS = ("messages", "tools", "chat_template_kwargs", "chat_template")
"""What of a chat request decides its prompt, and ``/tokenize`` accepts."""


class Endpoint(Connection):
    """One server, by its root URL. Raises ServerError where it cannot be reached.

    async with Endpoint("http://127.0.0.1:8000") as server:
        await server.get_json("/version")            # {"version": "0.32.0"}
    """

    def __init__(
        self, base_url: str, *, api_key: str = "", timeout_s: float = ANSWER_TIMEOUT_S
    ) -> None:
        super().__init__(base_url, api_key=api_key, timeout_s=timeout_s)

    async def get_json(self, route: str) -> Any | None:
        """The answer, or None for any status but 200 and for what is no JSON."""
        status, body = await self._ask("GET", route, None)
        return _json(status, body)

    async def get_text(self, route: str) -> str | None:
        """The answer as text, or None for any status but 200."""
        status, body = await self._ask("GET", route, None)
        return body.decode(errors="replace") if status == 200 else None

    async def post_json(self, route: str, request: Mapping[str, Any]) -> Any | None:
        """As `get_json`, for a POST."""
        status, body = await self._ask("POST", route, encode_json(request))
        return _json(status, body)

    async def tokenize(self, model: str, chat: Mapping[str, Any]) -> "Tokenized | None":
        """The prompt of a chat request, or None where the server does not say."""
        fields = {name: chat[name] for name in TOKENIZED_FIELDS if chat.get(name) is not None}
        answer = await self.post_json("/tokenize", {"model": model, **fields})
        try:
            tokenized = convert(answer, _Tokenized)
        except ValidationError:
            return None
        return Tokenized(tokenized.tokens, tokenized.max_model_len)

    async def _ask(self, method: str, route: str, body: bytes | None) -> tuple[int, bytes]:
        http = self.http
        headers = {"Content-Type": "application/json"} if body is not None else {}
        url = self.base_url + route
        try:
            async with http.request(
                method, url, data=body, headers=headers, allow_redirects=False
            ) as answer:
                if answer.status in (401, 403):
                    raise ServerError(
                        f"{url} refuses access (status {answer.status})",
                        "name the variable that holds the key in `api_key_env`",
                    )
                if 300 <= answer.status < 400:
                    raise ServerError(
                        f"{url} redirects to another place (status {answer.status})",
                        "write the URL of the server itself; prompts are sent nowhere else",
                    )
                return answer.status, await whole_body(answer, url)
        except (aiohttp.ClientError, OSError, TimeoutError) as problem:
            raise_shortage(problem)
            text = str(problem) or type(problem).__name__
            raise ServerError(
                f"{url} cannot be reached: {text}", "check the URL, and that the server is up"
            ) from None


@dataclass(frozen=True, slots=True)
class Tokenized:
    """Prompt token ids, and the server's context length in tokens (prompt and output)."""

    ids: tuple[int, ...]
    max_model_len: int | None


class _Tokenized(Struct):
    """``{"count": 3, "max_model_len": 16384, "tokens": [1, 2, 3]}``."""

    tokens: tuple[Count, ...]
    max_model_len: Count | None = None


def _json(status: int, body: bytes) -> Any | None:
    if status != 200:
        return None
    try:
        return decode_served(body)
    except ValueError:
        return None
