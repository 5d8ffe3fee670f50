"""One request as it went over the wire: bytes first, meaning later.

A capture keeps every network read with its arrival time. Nothing in it is interpreted; the
reassembly of a response from it is in `traces.wire.reassembly`.
"""

from dataclasses import dataclass, field
from typing import Any

from traces.wire.route import Route

Event = tuple[float, str | bytes]
"""(milliseconds since the request was sent, what one network read returned)."""


LOST = ("error", "refused")
"""How a capture ends whose connection was lost, or was never made."""


@dataclass(frozen=True, slots=True)
class CaptureKey:
    """What a capture is of. Unique within a run, except for repeated attempts.

    `path` is ``baseline`` or ``candidate``; `arm` says why it was taken: ``main``, ``aa`` (the
    baseline against itself), ``plain`` (as users send it, without ids and logprobs), ``rerun``.
    """

    run: str
    path: str
    arm: str
    session: str
    turn: str
    attempt: int = 0


@dataclass(frozen=True, slots=True)
class Capture:
    """A finished exchange.

    `status` is the HTTP status, absent where no answer came. `headers` holds response headers
    without secrets. `sent_at` is seconds since the epoch (UTC). `ended` tells how the body ended:
    ``done`` (the event came that ends a stream of the route, such as ``[DONE]``), ``closed`` (the
    connection closed without it), ``error`` (a client or network error, named in `error`: the
    server lost the connection, be it before the first byte), ``timeout``, ``malformed`` (what came
    is no HTTP answer), ``refused`` (no connection was made). `lost_ms` is when the connection was
    lost, in ms since it was sent. `request` is the body as `route` takes it.
    """

    key: CaptureKey
    request: dict[str, Any]
    status: int | None
    sent_at: float
    events: tuple[Event, ...]
    ended: str
    headers: dict[str, str] = field(default_factory=dict)
    error: str | None = None
    lost_ms: float | None = None
    route: Route = "chat"

    @property
    def body(self) -> bytes:
        """All network reads joined, as bytes."""
        return b"".join(e if isinstance(e, bytes) else e.encode() for _, e in self.events)
