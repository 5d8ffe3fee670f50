"""A recorded turn as a vLLM chat-completions request: the one place for these rules.

1. `system` and `developer` messages at the start become one system message. Later ones become user
   text, since chat templates take a system message at the beginning only.
2. Consecutive user messages become one, joined by an empty line.
3. A free-form tool is a function with one string ``input``; arguments that are no JSON object are
   sent as ``{"input": text}`` (vLLM parses the arguments of the history and refuses others).
4. Images and other attachments become a placeholder such as ``[image]``; texts kept beside the
   session file show their start.
5. A call without a recorded result is answered by `NO_RESULT`; a result of no call becomes user
   text. So each call is answered exactly once, in call order, before the next assistant message.
6. Visible reasoning goes back as ``reasoning``; templates that do not use it ignore it.

Sent is what the prompt was: nothing a replay adds (model settings of the server, salts, logprobs).
"""

from collections import deque
from collections.abc import Iterable, Sequence
from typing import Any

from traces.session.message import Blob, Message, Note, Text
from traces.session.record import present
from traces.session.session import Session, Tool
from traces.session.turn import Sampling, Turn

NO_RESULT = "[draftgate: no result was recorded for this call]"

MIN_OUTPUT_TOKENS = 256
"""Least `max_tokens` where the source does not record one: room for another model's wording."""

OUTPUT_MARGIN = 2
"""`max_tokens` over the recorded length where only that is known."""

CHARACTERS_PER_TOKEN = 3
"""Low estimate for code and prose, so that `max_tokens` is rather too large."""


def chat_request(session: Session, turn: Turn, *, model: str | None = None) -> dict[str, Any]:
    """The body of ``POST /v1/chat/completions`` that asks for `turn` again.

    `model` is the served name; without it the recorded one is used. Sampling parameters appear
    only where they were recorded.
    """
    request: dict[str, Any] = {"model": model or turn.model or "unknown"}
    request["messages"] = chat_messages(session.prefix(turn))
    toolset = session.toolsets.get(turn.toolset or "")
    if toolset is not None and toolset.tools:
        request["tools"] = [chat_tool(tool) for tool in toolset.tools]
        if turn.tool_choice is not None:
            request["tool_choice"] = turn.tool_choice
        if turn.parallel_tool_calls is not None:
            request["parallel_tool_calls"] = turn.parallel_tool_calls
    if turn.response_format is not None:
        request["response_format"] = turn.response_format
    if turn.sampling is not None:
        request |= _sampling(turn.sampling)
    request["max_tokens"] = _max_tokens(session, turn)
    return request


def _sampling(recorded: Sampling) -> dict[str, Any]:
    """The parameters of the API that were recorded; the length has a rule of its own."""
    return {
        name: list(value) if isinstance(value, tuple) else value
        for name, value in present(recorded).items()
        if name not in ("effort", "max_tokens")
    }


def _max_tokens(session: Session, turn: Turn) -> int:
    if turn.sampling is not None and turn.sampling.max_tokens is not None:
        return turn.sampling.max_tokens
    output = session.output(turn)
    if turn.usage is not None and turn.usage.completion is not None:
        length = turn.usage.completion
    elif output is not None:
        arguments = sum(len(call.arguments_json) for call in output.tool_calls)
        characters = len(output.text) + len(output.reasoning or "") + arguments
        length = characters // CHARACTERS_PER_TOKEN
    else:
        length = 0
    return max(MIN_OUTPUT_TOKENS, OUTPUT_MARGIN * length)


def chat_tool(tool: Tool) -> dict[str, Any]:
    """One entry of the request's ``tools``."""
    parameters = tool.parameters
    if tool.freeform:
        parameters = {
            "type": "object",
            "properties": {"input": {"type": "string"}},
            "required": ["input"],
        }
    function: dict[str, Any] = {"name": tool.name}
    if tool.description is not None:
        function["description"] = tool.description
    return {"type": "function", "function": {**function, "parameters": parameters}}


def chat_messages(prefix: Sequence[Message]) -> list[dict[str, Any]]:
    """The prompt in chat-completions form."""
    leading = 0
    while leading < len(prefix) and prefix[leading].role in ("system", "developer"):
        leading += 1
    rendered: list[dict[str, Any]] = []
    system = [text for message in prefix[:leading] if (text := plain_text(message.content))]
    if system:
        rendered.append({"role": "system", "content": "\n\n".join(system)})
    position = leading
    while position < len(prefix):
        message = prefix[position]
        position += 1
        if message.role == "assistant":
            rendered.append(_assistant(message))
            results: list[Message] = []
            while position < len(prefix) and prefix[position].role == "tool":
                results.append(prefix[position])
                position += 1
            answers, orphans = _answers(message, results)
            rendered.extend(answers)
            for orphan in orphans:
                _add_user(rendered, plain_text(orphan.content))
        else:
            _add_user(rendered, plain_text(message.content))
    return rendered


def _assistant(message: Message) -> dict[str, Any]:
    rendered: dict[str, Any] = {"role": "assistant", "content": plain_text(message.content)}
    if message.reasoning:
        rendered["reasoning"] = message.reasoning
    if message.tool_calls:
        rendered["tool_calls"] = [
            {
                "id": call.id,
                "type": "function",
                "function": {"name": call.name, "arguments": call.arguments_json},
            }
            for call in message.tool_calls
        ]
    return rendered


def _answers(
    asked: Message, results: Iterable[Message]
) -> tuple[list[dict[str, Any]], list[Message]]:
    waiting: dict[str | None, deque[Message]] = {}
    for result in results:
        waiting.setdefault(result.tool_call_id, deque()).append(result)
    answers = []
    for call in asked.tool_calls:
        queue = waiting.get(call.id)
        text = plain_text(queue.popleft().content) if queue else NO_RESULT
        answers.append({"role": "tool", "tool_call_id": call.id, "content": text})
    return answers, [message for queue in waiting.values() for message in queue]


def _add_user(rendered: list[dict[str, Any]], text: str) -> None:
    if rendered and rendered[-1]["role"] == "user":
        joined = [part for part in (rendered[-1]["content"], text) if part]
        rendered[-1]["content"] = "\n\n".join(joined)
    else:
        rendered.append({"role": "user", "content": text})


def plain_text(parts: Iterable[Text | Blob | Note]) -> str:
    """Content for a text model: attachments as placeholders."""
    return "\n".join(part.text if part.type == "text" else placeholder(part) for part in parts)


def placeholder(part: Blob | Note) -> str:
    """What stands for an attachment or a note: ``[image]``, or the start of a long text."""
    if isinstance(part, Note):
        return f"[{part.text}]"
    if part.head is not None:
        return f"{part.head}\n[… {part.size} bytes in all]"
    return "[image]" if part.mime.startswith("image/") else f"[{part.mime}]"
