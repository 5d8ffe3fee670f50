"""Prompt, answer and tools of a chat span, from the attributes of any generation."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from traces.readers.chat.chat import ChatReader
from traces.readers.chat.items import Answer
from traces.readers.chat.repeated import Entry, PromptReader
from traces.readers.chat.shapes import items, mapping, mappings, text
from traces.readers.files.json_text import embedded
from traces.readers.formats.otel.spans import Span, unflattened

Messages = list[Any]


@dataclass(slots=True)
class ChatSpan:
    """What a span says was sent and answered. `parameters` are sampling parameters, if any.

    `left_out` counts what of it could not be read.
    """

    prompt: list[Entry]
    answer: Answer | None
    tools: Any
    parameters: dict[str, Any] = field(default_factory=dict)
    left_out: int = 0


def chat_span(span: Span, prompts: PromptReader) -> ChatSpan | None:
    """The chat of a span; None where it kept no prompt or its prompt was cut."""
    for read in GENERATIONS:
        sent, came, tools = read(span)
        if not sent:
            continue
        prompt = prompts.read(sent, span.row)
        chat = ChatReader(prompts.blobs)
        answers = [item for item in chat.items(came) if isinstance(item, Answer)]
        answer = _one_answer(answers) if answers else None
        if answer is not None and came:
            answer.finish_reason = text(mapping(came[0]).get("finish_reason")) or None
        parameters = mapping(embedded(span.attributes.get("llm.invocation_parameters")))
        left_out = prompts.left_out + chat.left_out + span.missing
        return ChatSpan(prompt, answer, tools, parameters, left_out)
    return None


def _one_answer(answers: list[Answer]) -> Answer:
    """The first of several answers to choose from; items of one answer, each in a message of its
    own, are joined: text or reasoning, and calls."""
    first, *others = answers
    if sum(bool(answer.parts) for answer in answers) > 1:
        return first
    for other in others:
        first.parts += other.parts
        first.calls += other.calls
        first.reasoning = "\n".join(filter(None, (first.reasoning, other.reasoning)))
        first.state = other.state if first.state == "none" else first.state
    return first


def _json_attributes(span: Span) -> tuple[Messages, Messages, Any]:
    """``gen_ai.input.messages`` and its companions: JSON in a string, or structured values."""
    given = span.attributes
    sent = items(embedded(given.get("gen_ai.input.messages")))
    instructions = given.get("gen_ai.system_instructions")
    if instructions and sent:
        parts = items(embedded(instructions))
        sent = [{"role": "system", "parts": parts} if parts else None, *sent]
    came = items(embedded(given.get("gen_ai.output.messages")))
    if not came and text(given.get("gen_ai.output.text")):
        came = [{"role": "assistant", "content": given["gen_ai.output.text"]}]
    return sent, came, embedded(given.get("gen_ai.tool.definitions"))


def _open_inference(span: Span) -> tuple[Messages, Messages, Any]:
    """``llm.input_messages.0.message.role`` and so on."""
    given = span.attributes
    sent = [_oi_message(m) for m in unflattened(given, "llm.input_messages")]
    came = [_oi_message(m) for m in unflattened(given, "llm.output_messages")]
    tools = [
        schema
        for entry in unflattened(given, "llm.tools")
        if (schema := embedded(mapping(entry.get("tool")).get("json_schema"))) is not None
    ]
    return sent, came, tools


def _oi_message(entry: dict[str, Any]) -> dict[str, Any]:
    message = dict(mapping(entry.get("message")))
    contents = [mapping(c.get("message_content")) for c in mappings(message.pop("contents", None))]
    if contents and not message.get("content"):
        message["content"] = [{"type": "text", "text": text(c.get("text"))} for c in contents]
    calls = [mapping(c.get("tool_call")) for c in mappings(message.get("tool_calls"))]
    message["tool_calls"] = calls
    message.setdefault("role", "assistant")
    return message


def _flattened(span: Span) -> tuple[Messages, Messages, Any]:
    """``gen_ai.prompt.0.role`` and ``gen_ai.completion.0.content``."""
    sent = unflattened(span.attributes, "gen_ai.prompt")
    came = [{"role": "assistant", **m} for m in unflattened(span.attributes, "gen_ai.completion")]
    return sent, came, unflattened(span.attributes, "llm.request.functions")


def _events(span: Span) -> tuple[Messages, Messages, Any]:
    """Events ``gen_ai.user.message`` … and ``gen_ai.choice``."""
    sent: Messages = []
    came: Messages = []
    for event in span.events:
        name = text(event.get("name"))
        if name == "gen_ai.choice":
            message = mapping(embedded(event.get("message")))
            reason = event.get("finish_reason")
            came.append({"role": "assistant", "finish_reason": reason, **(message or event)})
        elif name.startswith("gen_ai.") and name.endswith(".message"):
            role = name.removeprefix("gen_ai.").removesuffix(".message")
            sent.append({"role": role, **event, "tool_call_id": event.get("id")})
    return sent, came, None


def _vercel(span: Span) -> tuple[Messages, Messages, Any]:
    """The AI SDK of Vercel: ``ai.prompt.messages``, ``ai.response.text``."""
    given = span.attributes
    sent = [_vercel_message(mapping(m)) for m in items(embedded(given.get("ai.prompt.messages")))]
    called = mappings(embedded(given.get("ai.response.toolCalls")))
    said = text(given.get("ai.response.text")) or text(given.get("ai.response.object"))
    came: Messages = []
    if said or called:
        content = [{"type": "text", "text": said}] if said else []
        content += [_vercel_part({**call, "type": "tool-call"}) for call in called]
        came = [{"role": "assistant", "content": content}]
    tools = [embedded(tool) for tool in items(given.get("ai.prompt.tools"))]
    return sent, came, tools


def _vercel_message(message: dict[str, Any]) -> dict[str, Any]:
    content = message.get("content")
    if isinstance(content, list):
        content = [_vercel_part(mapping(part)) for part in content]
    return {**message, "content": content}


def _vercel_part(part: dict[str, Any]) -> dict[str, Any]:
    named = {"id": part.get("toolCallId"), "name": part.get("toolName")}
    if part.get("type") == "tool-call":
        given = embedded(part.get("input", part.get("args")))
        return {"type": "tool_call", **named, "arguments": given}
    if part.get("type") == "tool-result":
        output = part.get("output", part.get("result"))
        value = mapping(output).get("value", output)
        return {"type": "tool_output", **named, "output": value}
    return part


GENERATIONS: tuple[Callable[[Span], tuple[Messages, Messages, Any]], ...] = (
    _json_attributes,
    _open_inference,
    _flattened,
    _events,
    _vercel,
)
