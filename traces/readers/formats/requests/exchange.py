"""One recorded request with its answer, of any of the chat APIs, or a completion."""

from dataclasses import dataclass, field
from typing import Any

from traces.readers.chat.chat import ChatReader
from traces.readers.chat.content import content_parts
from traces.readers.chat.items import Answer, Said
from traces.readers.chat.repeated import Entry, PromptReader, entries_of
from traces.readers.chat.responses import ResponsesReader
from traces.readers.chat.shapes import items, mapping, mappings, text, text_or_none
from traces.readers.files.json_text import writable
from traces.readers.formats.claude.rows import FINISH
from traces.readers.formats.requests.openai_answer import openai_usage, sampling_of
from traces.session.blobs import BlobStore


@dataclass(slots=True)
class Exchange:
    """`prompt` is what was sent, `answer` what came back (None if it was not kept).

    `session` is an id that the log gives to what belongs together, if any; `facts` are fields of
    the turn that the request itself gives. `left_out` counts what of them could not be read.
    """

    prompt: list[Entry]
    answer: Answer | None
    tools: Any
    row: int
    session: str | None = None
    tags: dict[str, str] = field(default_factory=dict)
    model: str | None = None
    facts: dict[str, Any] = field(default_factory=dict)
    left_out: int = 0


def is_request(body: dict[str, Any]) -> bool:
    """Whether `body` is a request of chat completions, Responses, Anthropic Messages or
    completions."""
    if isinstance(body.get("messages"), list):
        return True
    if "model" in body and isinstance(body.get("prompt"), str):
        return True
    return "input" in body and "model" in body and isinstance(body["input"], list | str)


def read_exchange(
    body: dict[str, Any], answer: dict[str, Any], row: int, prompts: PromptReader
) -> Exchange:
    """The exchange of a request body and an answer body, whichever API they are of."""
    if "input" in body and "messages" not in body:
        found = _responses(body, answer, row, prompts.blobs)
    elif "prompt" in body and "messages" not in body:
        found = _completion(body, answer, row, prompts.blobs)
    else:
        found = _chat(body, answer, row, prompts)
    found.model, found.facts = text_or_none(body.get("model")), request_facts(body)
    if found.answer is not None:
        given = found.answer
        given.rows = (row,)
        given.model = text_or_none(answer.get("model"))
        given.response_id = text_or_none(answer.get("id"))
        given.usage = openai_usage(answer.get("usage"))
    return found


def request_facts(body: dict[str, Any]) -> dict[str, Any]:
    """Fields of a turn that a request body gives: model, sampling, tool choice, response format."""
    facts: dict[str, Any] = {"sampling": sampling_of(body)}
    choice = tool_choice_of(body.get("tool_choice"))
    if choice is not None and writable(choice):
        facts["tool_choice"] = choice
    if isinstance(body.get("parallel_tool_calls"), bool):
        facts["parallel_tool_calls"] = body["parallel_tool_calls"]
    if isinstance(body.get("response_format"), dict) and writable(body["response_format"]):
        facts["response_format"] = body["response_format"]
    return facts


def _chat(
    body: dict[str, Any], answer: dict[str, Any], row: int, prompts: PromptReader
) -> Exchange:
    messages = items(body.get("messages"))
    if body.get("system") is not None:
        messages = [{"role": "system", "content": body["system"]}, *messages]
    prompt = prompts.read(messages, row)
    choice = next(iter(mappings(answer.get("choices"))), {})
    message = mapping(choice.get("message"))
    if not message and isinstance(answer.get("content"), list | str):
        message = {"content": answer["content"]}
    exchange = Exchange(prompt, None, body.get("tools", body.get("functions")), row)
    exchange.left_out = prompts.left_out
    if message:
        chat = ChatReader(prompts.blobs)
        found = chat.message({**message, "role": "assistant"}, (row,))[0]
        assert isinstance(found, Answer)
        reason = text(choice.get("finish_reason")) or text(answer.get("stop_reason"))
        found.finish_reason = FINISH.get(reason, reason) or None
        exchange.answer = found
        exchange.left_out += chat.left_out
    return exchange


def _responses(
    body: dict[str, Any], answer: dict[str, Any], row: int, blobs: BlobStore
) -> Exchange:
    sent = ResponsesReader(blobs)
    if text(body.get("instructions")):
        sent.said(Said("system", content_parts(body["instructions"], blobs), "harness", (row,)))
    if isinstance(body.get("input"), str):
        sent.said(Said("user", content_parts(body["input"], blobs), "human", (row,)))
    for item in items(body.get("input")):
        sent.add(item, (row,))
    came = ResponsesReader(blobs)
    for item in items(answer.get("output")):
        came.add(item, (row,))
        came.closed = came.answer is None
    found = came.answer
    if found is not None:
        found.finish_reason = "tool_calls" if found.calls else "stop"
        if mapping(answer.get("incomplete_details")):
            found.finish_reason = "length"
    prompt = [entry for item in sent.transcript for entry in entries_of(item)]
    left_out = sent.left_out + came.left_out
    return Exchange(prompt, found, items(body.get("tools")), row, left_out=left_out)


RAW_PROMPT = "raw_prompt"
"""Why a completion is not replayed: its prompt is text for the model, and no chat."""


def _completion(
    body: dict[str, Any], answer: dict[str, Any], row: int, blobs: BlobStore
) -> Exchange:
    said = Said("user", content_parts(body["prompt"], blobs), "human", (row,))
    choice = next(iter(mappings(answer.get("choices"))), {})
    written = choice.get("text", mapping(choice.get("message")).get("content"))
    found = Answer(rows=(row,))
    found.parts = content_parts(written, blobs)
    found.finish_reason = text_or_none(choice.get("finish_reason"))
    found.skip_reason = RAW_PROMPT
    return Exchange(entries_of(said), found, None, row)


def tool_choice_of(choice: Any) -> str | dict[str, Any] | None:
    """Tool choice in the words of chat completions (Anthropic: any, tool; Responses: flat)."""
    if isinstance(choice, str):
        return choice
    if not isinstance(choice, dict):
        return None
    kind, name = choice.get("type"), text(choice.get("name"))
    if kind in ("auto", "none"):
        return text(kind)
    if kind == "any":
        return "required"
    return {"type": "function", "function": {"name": name}} if name else choice
