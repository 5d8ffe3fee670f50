"""Which requests were in flight beside which, and what their answers say."""

from bisect import bisect_right
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from traces.journal.exchange import Exchange, TurnId
from traces.wire.response import Response


class Span(NamedTuple):
    """When a turn was sent and when its last byte came, in seconds since the epoch."""

    sent_at: float
    turn: TurnId
    ended_at: float


def span_of(exchange: Exchange) -> Span:
    return Span(exchange.sent_at, exchange.turn, exchange.ended_at)


class InFlight:
    """Which requests of an arm were in flight beside which."""

    def __init__(self, spans: Iterable[Span]) -> None:
        self._by_start = sorted(spans)
        self._starts = [span.sent_at for span in self._by_start]
        self._longest = max((one.ended_at - one.sent_at for one in self._by_start), default=0.0)

    def beside(self, span: Span) -> Iterator[TurnId]:
        """Those whose time overlaps that of `span`, in the order they were sent."""
        first = bisect_right(self._starts, span.sent_at - self._longest) - 1
        last = bisect_right(self._starts, span.ended_at)
        for other in self._by_start[max(first, 0) : last]:
            if other.turn != span.turn and other.ended_at >= span.sent_at:
                yield other.turn


def text_of(response: Response) -> str:
    """What an answer says, as a neighbor's text may leak into another."""
    calls = (f"{call.name or ''}{call.arguments}" for call in response.tool_calls)
    return response.content + "".join(calls)
