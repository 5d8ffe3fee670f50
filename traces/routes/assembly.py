"""An answer made of blocks (texts, thoughts, calls), put together as its events come.

`/v1/messages` and `/v1/responses` both open a block, add to it, and close it. What breaks that
order, or contradicts what was sent before, is kept in words: `Response.protocol`.
"""

import re
from dataclasses import dataclass, field
from typing import Any, Literal

from traces.limits import SHOWN_EVENTS
from traces.wire.feed import BrokenEvents, refuse_long, short_error
from traces.wire.response import Chunk, Response, Speculation, ToolCall, Usage
from traces.wire.route import Route

Kind = Literal["text", "thinking", "call", "other"]
"""What a part of an answer is; of an ``other`` one nothing reaches the text or the calls."""

MOST_KINDS = 64
"""So many kinds of breaches of one stream are kept; there are about thirty."""

_DIGITS = re.compile(r"\d+")


@dataclass(slots=True)
class Block:
    """One part of an answer; `signed` where the signature of a thought came."""

    kind: Kind
    id: str | None = None
    name: str | None = None
    pieces: list[str] = field(default_factory=list)
    open: bool = True
    signed: bool = False

    @property
    def text(self) -> str:
        return "".join(self.pieces)


@dataclass(slots=True)
class Assembly:
    """What the events so far have brought."""

    blocks: list[Block] = field(default_factory=list)
    chunks: list[Chunk] = field(default_factory=list)
    broken: BrokenEvents = field(default_factory=BrokenEvents)
    breaches: list[str] = field(default_factory=list)
    kinds: set[str] = field(default_factory=set)
    irregular: dict[str, None] = field(default_factory=dict)
    reasons: list[str] = field(default_factory=list)
    stop: str | None = None
    after_finish: int = 0
    usage: Usage | None = None
    speculation: Speculation | None = None
    error: dict[str, Any] | None = None
    model: str | None = None
    done: bool = False
    characters: int = 0
    unshown: int = 0
    events: list[dict[str, Any]] = field(default_factory=list)

    def breach(self, number: int, what: str) -> None:
        """Event `number` breaks the route's protocol: ``event 4: a delta of no open block``."""
        if len(self.kinds) < MOST_KINDS:
            self.kinds.add(_DIGITS.sub("#", what))
        if len(self.breaches) < SHOWN_EVENTS:
            self.breaches.append(f"event {number}: {what}")
        else:
            self.unshown += 1

    @property
    def calls(self) -> list[Block]:
        return [block for block in self.blocks if block.kind == "call"]

    def open(self, number: int, block: Block) -> None:
        """A new block, behind those that are there. Raises PastLimit.

        Clients tell calls apart by their ids: the openai client raises where two are alike.
        """
        if block.id and any(block.id == other.id for other in self.blocks):
            self.breach(number, "a second block or item under one id")
        self.blocks.append(block)
        if block.kind == "call":
            refuse_long(self.characters, len(self.calls))

    def add(self, block: Block, piece: str) -> None:
        """More of a block. Raises PastLimit."""
        block.pieces.append(piece)
        self.characters += len(piece)
        if self.reasons:
            self.after_finish += 1
        refuse_long(self.characters, 0)

    def arrived(self, at_ms: float, *, delta: bool) -> None:
        """An event came, with output in it or without."""
        self.chunks.append(Chunk(at_ms, None, None, delta))

    def failed(self, error: dict[str, Any]) -> None:
        """An error inside the stream; the first one stands."""
        self.error = self.error or short_error(error)

    def response(self, status: int | None, route: Route) -> Response:
        """All of it."""
        rest = (f"{self.unshown} further events break it",) if self.unshown else ()
        texts = [block for block in self.blocks if block.kind == "text"]
        return Response(
            status=status,
            content="".join(block.text for block in texts),
            reasoning="".join(block.text for block in self.blocks if block.kind == "thinking"),
            tool_calls=tuple(_call(place, block) for place, block in enumerate(self.calls)),
            finish_reason=self.reasons[-1] if self.reasons else None,
            tokens=None,
            prompt_token_ids=None,
            usage=self.usage,
            speculation=self.speculation,
            chunks=tuple(self.chunks),
            done=self.done,
            error=self.error,
            malformed=self.broken.lines(),
            irregular=tuple(self.irregular),
            model=self.model,
            stop_reason=self.stop,
            finish_reasons=tuple(self.reasons),
            after_finish=self.after_finish,
            seams=tuple(self._seams()),
            protocol=(*self.breaches, *rest),
            route=route,
            breach_kinds=frozenset(self.kinds),
            events=tuple(self.events) if self.breaches else (),
        )

    def _seams(self) -> dict[int, None]:
        seams: dict[int, None] = {}
        length = 0
        for block in self.blocks:
            if block.kind == "text":
                length += len(block.text)
            elif block.kind == "call" or (block.kind == "thinking" and block.pieces):
                seams[length] = None
        return seams


def _call(place: int, block: Block) -> ToolCall:
    return ToolCall(
        index=place,
        id=block.id or None,
        name=block.name or None,
        arguments=block.text,
        header_complete=bool(block.id and block.name),
        ids=(block.id,) if block.id else (),
    )
