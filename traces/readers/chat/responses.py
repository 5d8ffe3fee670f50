"""Items of the OpenAI Responses API, as Codex logs them and as requests carry them.

    {"type":"message","role":"user","content":[{"type":"input_text","text":"…"}]}
    {"type":"reasoning","summary":[…],"encrypted_content":"…"}
    {"type":"function_call","name":"shell","arguments":"{…}","call_id":"…"}
    {"type":"function_call_output","call_id":"…","output":"…"}

One response is a run of reasoning, messages and calls; outputs and other roles end it.
"""

import re
from dataclasses import dataclass, field
from typing import Any

from traces.readers.chat.arguments import Call, freeform_call, tool_call
from traces.readers.chat.chat import ROLES
from traces.readers.chat.content import content_parts
from traces.readers.chat.items import Answer, Item, Result, Rows, Said
from traces.readers.chat.payloads import Outcome
from traces.readers.chat.reasoning import add_reasoning
from traces.readers.chat.shapes import integer, mapping, number, text
from traces.readers.files.json_text import dump, embedded_object
from traces.session.blobs import BlobStore
from traces.session.message import Origin

OUTPUT_TYPES = frozenset(
    {
        "function_call_output", "custom_tool_call_output", "local_shell_call_output",
        "tool_search_output", "function_result", "tool_result", "computer_call_output",
        "mcp_call_output",
    }
)  # fmt: skip

CALL_TYPES = frozenset(
    {"function_call", "custom_tool_call", "local_shell_call", "tool_search_call", "tool_call"}
)

SERVER_CALLS = frozenset(
    {"web_search_call", "file_search_call", "image_generation_call", "code_interpreter_call"}
)
"""Done by the provider within the response: no result comes back as an item."""

AGENT_MESSAGE = "agent_message"
"""What another agent of the same session wrote to this one."""

INJECTED = re.compile(r"^\s*(?:<(?:environment_context|user_instructions|turn_aborted)|# AGENTS)")
EXIT_CODE = re.compile(r"^(?:Exit code|Process exited with code):? (-?\d+)", re.MULTILINE)
WALL_TIME = re.compile(r"^Wall time: ([\d.]+) seconds", re.MULTILINE)


@dataclass(slots=True)
class ResponsesReader:
    """Takes items in order. `close` ends a response from outside, such as a token count does.

    `left_out` counts items of no known type.
    """

    blobs: BlobStore
    left_out: int = 0
    transcript: list[Item] = field(default_factory=list)
    answer: Answer | None = None
    closed: bool = True
    _waiting: dict[str, None] = field(default_factory=dict)
    _made: int = 0

    def add(self, item: Any, rows: Rows = (), at: str | None = None) -> bool:
        """Take one item; False if it is of no known type."""
        known = isinstance(item, dict) and self._take(item, rows, at)
        self.left_out += not known
        return known

    def _take(self, item: dict[str, Any], rows: Rows, at: str | None) -> bool:
        kind = text(item.get("type")) or ("message" if "role" in item else "")
        if kind == "message":
            return self._message(item, rows)
        if kind == "reasoning":
            add_reasoning(self._open(rows), item)
        elif kind in CALL_TYPES:
            self._call(item, kind, rows)
        elif kind in SERVER_CALLS:
            self._open(rows)
        elif kind in OUTPUT_TYPES:
            self._result(item, rows, at)
        elif kind == AGENT_MESSAGE:
            self.said(Said("user", content_parts(item.get("content"), self.blobs), "harness", rows))
        else:
            return False
        return True

    def _call(self, item: dict[str, Any], kind: str, rows: Rows) -> None:
        self._made += 1
        call_id = text(item.get("call_id")) or text(item.get("id")) or f"call_{self._made}"
        self._open(rows).calls.append(_call(item, kind, call_id))
        self._waiting[call_id] = None

    def close(self) -> None:
        """The next model item begins a new response."""
        self.closed = True

    def said(self, item: Said) -> None:
        """Add a message that no response made; it ends the response before it."""
        self.transcript.append(item)
        self.close()

    def _open(self, rows: Rows) -> Answer:
        if self.answer is None or self.closed:
            self.answer = Answer()
            self.transcript.append(self.answer)
            self.closed = False
        self.answer.rows += rows
        return self.answer

    def _message(self, item: dict[str, Any], rows: Rows) -> bool:
        role = ROLES.get(text(item.get("role")).lower())
        parts = content_parts(item.get("content"), self.blobs)
        if role is None or role == "tool":
            return False
        if role == "assistant":
            if self.answer is not None and self.answer.calls:
                self.close()
            answer = self._open(rows)
            answer.parts += parts
            return True
        origin: Origin = "human" if role == "user" else "harness"
        if parts and parts[0].type == "text" and INJECTED.match(parts[0].text):
            origin = "harness"
        self.said(Said(role, parts, origin, rows))
        return True

    def _result(self, item: dict[str, Any], rows: Rows, at: str | None) -> None:
        output = item.get("output", item.get("result", item.get("content")))
        if output is None and "tools" in item:
            output = dump(item["tools"])
        wrapped = embedded_object(output)
        if isinstance(output, dict) and "type" not in output:
            output = wrapped.get("output", wrapped.get("content", dump(output)))
        parts = content_parts(output, self.blobs)
        first = parts[0].text if parts and parts[0].type == "text" else ""
        call_id = text(item.get("call_id")) or text(item.get("id"))
        if not call_id and self._waiting:
            call_id = next(iter(self._waiting))
        self._waiting.pop(call_id, None)
        success = wrapped.get("success")
        is_error = not success if isinstance(success, bool) else None
        outcome = outcome_of(mapping(wrapped.get("metadata")), first)
        self.transcript.append(Result(call_id, parts, rows, is_error, outcome, at))
        self.close()


def outcome_of(metadata: dict[str, Any], shown: str) -> Outcome | None:
    """Exit code and duration, from metadata or from the header Codex puts before output."""
    head = shown[:400]
    code, seconds = integer(metadata.get("exit_code")), number(metadata.get("duration_seconds"))
    exited, took = EXIT_CODE.search(head), WALL_TIME.search(head)
    code = code if code is not None or exited is None else int(exited.group(1))
    seconds = seconds if seconds is not None or took is None else float(took.group(1))
    if code is None and seconds is None:
        return None
    return Outcome(code, None if seconds is None else seconds * 1000)


def _call(item: dict[str, Any], kind: str, call_id: str) -> Call:
    if kind == "custom_tool_call":
        return freeform_call(call_id, item.get("name"), item.get("input"))
    if kind == "local_shell_call":
        return tool_call(call_id, "local_shell", mapping(item.get("action")))
    name = (
        item.get("name")
        or mapping(item.get("function")).get("name")
        or ("tool_search" if kind == "tool_search_call" else None)
    )
    return tool_call(call_id, name, item.get("arguments", item.get("input")))
