"""Requests of a batch file that wait for their answers, which may stand far behind them."""

from dataclasses import dataclass, field
from typing import Any

import orjson

MAX_BYTES = 250_000_000
"""More than any API takes as one batch; beyond it the requests that wait longest are let go."""

Request = tuple[dict[str, Any], int]
"""A body and the row it stands in."""


@dataclass(slots=True)
class Waiting:
    """Requests by their ``custom_id``, kept as JSON: so they take no more room than in the file."""

    _asked: dict[str, tuple[bytes, int]] = field(default_factory=dict)
    _bytes: int = 0

    def put(self, name: str, body: dict[str, Any], row: int) -> list[Request]:
        """Keep a request; the ones that no answer can be found for any more."""
        try:
            kept = orjson.dumps(body)
        except TypeError:  # nested deeper than can be written
            return [(body, row)]
        let_go = self.take(name)
        self._asked[name] = kept, row
        self._bytes += len(kept)
        while self._bytes > MAX_BYTES:
            let_go += self.take(next(iter(self._asked)))
        return let_go

    def take(self, name: str) -> list[Request]:
        """The request of that name, if one waits."""
        if name not in self._asked:
            return []
        body, row = self._asked.pop(name)
        self._bytes -= len(body)
        return [(orjson.loads(body), row)]

    def left(self) -> list[str]:
        """The names of those that still wait."""
        return list(self._asked)
