"""The evidence one judgement rests on: a request and what each path gave for it.

A pair is built from two live responses (`pair_of_responses`) or from a case scenario
(`checks.cases.judge`); the same checks judge both. What is unknown stays `None`, and a check that
needs it says so.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from checks.request import is_greedy
from traces.wire.response import Response, Token, ToolCall
from traces.wire.tokens import known_ids, known_texts

PART = "\ufffd"
"""Stands in a token's text for a part of a character."""

NO_ANSWER = 599
"""Stands for the status of a turn that never got one, so that it is judged as refused."""

HARD_BOUND = 1.0
"""Largest regret (nat) that rounding explains where no noise floor was measured."""


@dataclass(frozen=True, slots=True)
class Message:
    """What a client is left with: content, reasoning and tool calls. No text is an empty string."""

    content: str
    reasoning: str
    calls: tuple[ToolCall, ...]

    @property
    def usable_calls(self) -> tuple[ToolCall, ...]:
        """Calls with a name; without one a client cannot run it."""
        return tuple(call for call in self.calls if call.name)


@dataclass(frozen=True, slots=True)
class Side:
    """What one path gave.

    `stream` is what was on the wire, `None` where only the result is known. `step_tokens` are the
    tokens committed per engine step. `cached_tokens` are prompt tokens found in the prefix cache.
    `gap_p99_ms` is the 99% quantile of this path's gaps between chunks, in milliseconds.
    """

    status: int | None = None
    message: Message | None = None
    finish_reason: str | None = None
    tokens: Sequence[Token] | None = None
    stream: Response | None = None
    step_tokens: tuple[int, ...] | None = None
    cached_tokens: int | None = None
    gap_p99_ms: float | None = None
    raw_text: str | None = None

    @property
    def ids(self) -> tuple[int, ...] | None:
        """Output token ids; `None` where they, or any one of them, are unknown."""
        return known_ids(self.tokens)

    @property
    def spelled(self) -> str | None:
        """The joined texts of this path's own tokens, markers and all; `PART` stands where a
        character is spread over several tokens. `None` where the texts are not known."""
        if self.raw_text is not None or not self.tokens:
            return self.raw_text
        texts = known_texts(self.tokens)
        return None if texts is None else "".join(texts)

    @property
    def own_text(self) -> str | None:
        """What this path's own tokens spell: the text of the model.

        `None` where that is not known, or where a character is spread over several tokens.
        """
        text = self.spelled
        return None if text is None or PART in text else text

    @property
    def delivered(self) -> int | None:
        """How many token ids the client got: those in the chunks, else the known tokens."""
        if self.stream is not None:
            counts = [c.token_ids for c in self.stream.chunks if c.token_ids is not None]
            if counts:
                return sum(counts)
        ids = self.ids
        return None if ids is None else len(ids)

    @property
    def completion_tokens(self) -> int | None:
        """Output tokens as `usage` counts them."""
        return self.stream.usage.completion if self.stream and self.stream.usage else None

    @property
    def served(self) -> bool:
        """Whether it answered 200."""
        return self.status == 200


@dataclass(frozen=True, slots=True)
class Neighbour:
    """A request in flight beside the candidate's: its id and output text."""

    id: str
    text: str


@dataclass(frozen=True, slots=True)
class Pair:
    """One request and both sides of it.

    `stop_match` is the stop string that matched; `eos` are further EOS strings of the tokenizer;
    `block_size` is that of the KV cache, in tokens; `max_model_len` the longest context served.
    `compare_text` is false where the two texts may differ by rounding though no tokens show it.
    `cold` is true where the candidate may have found an empty prefix cache: its server restarted.
    `known_breaches` are the kinds of breaches that the baseline's streams of other turns show.
    `known_equal` is true where neither side carries tokens, and other answers to the same prompt
    show that both make the same ones.
    """

    request: dict[str, Any] | None
    baseline: Side
    candidate: Side
    neighbours: tuple[Neighbour, ...] = ()
    stop_match: str | None = None
    eos: tuple[str, ...] = ()
    block_size: int | None = None
    max_model_len: int | None = None
    hard_bound: float = HARD_BOUND
    compare_text: bool = True
    cold: bool = False
    known_breaches: frozenset[str] = frozenset()
    known_equal: bool = False

    @property
    def greedy(self) -> bool:
        """Whether the request asks for greedy decoding."""
        return self.request is not None and is_greedy(self.request)

    @property
    def sampled(self) -> bool:
        """Whether the request asks for sampling, be it by saying nothing about it."""
        return self.request is not None and not self.greedy

    @property
    def both_have_tokens(self) -> bool:
        return self.baseline.ids is not None and self.candidate.ids is not None

    @property
    def tokens_differ(self) -> bool:
        """Both sides carry tokens, and not the same ones (a prefix is not the same)."""
        return self.both_have_tokens and self.baseline.ids != self.candidate.ids

    @property
    def equal_tokens(self) -> bool:
        """Both sides carry tokens, and the same ones."""
        return self.both_have_tokens and not self.tokens_differ

    @property
    def ends_inside(self) -> bool:
        """The candidate's tokens are the baseline's first ones, and fewer."""
        candidate, baseline = self.candidate.ids, self.baseline.ids
        if candidate is None or baseline is None:
            return False
        return len(candidate) < len(baseline) and baseline[: len(candidate)] == candidate

    @property
    def text_comparable(self) -> bool:
        """Whether the baseline's message is the reference for the candidate's.

        It is where both carry the same tokens. Where a side carries none it is for greedy turns
        alone: two draws differ.
        """
        known = self.baseline.message is not None and self.candidate.message is not None
        if not known or self.tokens_differ or not self.compare_text:
            return False
        return self.both_have_tokens or not self.sampled


def not_comparable(pair: Pair) -> str:
    """Why the two texts cannot be compared."""
    if pair.baseline.message is None:
        return "the baseline's message is unknown"
    if pair.candidate.message is None:
        return "the candidate's message is unknown"
    if pair.sampled and not pair.both_have_tokens:
        return "two draws of a sampled turn differ, and no tokens show what was drawn"
    if not pair.compare_text:
        return "rounding may have parted the texts, and no tokens show it"
    return "the tokens differ, so the texts are not comparable"


def message_of_response(response: Response) -> Message:
    """The client's view of a response."""
    return Message(response.content, response.reasoning, response.tool_calls)


def side_of_response(
    response: Response,
    *,
    step_tokens: tuple[int, ...] | None = None,
    gap_p99_ms: float | None = None,
) -> Side:
    """A side as it was on the wire."""
    return Side(
        status=response.status,
        message=message_of_response(response),
        finish_reason=response.finish_reason,
        tokens=response.tokens,
        stream=response,
        step_tokens=step_tokens,
        cached_tokens=response.usage.cached if response.usage else None,
        gap_p99_ms=gap_p99_ms,
        raw_text=response.raw_text,
    )


def pair_of_responses(
    request: dict[str, Any],
    baseline: Response,
    candidate: Response,
    *,
    gap_p99_ms: float | None = None,
    step_tokens: tuple[int, ...] | None = None,
    neighbours: tuple[Neighbour, ...] = (),
    eos: tuple[str, ...] = (),
    block_size: int | None = None,
    max_model_len: int | None = None,
    hard_bound: float = HARD_BOUND,
    compare_text: bool = True,
    cold: bool = False,
    known_breaches: frozenset[str] = frozenset(),
    known_equal: bool = False,
) -> Pair:
    """A live pair. `gap_p99_ms` is the baseline's; without it stalls are not judged."""
    stop = candidate.stop_reason
    return Pair(
        request=request,
        baseline=side_of_response(baseline, gap_p99_ms=gap_p99_ms),
        candidate=side_of_response(candidate, step_tokens=step_tokens),
        neighbours=neighbours,
        stop_match=stop if isinstance(stop, str) else None,
        eos=eos,
        block_size=block_size,
        max_model_len=max_model_len,
        hard_bound=hard_bound,
        compare_text=compare_text,
        cold=cold,
        known_breaches=known_breaches,
        known_equal=known_equal,
    )
