"""Put a streamed chat completion together exactly as a strict client would.

    data: {"choices":[{"index":0,"delta":{"content":"a"},"token_ids":[64],
           "logprobs":{"content":[{"token":"token_id:64","logprob":-0.1,"bytes":[97],
                                   "top_logprobs":[{"token":"token_id:64","logprob":-0.1}]}]}}]}
    data: {"choices":[],"usage":{"prompt_tokens":9,"completion_tokens":1},
           "metrics":{"speculative_decoding":{"per_step_accepted":[2],"per_step_drafted":[3]}}}
    data: [DONE]

What a chunk may hold is in `traces.wire.chunk`. Those of `/v1/completions` have a `text` in place
of the delta. Both `delta.reasoning` and the older
`delta.reasoning_content` are read. Only choice 0 is read: the gate asks for `n: 1`.
"""

from collections.abc import Iterable
from typing import Any

from traces.limits import PastLimit
from traces.wire.capture import Capture
from traces.wire.chunk import Delta, WireChoice, WireChunk, WireUsage, read_chunk
from traces.wire.event import WireEvent, read_event
from traces.wire.feed import BrokenEvents, error_body, feed, refuse_long, short_error
from traces.wire.reassembly_calls import CallAssembler
from traces.wire.reassembly_tokens import TokenCollector
from traces.wire.response import Chunk, Response, Speculation, Usage
from traces.wire.sse import ServerEvent

DONE = "[DONE]"


def response_of(capture: Capture) -> Response:
    """The response a capture holds. A status other than 200 gives its error body.

    Never raises: an event that is no chunk (`traces.wire.chunk`), and one that passes a limit
    (`traces.limits`), are named in `malformed`. Behind an answer's limit nothing is read.
    """
    if capture.status != 200:
        return _assemble([], capture.status, done=False, error=error_body(capture.body))
    stream = _Stream(None)

    def take(number: int, event: ServerEvent) -> bool:
        if event.data.startswith(DONE):
            return True
        _read_one(stream, number, event)
        return False

    done = feed(capture, stream.broken, take)
    return stream.response(capture.status, done)


def _read_one(stream: "_Stream", number: int, event: ServerEvent) -> None:
    """One event into the stream, or among the broken ones. Raises PastLimit of the whole answer."""
    try:
        read = read_event(number, event.at_ms, event.data)
    except PastLimit as limit:
        stream.broken.note(number, str(limit))
        return
    if read is None:
        stream.broken.note(number, f"not a JSON object: {event.data[:80]!r}")
    else:
        stream.add(read)


def response_of_chunks(
    chunks: Iterable[dict[str, Any]],
    *,
    done: bool,
    status: int | None = 200,
    times_ms: Iterable[float] | None = None,
    raw_text: str | None = None,
    error: dict[str, Any] | None = None,
) -> Response:
    """The response made of chunk objects in order, as case files hold them.

    `times_ms` are milliseconds since the request was sent, one per chunk; where they are unknown
    every chunk stands at 0.
    """
    chunks = list(chunks)
    times = list(times_ms) if times_ms is not None else [0.0] * len(chunks)
    events = [
        WireEvent(number, at_ms, None, chunk)
        for number, (at_ms, chunk) in enumerate(zip(times, chunks, strict=True))
    ]
    return _assemble(events, status, done=done, raw_text=raw_text, error=error)


def _assemble(
    events: Iterable[WireEvent],
    status: int | None,
    *,
    done: bool,
    raw_text: str | None = None,
    error: dict[str, Any] | None = None,
) -> Response:
    stream = _Stream(error)
    number = 0
    try:
        for event in events:
            number = event.number
            stream.add(event)
    except PastLimit as limit:
        stream.broken.note(number, str(limit))
    return stream.response(status, done, raw_text)


class _Stream:
    """What the events so far have brought."""

    def __init__(self, error: dict[str, Any] | None) -> None:
        self.error = error
        self.content: list[str] = []
        self.length = 0
        self.seams: dict[int, None] = {}
        self.reasoning: list[str] = []
        self.calls = CallAssembler()
        self.tokens = TokenCollector()
        self.ids_sent = False
        self.characters = 0
        self.chunks: list[Chunk] = []
        self.broken = BrokenEvents()
        self.irregular: dict[str, None] = {}
        self.reasons: list[str] = []
        self.after_finish = 0
        self.stop: str | int | None = None
        self.usage: Usage | None = None
        self.speculation: Speculation | None = None
        self.prompt_ids: tuple[int, ...] | None = None
        self.fingerprint: str | None = None
        self.model: str | None = None

    def add(self, event: WireEvent) -> None:
        """Take in one event: what stands beside the choices, and the first of these."""
        number, at_ms, chunk, raw = event
        if raw is not None:
            self.error = self.error or _error_object(raw)
            chunk = _checked(raw, number, self.broken)
            self.speculation = speculation_of(chunk, raw) or self.speculation
        assert chunk is not None
        if chunk.usage is not None:
            self.usage = _usage(chunk.usage)
        self.fingerprint = chunk.system_fingerprint or self.fingerprint
        self.model = chunk.model or self.model
        if chunk.prompt_token_ids is not None:
            self.prompt_ids = tuple(chunk.prompt_token_ids)
        choice = chunk.choice
        self._add_choice(choice)
        ids, entries = choice.token_ids, choice.logprobs.content if choice.logprobs else None
        if ids is not None or entries is not None:
            self.ids_sent = True
            self.tokens.add(ids, entries)
        self.chunks.append(
            Chunk(
                at_ms,
                None if ids is None else len(ids),
                None if entries is None else len(entries),
                choice.text is not None
                or (choice.delta is not None and (raw is None or _has_delta(raw))),
            )
        )

    def _add_choice(self, choice: WireChoice) -> None:
        delta = choice.delta
        if delta is not None and delta.is_text:
            self._add_text(delta.content)  # type: ignore[arg-type]
        elif delta is not None and not delta.empty:
            self._add_delta(delta)
        elif choice.text:
            self._add_text(choice.text)
        said = choice.text or (delta is not None and delta.says_something)
        if self.reasons and (choice.token_ids or said):
            self.after_finish += 1
        if choice.finish_reason:
            self.reasons.append(choice.finish_reason)
        self.stop = choice.stop_reason if choice.stop_reason is not None else self.stop

    def _add_text(self, text: str) -> None:
        """Most deltas are a text and nothing else."""
        self.content.append(text)
        self.length += len(text)
        self.characters += len(text)
        refuse_long(self.characters, len(self.calls))

    def _add_delta(self, delta: Delta) -> None:
        text, thought = delta.text, delta.thought
        self.content.append(text)
        self.length += len(text)
        if delta.tool_calls or thought:
            self.seams[self.length] = None
        self.reasoning.append(thought)
        self.characters += len(text) + len(thought)
        if delta.tool_calls:
            self.characters += self.calls.add(delta.tool_calls)
        self.irregular |= dict.fromkeys(delta.irregular)
        refuse_long(self.characters, len(self.calls))

    def response(self, status: int | None, done: bool, raw_text: str | None = None) -> Response:
        """All of it."""
        if len(self.reasons) > len(set(self.reasons)):
            self.irregular["the same finish_reason came twice"] = None
        return Response(
            status=status,
            content="".join(self.content),
            reasoning="".join(self.reasoning),
            tool_calls=self.calls.finished(),
            finish_reason=self.reasons[-1] if self.reasons else None,
            tokens=self.tokens.finished() if self.ids_sent else None,
            prompt_token_ids=self.prompt_ids,
            usage=self.usage,
            speculation=self.speculation,
            chunks=tuple(self.chunks),
            done=done,
            error=self.error,
            malformed=self.broken.lines(),
            irregular=tuple(self.irregular),
            system_fingerprint=self.fingerprint,
            model=self.model,
            stop_reason=self.stop,
            raw_text=raw_text,
            finish_reasons=tuple(self.reasons),
            after_finish=self.after_finish,
            seams=tuple(self.seams),
        )


def _checked(raw: dict[str, Any], number: int, broken: BrokenEvents) -> WireChunk:
    """The chunk; an empty one in place of what is none, which is among the broken ones."""
    try:
        return read_chunk(raw)
    except ValueError as error:
        broken.note(number, f"no chat completion chunk: {error}")
        return WireChunk()


def _has_delta(raw: dict[str, Any]) -> bool:
    """Whether choice 0 has a delta with any field, read or not (such as `role`)."""
    return any(c.get("delta") for c in raw["choices"] if c.get("index", 0) == 0)


def _error_object(chunk: dict[str, Any]) -> dict[str, Any] | None:
    """The error in a 200 stream: ``{"error": {...}}``, or the older ``{"object": "error"}``."""
    if chunk.get("error") or chunk.get("object") == "error":
        return short_error(chunk)
    return None


def _usage(usage: WireUsage) -> Usage:
    details = usage.prompt_tokens_details
    return Usage(
        prompt=usage.prompt_tokens,
        completion=usage.completion_tokens,
        cached=details.cached_tokens if details else None,
    )


def speculation_of(chunk: WireChunk, raw: dict[str, Any]) -> Speculation | None:
    """The drafter's steps of an event, as it was read and as it came; `None` without any."""
    steps = chunk.metrics.speculative_decoding if chunk.metrics else None
    if steps is None:
        return None
    accepted, drafted = steps.per_step_accepted, steps.per_step_drafted
    ids, first = steps.per_step_draft_token_ids, steps.per_step_first_token
    return Speculation(
        accepted=None if accepted is None else tuple(accepted),
        drafted=None if drafted is None else tuple(drafted),
        raw=raw["metrics"]["speculative_decoding"],
        draft_ids=None if ids is None else tuple(map(tuple, ids)),
        first=None if first is None else tuple(first),
    )
