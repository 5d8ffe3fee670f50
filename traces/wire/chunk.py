"""A chat completion chunk as it may come over the wire: every field that is read, with its type.

    {"choices": [{"index": 0, "delta": {"content": "a"}, "finish_reason": null, "token_ids": [64],
                  "logprobs": {"content": [{"token": "token_id:64", "logprob": -0.1}]}}],
     "usage": {"prompt_tokens": 9, "completion_tokens": 1}}

Field names: vLLM 0.32 `entrypoints/openai/chat_completion/protocol.py`. What is not read may be
anything; null stands for "not sent". A field of another type makes the whole object no chunk, as
for a client that decodes into types. Two shapes that gateways send are taken all the same, and
reported by `Delta.irregular`: text as a list of text parts, and call arguments as an object.
"""

import json
from typing import Annotated, Any, Literal

from msgspec import UNSET, Meta, Struct, UnsetType, ValidationError, convert

from traces.errors import InputError

Count = Annotated[int, Meta(ge=0, lt=2**31)]
"""A number of tokens, or a token id: what 32 bits hold."""


class TextPart(Struct, frozen=True):
    """One part of a text that comes as a list of parts."""

    text: str
    type: Literal["text", "output_text"] = "text"


Text = str | list[str | TextPart] | None


class WireFunction(Struct, frozen=True):
    """The function of a call delta; arguments that are an object are whole."""

    name: str | None = None
    arguments: str | dict[str, Any] | None = None


class WireCall(Struct, frozen=True):
    """One entry of `delta.tool_calls`."""

    index: Count | None = None
    id: str | None = None
    function: WireFunction | None = None

    @property
    def arguments(self) -> str:
        """The argument text; an object as the JSON that stands for it."""
        given = self.function.arguments if self.function else None
        return json.dumps(given) if isinstance(given, dict) else given or ""


class Delta(Struct, frozen=True):
    """What a chunk adds to the message; a whole message has the same fields."""

    content: Text = None
    reasoning: Text = None
    reasoning_content: Text = None
    tool_calls: list[WireCall] | None = None

    @property
    def empty(self) -> bool:
        """Whether no field that is read was sent."""
        return (
            self.content is None
            and self.tool_calls is None
            and self.reasoning is None
            and self.reasoning_content is None
        )

    @property
    def is_text(self) -> bool:
        """Whether it is a text of the answer, in one piece, and nothing else."""
        return (
            type(self.content) is str
            and self.tool_calls is None
            and self.reasoning is None
            and self.reasoning_content is None
        )

    @property
    def says_something(self) -> bool:
        """Whether it carries any output."""
        return bool(self.text or self.thought or self.tool_calls)

    @property
    def text(self) -> str:
        return text_of(self.content)

    @property
    def thought(self) -> str:
        """The reasoning, under its name or the older one."""
        return text_of(self.reasoning) or text_of(self.reasoning_content)

    @property
    def irregular(self) -> tuple[str, ...]:
        """What is not as the protocol has it, and was taken all the same."""
        found: tuple[str, ...] = ()
        if list in (type(self.content), type(self.reasoning), type(self.reasoning_content)):
            found += ("text came as a list of parts",)
        for call in self.tool_calls or ():
            if call.function is not None and isinstance(call.function.arguments, dict):
                return (*found, "call arguments came as an object")
        return found


class WireAlternative(Struct, frozen=True, gc=False):
    """A listed token; without `logprob` it had no score, with null a NaN."""

    token: str | None = None
    logprob: float | UnsetType | None = UNSET


class WireToken(Struct, frozen=True, gc=False):
    """One entry of `logprobs.content`."""

    token: str | None = None
    logprob: float | UnsetType | None = UNSET
    bytes: list[Annotated[int, Meta(ge=0, le=255)]] | None = None
    top_logprobs: list[WireAlternative] | None = None


class WireLogprobs(Struct, frozen=True):
    content: list[WireToken] | None = None


class WireChoice(Struct, frozen=True):
    """One of the chunk's choices; `text` stands for a delta in a completion."""

    index: Count = 0
    delta: Delta | None = None
    text: str | None = None
    finish_reason: str | None = None
    stop_reason: str | Count | None = None
    token_ids: list[Count] | None = None
    logprobs: WireLogprobs | None = None


class WirePromptDetails(Struct, frozen=True):
    cached_tokens: Count | None = None


class WireUsage(Struct, frozen=True):
    prompt_tokens: Count | None = None
    completion_tokens: Count | None = None
    prompt_tokens_details: WirePromptDetails | None = None


class WireSteps(Struct, frozen=True):
    """`metrics.speculative_decoding`: draft tokens by engine step. The ids of the drafts (-1: ruled
    out, or not known) and the first token of each step are draftgate's own, of servers it launches
    with draft ids."""

    per_step_accepted: list[Count] | None = None
    per_step_drafted: list[Count] | None = None
    per_step_draft_token_ids: list[list[Annotated[int, Meta(ge=-1, lt=2**31)]]] | None = None
    per_step_first_token: list[Count] | None = None


class WireMetrics(Struct, frozen=True):
    speculative_decoding: WireSteps | None = None


class WireChunk(Struct, frozen=True):
    """One event of the stream."""

    choices: list[WireChoice] | None = None
    usage: WireUsage | None = None
    metrics: WireMetrics | None = None
    prompt_token_ids: list[Count] | None = None
    system_fingerprint: str | None = None
    model: str | None = None
    error: Any = None
    object: Any = None

    @property
    def choice(self) -> WireChoice:
        """Choice 0; an empty one where the chunk has none."""
        for choice in self.choices or ():
            if choice.index == 0:
                return choice
        return NO_CHOICE


NO_CHOICE = WireChoice()


def read_chunk(chunk: dict[str, Any]) -> WireChunk:
    """`chunk`, checked; ValueError says which field has another type."""
    try:
        return convert(chunk, WireChunk)
    except ValidationError as error:
        raise ValueError(str(error).replace("`", "")) from None


def read_message(message: dict[str, Any]) -> Delta:
    """An assistant message as served. Raises InputError where it is none."""
    try:
        return convert(message, Delta)
    except ValidationError as error:
        raise InputError(
            f"baseline.message is no assistant message: {str(error).replace('`', '')}",
            "write it as a chat completion serves it: text, and calls with a function each",
        ) from None


def text_of(given: Text) -> str:
    """A text; that of its parts where it comes in parts."""
    if type(given) is str:
        return given
    if isinstance(given, list):
        return "".join(part if isinstance(part, str) else part.text for part in given)
    return given or ""
