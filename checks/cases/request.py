"""The request of a case, read into types: what the checks read of it must have the right ones.

A field no check reads may hold anything. null stands for "not given", as servers take it.
Field names: vLLM 0.32 `chat_completion/protocol.py`.
"""

from typing import Annotated, Any

from msgspec import Meta, Struct, ValidationError, convert

from traces.errors import InputError

Count = Annotated[int, Meta(ge=-(2**53), le=2**53)]
Number = Annotated[float, Meta(ge=-1e308, le=1e308)]


class _Function(Struct):
    name: str | None = None
    parameters: dict[str, Any] | bool | None = None


class _Tool(Struct):
    function: _Function | None = None


class _Message(Struct):
    role: str | None = None


class _JsonSchema(Struct):
    schema: dict[str, Any] | bool | None = None


class _ResponseFormat(Struct):
    type: str = "text"
    json_schema: _JsonSchema | None = None


class _StructuredOutputs(Struct):
    json: dict[str, Any] | bool | str | None = None
    json_object: bool | None = None
    regex: str | None = None
    choice: list[str] | None = None
    grammar: str | None = None


class _StreamOptions(Struct):
    include_usage: bool | None = None


class CaseRequest(Struct):
    """What the checks read of a request."""

    messages: list[_Message] | None = None
    tools: list[_Tool] | None = None
    tool_choice: str | dict[str, Any] | None = None
    temperature: Number | None = None
    max_tokens: Count | None = None
    max_completion_tokens: Count | None = None
    min_tokens: Count | None = None
    stop: str | list[str] | None = None
    stop_token_ids: list[Count] | None = None
    allowed_token_ids: list[Count] | None = None
    bad_words: list[str] | None = None
    logit_bias: dict[str, Number] | None = None
    repetition_penalty: Number | None = None
    presence_penalty: Number | None = None
    frequency_penalty: Number | None = None
    stream_options: _StreamOptions | None = None
    response_format: _ResponseFormat | None = None
    structured_outputs: _StructuredOutputs | None = None


def refuse_other_types(request: dict[str, Any] | None, where: str) -> None:
    """Raise InputError, which names the place, for a field of a type that no server takes."""
    if request is None:
        return
    try:
        convert(request, CaseRequest)
    except ValidationError as error:
        what, _, place = str(error).replace("`", "").partition(" - at ")
        field = place.replace("$", "request", 1) or "request"
        raise InputError(
            f"{where}: {field}: {what}", "write the request as it is sent to a server"
        ) from None
