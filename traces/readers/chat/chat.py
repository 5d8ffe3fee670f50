"""Chat messages of every dialect as transcript items.

Understood, also mixed in one list: OpenAI chat completions (``tool_calls``, ``function_call``,
role ``tool`` or ``function``), Anthropic blocks (``tool_use``, ``tool_result``, ``thinking``),
converter dialects with content parts ``tool_call`` and ``tool_output``, ShareGPT
(``from``/``value``) and the role names that data sets use.
"""

from dataclasses import dataclass, field
from typing import Any

from traces.readers.chat.arguments import Call, same_call, tool_call
from traces.readers.chat.content import Parts, as_typed, content_parts
from traces.readers.chat.items import Answer, Item, Result, Rows, Said
from traces.readers.chat.reasoning import add_reasoning, add_reasoning_beside
from traces.readers.chat.shapes import items, mapping, mappings, text, text_or_none
from traces.readers.files.json_text import dump, embedded
from traces.session.blobs import BlobStore
from traces.session.message import Role

ROLES: dict[str, Role] = {
    "system": "system", "developer": "developer",
    "user": "user", "human": "user", "prompter": "user",
    "assistant": "assistant", "ai": "assistant", "gpt": "assistant", "model": "assistant",
    "bot": "assistant", "chatgpt": "assistant", "function_call": "assistant",
    "tool": "tool", "function": "tool", "observation": "tool", "function_response": "tool",
    "ipython": "tool", "environment": "tool", "toolresult": "tool",
}  # fmt: skip

CALL_BLOCKS = frozenset({"tool_use", "tool_call", "server_tool_use", "function_call", "toolCall"})
RESULT_BLOCKS = frozenset(
    {
        "tool_result",
        "tool_output",
        "tool_call_response",
        "function_call_output",
        "web_search_tool_result",
    }
)
WRAPPERS = frozenset({"responseParts", "functionResponse"})
"""Keys of a result that is wrapped as iFlow CLI keeps it."""

REASONING_BLOCKS = frozenset({"thinking", "reasoning", "redacted_thinking"})


@dataclass(slots=True)
class ChatReader:
    """Reads the messages of one conversation in order.

    It keeps the calls that still wait for a result, to pair results that name no call by position;
    `guesses` counts the ids that were not in the message itself, `left_out` the messages and calls
    that were none: no object, of no known role, without a name, or with nothing in them that is
    understood.
    """

    blobs: BlobStore
    guesses: int = 0
    left_out: int = 0
    _waiting: dict[str, Call] = field(default_factory=dict)
    _after_answer: bool = False
    _made: int = 0

    def items(self, messages: Any, rows: Rows = ()) -> list[Item]:
        """Every message of a list; what is no message is left out."""
        return [item for message in items(messages) for item in self.message(message, rows)]

    def message(self, message: Any, rows: Rows = ()) -> list[Item]:
        """The items of one message: a response, or results followed by what was said."""
        message = mapping(message)
        named = message.get("role")
        if not named or not isinstance(named, str):
            named = text(message.get("from"))
        role = ROLES.get(named) or ROLES.get(named.lower())
        if role is None:
            self.left_out += 1
            return []
        content = message.get("content")
        if content is None:
            content = _other_content(message, role)
        if isinstance(content, list) and content and "type" not in mapping(content[-1]):
            content = [as_typed(block) for block in content]
        if named == "function_call":
            return [self._share_gpt_call(content, rows)]
        if role == "assistant":
            answer = self.answer(message, content, rows)
            if not (answer.parts or answer.calls or "content" in message):
                self.left_out += 1
            return [answer]
        if content is None and "content" not in message:
            self.left_out += 1
        if role == "tool":
            return self._tool_message(message, content, rows)
        return self.said(role, content, rows)

    def answer(self, message: dict[str, Any], content: Any, rows: Rows) -> Answer:
        """A response; `content` is that of `message`, whatever its key is called."""
        answer = Answer(rows=rows, response_id=text_or_none(message.get("id")))
        for block in content if isinstance(content, list) else (content,):
            kind = block.get("type") if isinstance(block, dict) else None
            if not isinstance(kind, str):
                answer.parts += content_parts(block, self.blobs)
            elif kind in CALL_BLOCKS:
                answer.calls.append(self._call(block))
            elif kind in REASONING_BLOCKS:
                self.left_out += not add_reasoning(answer, block)
            else:
                answer.parts += content_parts(block, self.blobs)
        if entries := message.get("tool_calls"):
            self._add_calls(answer, entries)
        if isinstance(message.get("function_call"), dict) and not answer.calls:
            answer.calls.append(self._call(message["function_call"]))
        if not answer.reasoning:
            add_reasoning_beside(answer, message)
        if answer.reasoning:
            answer.state = "visible"
        self._wait_for(answer.calls)
        return answer

    def _add_calls(self, answer: Answer, entries: Any) -> None:
        """The calls beside the content; one that stands in it too is the same call."""
        calls = [self._call(entry) for entry in self.objects(entries)]
        if not answer.calls:
            answer.calls = calls
            return
        in_parts = list(answer.calls)
        for call in calls:
            known = next((part for part in in_parts if same_call(part, call)), None)
            if known is None:
                answer.calls.append(call)
                continue
            in_parts.remove(known)
            if known.arguments_json == "{}":
                answer.calls[answer.calls.index(known)] = call

    def objects(self, values: Any) -> list[dict[str, Any]]:
        """The objects of a list, which may be missing; what is none is left out."""
        found = mappings(values)
        if values:
            self.left_out += len(values) - len(found) if isinstance(values, list) else 1
        return found

    def _share_gpt_call(self, content: Any, rows: Rows) -> Answer:
        value = mapping(embedded(content))
        call = self._call(value) if value else None
        calls = [call] if call else []
        self._wait_for(calls)
        parts = [] if call else content_parts(content, self.blobs)
        return Answer(parts=parts, calls=calls, rows=rows)

    def _wait_for(self, calls: list[Call]) -> None:
        """Calls of neighboring responses wait together: some logs write each on its own."""
        if not self._after_answer:
            self._waiting = {}
            self._after_answer = True
        for call in calls:
            self._waiting[call.id] = call

    def _call(self, block: dict[str, Any]) -> Call:
        if "value" in block and "name" not in block:
            block = {**mapping(embedded(block["value"])), **block}
        function = mapping(block.get("function")) or mapping(block.get("tool")) or block
        arguments = None
        for key in ("arguments", "input", "args", "parameters"):
            if key in function:
                arguments = function[key]
                break
        named = text(block.get("call_id")) or text(block.get("id"))
        named = named or text(block.get("tool_call_id"))
        name = function.get("name")
        if name is None and "name" not in function:
            name = function.get("tool_name", block.get("tool"))
        if not (name and isinstance(name, str)):
            self.left_out += 1
        call = tool_call(named or self._new_id(), name, arguments)
        if not named:
            call.made = True
        return call

    def _new_id(self) -> str:
        self.guesses += 1
        self._made += 1
        return f"call_{self._made}"

    def _tool_message(self, message: dict[str, Any], content: Any, rows: Rows) -> list[Item]:
        """The result of a tool message; several, where its blocks are those of several calls."""
        if isinstance(content, list) and len(content) > 1:
            blocks = (
                block for block in mappings(content) if text(block.get("type")) in RESULT_BLOCKS
            )
            if len({text(_id_of(block)) for block in blocks} - {""}) > 1:
                return self.said("tool", content, rows)
        return [self._result(message, content, rows)]

    def _result(self, message: dict[str, Any], content: Any, rows: Rows) -> Result:
        call_id = text(message.get("tool_call_id")) or _named_elsewhere(message)
        parts: Parts = []
        for block in content if isinstance(content, list) else (content,):
            kind = block.get("type") if isinstance(block, dict) else None
            if isinstance(kind, str) and kind in RESULT_BLOCKS:
                call_id = call_id or text(_id_of(block))
                block = _output_of(block)
            parts += content_parts(block, self.blobs)
        call_id = self._pair(call_id, text(message.get("name")))
        is_error = message.get("is_error")
        return Result(call_id, parts, rows, is_error if isinstance(is_error, bool) else None)

    def passed(self, item: Item) -> None:
        """An item goes by whose message was read before."""
        if isinstance(item, Answer):
            self._wait_for(item.calls)
        elif isinstance(item, Result):
            self._pair(item.call_id, "")
        else:
            self._after_answer = False

    def _pair(self, named: str, function: str) -> str:
        self._after_answer = False
        if named:
            self._waiting.pop(named, None)
            return named
        self.guesses += 1
        waiting = iter(self._waiting.values())
        first = next((call for call in waiting if call.name == function), None)
        first = first or next(iter(self._waiting.values()), None)
        return self._new_id() if first is None else self._waiting.pop(first.id).id

    def said(self, role: Role, content: Any, rows: Rows) -> list[Item]:
        """What no response made: results first, then text."""
        results: list[Item] = []
        parts: Parts = []
        for block in content if isinstance(content, list) else (content,):
            kind = block.get("type") if isinstance(block, dict) else None
            if isinstance(kind, str) and kind in RESULT_BLOCKS:
                is_error = block.get("is_error")
                results.append(
                    Result(
                        self._pair(text(_id_of(block)), ""),
                        content_parts(_output_of(block), self.blobs),
                        rows,
                        is_error if isinstance(is_error, bool) else None,
                    )
                )
            else:
                parts += content_parts(block, self.blobs)
        self._after_answer = False
        if not parts and results:
            return results
        return [*results, Said(role, parts, "harness" if role != "user" else "human", rows)]


def _named_elsewhere(message: dict[str, Any]) -> str:
    """The call that a result names by another key than ``tool_call_id``."""
    named = message.get("tool_call_id", message.get("call_id", message.get("tool_use_id")))
    ids = items(message.get("tool_call_ids"))
    return text(named) or text(ids[0] if ids else "")


def _other_content(message: dict[str, Any], role: Role) -> Any:
    for key in ("parts", "value", "text", "refusal"):
        if message.get(key) is not None:
            return message[key]
    return message.get("system_prompt") if role == "system" else None


def _id_of(block: dict[str, Any]) -> Any:
    for key in ("tool_use_id", "tool_call_id", "call_id", "id"):
        if block.get(key):
            return block[key]
    return None


def _output_of(block: dict[str, Any]) -> Any:
    for key in ("content", "output", "result", "response", "text", "value"):
        if block.get(key) is not None:
            value = block[key]
            if isinstance(value, dict) and (
                "responseParts" in value or "functionResponse" in value
            ):
                value = _gemini_output(value)
            return dump(value) if isinstance(value, dict) and "type" not in value else value
    return None


def _gemini_output(value: dict[str, Any]) -> Any:
    """What a function gave back, in the form of Gemini."""
    response = mapping(mapping(value.get("responseParts")) or value).get("functionResponse")
    given = mapping(mapping(response).get("response"))
    return given.get("output", given.get("error", given))
