"""A response as a strict client sees it, put together from a capture, a case file or a message.

Every field that was not on the wire is `None` (or an empty tuple where a list was not sent);
zero always means a measured zero.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from msgspec import Struct

from traces.wire.route import Route
from traces.wire.tokens import Token, TopLogprob, known_ids, known_texts

__all__ = [
    "Chunk",
    "Response",
    "Speculation",
    "Token",
    "ToolCall",
    "TopLogprob",
    "Usage",
]


@dataclass(frozen=True, slots=True)
class ToolCall:
    """One tool call assembled by its index; `arguments` is the concatenated argument text.

    `header_complete` is false where the call's first delta lacked its id or its name;
    `ids` lists every distinct id seen on this index (two ids on one index are a fault), `renamed`
    every other name that one of these ids was given later.
    """

    index: int
    id: str | None
    name: str | None
    arguments: str
    header_complete: bool = True
    ids: tuple[str, ...] = ()
    renamed: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Usage:
    """Token counts as the server reports them; `cached` from prompt_tokens_details."""

    prompt: int | None
    completion: int | None
    cached: int | None = None


@dataclass(frozen=True, slots=True)
class Speculation:
    """`metrics.speculative_decoding` of the last usage chunk (vLLM 0.32, detailed mode).

    `accepted[s]` of `drafted[s]` draft tokens were accepted in the s-th step that drafted;
    steps without drafts are left out. Both are `None` where the server sent no arrays: a summary
    alone, or nothing was drafted. Only a server launched with draft ids sends the others:
    `draft_ids[s]` are the tokens of the draft, -1 for those a grammar ruled out and for
    placeholders, and `first[s]` is the place in the output of the first token of the step.
    """

    accepted: tuple[int, ...] | None
    drafted: tuple[int, ...] | None
    raw: dict[str, Any]
    draft_ids: tuple[tuple[int, ...], ...] | None = None
    first: tuple[int, ...] | None = None

    @property
    def steps(self) -> int:
        """Steps that drafted, by the arrays or the summary."""
        return len(self.drafted) if self.drafted is not None else self._summed("num_spec_steps")

    @property
    def accepted_tokens(self) -> int:
        """Draft tokens that were accepted, by the arrays or the summary."""
        if self.accepted is not None:
            return sum(self.accepted)
        return self._summed("num_accepted_draft_tokens")

    @property
    def step_by_step(self) -> bool:
        """Whether every step is shown. vLLM leaves the arrays out of a summary, and of an answer in
        which nothing was drafted."""
        return self.drafted is not None or not self.steps

    def _summed(self, name: str) -> int:
        value = self.raw.get(name)
        return value if isinstance(value, int) else 0


class Chunk(Struct, frozen=True, gc=False):
    """One SSE data event: arrival (ms since sent), and how many ids and logprob entries it had."""

    at_ms: float
    token_ids: int | None
    logprobs: int | None
    has_delta: bool


@dataclass(frozen=True, slots=True)
class Response:
    """Everything a strict client can know of one streamed (or whole) chat completion.

    `malformed` says what of the stream could not be read (event N, its end, its encoding);
    `irregular` what is not as the protocol has it, and was read all the same. A stream has one
    finish reason: of several in `finish_reasons` the last is `finish_reason`, as in the clients
    that read on; `after_finish` counts the chunks of output behind the first. `seams` are the
    places in `content` (characters before them) at which calls or reasoning came in between.
    `protocol` says where events break the order and nesting that their route promises, or
    contradict each other: ``event 4: a delta of block 1, which is not open``; `breach_kinds` are
    those of all of them, without numbers. Only where there are any, `events` holds what came.
    """

    status: int | None
    content: str
    reasoning: str
    tool_calls: tuple[ToolCall, ...]
    finish_reason: str | None
    tokens: Sequence[Token] | None
    prompt_token_ids: tuple[int, ...] | None
    usage: Usage | None
    speculation: Speculation | None
    chunks: tuple[Chunk, ...]
    done: bool
    error: dict[str, Any] | None = None
    malformed: tuple[str, ...] = ()
    irregular: tuple[str, ...] = ()
    system_fingerprint: str | None = None
    model: str | None = None
    stop_reason: str | int | None = None
    raw_text: str | None = None
    finish_reasons: tuple[str, ...] = ()
    after_finish: int = 0
    seams: tuple[int, ...] = ()
    protocol: tuple[str, ...] = ()
    route: Route = "chat"
    breach_kinds: frozenset[str] = frozenset()
    events: tuple[dict[str, Any], ...] = ()

    @property
    def token_ids(self) -> tuple[int, ...] | None:
        """The output token ids, or `None` where they were not on the wire."""
        return known_ids(self.tokens)

    @property
    def token_texts(self) -> tuple[str, ...] | None:
        """The text of every output token, or `None` where the wire did not carry them."""
        return known_texts(self.tokens)

    @property
    def broken_event(self) -> str | None:
        """The first event that is no chat completion chunk, in words."""
        return next((text for text in self.malformed if text.startswith("event ")), None)
