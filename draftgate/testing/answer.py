"""What one path answered to one request."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from checks.pair import Pair
    from traces.journal.exchange import Exchange
    from traces.wire.response import Response, ToolCall


@dataclass(frozen=True, slots=True, repr=False)
class Answer:
    """`path` is ``baseline`` or ``candidate``, `name` that of the turn; `error` says why there is
    no answer, where there is none. `response` holds everything that was on the wire.

    Its `repr` counts and never quotes: ``<candidate of chat-t0001: 200, 34 tokens, finish stop>``.
    """

    path: str
    name: str
    request: Mapping[str, Any]
    response: "Response"
    error: str | None = None

    @classmethod
    def of_exchange(cls, exchange: "Exchange", name: str) -> "Answer":
        """An exchange of a journal; where it carries token texts, `raw_text` joins them."""
        response = exchange.response
        texts = response.token_texts
        if response.raw_text is None and texts is not None:
            response = replace(response, raw_text="".join(texts))
        return cls(exchange.key.path, name, exchange.request, response, exchange.error)

    @property
    def status(self) -> int | None:
        """HTTP status; `None` where no answer came."""
        return self.response.status

    @property
    def content(self) -> str:
        """Text for the user."""
        return self.response.content

    @property
    def reasoning(self) -> str:
        """Reasoning text, where the server's parser split it off."""
        return self.response.reasoning

    @property
    def tool_calls(self) -> "tuple[ToolCall, ...]":
        """Calls with `name` and `arguments` (JSON text), as a client assembles them."""
        return self.response.tool_calls

    @property
    def finish_reason(self) -> str | None:
        """``stop``, ``tool_calls``, ``length`` …; `None` where the stream was cut."""
        return self.response.finish_reason

    @property
    def token_texts(self) -> tuple[str, ...] | None:
        """Text per output token; `None` where the wire did not carry them."""
        return self.response.token_texts

    def alone(self) -> "Pair":
        """The answer as evidence without a baseline."""
        from checks.pair import Pair, Side, side_of_response

        return Pair(dict(self.request), Side(), side_of_response(self.response))

    def texts(self) -> Iterator[str]:
        """Everything recorded in it, for masking."""
        from draftgate.testing.masking import texts_in

        yield from texts_in(self.request)
        yield from (self.content, self.reasoning, self.response.raw_text or "")
        for call in self.tool_calls:
            yield from (call.name or "", call.arguments)

    @property
    def summary(self) -> str:
        """``200, 34 tokens, finish stop``: counts, and nothing recorded."""
        parts = ["no answer" if self.status is None else str(self.status)]
        if self.response.tokens is not None:
            parts.append(f"{len(self.response.tokens)} tokens")
        if self.finish_reason:
            parts.append(f"finish {self.finish_reason}")
        return ", ".join(parts)

    def __repr__(self) -> str:
        return f"<{self.path} of {self.name}: {self.summary}>"
