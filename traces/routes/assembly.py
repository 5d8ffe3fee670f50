"""An answer made of blocks (texts, thoughts, calls), put together as its events come.

`/v1/messages` and `/v1/responses` both open a block, add to it, and close it. What breaks that
order, or contradicts what was sent before, is kept in words: `Response.protocol`.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol, TypeVar

from msgspec import ValidationError, convert

from traces.limits import SHOWN_EVENTS, PastLimit
from traces.served_json import decode_served
from traces.wire.capture import Capture
from traces.wire.feed import BrokenEvents, error_body, feed, refuse_long, short_error
from traces.wire.response import Chunk, Response, Speculation, ToolCall, Usage
from traces.wire.route import Route
from traces.wire.sse import ServerEvent

Kind = Literal["text", "thinking", "call", "other"]
"""What a part of an answer is; of an ``other`` one nothing reaches the text or the calls."""

KEPT_CHARACTERS = 1 << 20
"""Of a stream's events, for a case file that shows a breach; longer streams are in the journal."""

MOST_KINDS = 64
"""So many kinds of breaches of one stream are kept; there are about thirty."""

_DIGITS = re.compile(r"\d+")


class Typed(Protocol):
    """An event that says what it is."""

    type: str


T = TypeVar("T", bound=Typed)


@dataclass(slots=True)
class Block:
    """One part of an answer; `signed` where the signature of a thought came. `without` is what a
    client takes for the arguments of a call of which no piece came."""

    kind: Kind
    id: str | None = None
    name: str | None = None
    pieces: list[str] = field(default_factory=list)
    open: bool = True
    signed: bool = False
    without: str = ""

    @property
    def text(self) -> str:
        """All of it. The pieces are joined once, however often a server has it compared."""
        if len(self.pieces) > 1:
            self.pieces[:] = ["".join(self.pieces)]
        return self.pieces[0] if self.pieces else ""


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
    kept: int = 0
    called: int = 0
    ids: set[str] = field(default_factory=set)

    def read(self, number: int, event: ServerEvent, kind: type[T]) -> T | None:
        """The event as `kind`; `None` for what is none, which is noted. Raises no error but
        PastLimit."""
        try:
            value = decode_served(event.data)
            read = convert(value, kind)
        except PastLimit as limit:
            self.broken.note(number, str(limit))
            return None
        except ValidationError as error:
            self.broken.note(number, f"no event of this route: {error}")
            return None
        except ValueError as error:
            self.broken.note(number, f"not a JSON object: {event.data[:80]!r} ({error})")
            return None
        self.kept += len(event.data)
        if self.kept <= KEPT_CHARACTERS:
            self.events.append(value)
        if event.type not in (read.type, "message"):
            self.breach(number, f"named {event.type}, and its data says {read.type}")
        return read

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
        if block.id and block.id in self.ids:
            self.breach(number, "a second block or item under one id")
        self.ids.add(block.id or "")
        self.blocks.append(block)
        if block.kind == "call":
            self.called += 1
            refuse_long(self.characters, self.called)

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
            events=tuple(self.events) if self.breaches and self.kept <= KEPT_CHARACTERS else (),
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


def assembled(
    capture: Capture, answer: Assembly, take: Callable[[int, ServerEvent], None]
) -> Response:
    """The response that `take` makes of a capture's events, in `answer`. Never raises.

    Behind a ``[DONE]``, which some gateways add on every route, nothing is read.
    """
    if capture.status != 200:
        answer.error = error_body(capture.body)
        return answer.response(capture.status, capture.route)

    def take_or_end(number: int, event: ServerEvent) -> bool:
        if event.data.startswith("[DONE]"):
            return True
        take(number, event)
        return False

    feed(capture, answer.broken, take_or_end)
    return answer.response(capture.status, capture.route)


def _call(place: int, block: Block) -> ToolCall:
    return ToolCall(
        index=place,
        id=block.id or None,
        name=block.name or None,
        arguments=block.text if block.pieces else block.without,
        header_complete=bool(block.id and block.name),
        ids=(block.id,) if block.id else (),
    )
