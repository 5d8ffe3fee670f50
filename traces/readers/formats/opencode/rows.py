"""Rows of opencode's message tables in the form in which it exports them.

    message          {"id":"msg_…","session_id":"ses_…","data":"{\\"role\\":\\"user\\",…}"}
    session_message  {"id":"msg_…","session_id":"ses_…","type":"assistant","seq":3,
                      "data":"{\\"content\\":[{\\"type\\":\\"tool\\",\\"id\\":…,\\"name\\":…}],…}"}

The older table keeps parts in a table of their own; the newer one has content in the row.
"""

from typing import Any

from traces.readers.chat.shapes import items, mapping, mappings, text
from traces.readers.files.json_text import embedded

Message = dict[str, Any]


def as_message(row: dict[str, Any]) -> Message:
    """The message of a row with its parts; empty if the model saw nothing of it."""
    data = mapping(embedded(row.get("data")))
    kind = text(row.get("type")) or text(data.get("role"))
    read = READERS.get(kind)
    if read is None:
        return {}
    info = {"id": row.get("id"), **data}
    info |= {"role": text(data.get("role")) or ("user" if kind != "assistant" else kind)}
    parts = items(row.get("parts")) or items(data.get("parts"))
    return {"info": info, "parts": parts} if parts else read(info, data)


def _user(info: Message, data: Message) -> Message:
    parts = [{"type": "text", "text": data.get("text")}] if text(data.get("text")) else []
    parts += [{**file, "type": "file"} for file in mappings(data.get("files"))]
    if not parts:
        parts = mappings(data.get("content")) or [{"type": "text", "text": data.get("content")}]
    return {"info": info, "parts": parts}


def _harness(info: Message, data: Message) -> Message:
    return {**_user(info, data), "info": {**info, "synthetic": True}}


def _shell(info: Message, data: Message) -> Message:
    output = data.get("output")
    shown = text(output) or text(mapping(output).get("output"))
    said = f"Ran `{text(data.get('command'))}`\n{shown}"
    return {"info": {**info, "synthetic": True}, "parts": [{"type": "text", "text": said}]}


def _assistant(info: Message, data: Message) -> Message:
    model = mapping(data.get("model"))
    known = {**info, "modelID": model.get("id", model.get("modelID", data.get("modelID")))}
    return {"info": known, "parts": [_part(part) for part in mappings(data.get("content"))]}


def _part(part: Message) -> Message:
    """A part of the newer table; its tools are named otherwise."""
    if part.get("type") != "tool" or "callID" in part:
        return part
    state = mapping(part.get("state"))
    shown = {**state, "output": state.get("content", state.get("output"))}
    if state.get("status") == "error":
        error = mapping(state.get("error")).get("message", state.get("error"))
        shown["output"] = state.get("content") or error
    return {"type": "tool", "callID": part.get("id"), "tool": part.get("name"), "state": shown}


def _compaction(info: Message, data: Message) -> Message:
    if data.get("status", "completed") != "completed" or not text(data.get("summary")):
        return {}
    said = "\n\n".join(filter(None, (text(data["summary"]), text(data.get("recent")))))
    return {"info": {**info, "role": "summary"}, "parts": [{"type": "text", "text": said}]}


READERS = {
    "user": _user,
    "assistant": _assistant,
    "message": _user,
    "synthetic": _harness,
    "system": _harness,
    "skill": _harness,
    "shell": _shell,
    "compaction": _compaction,
}
"""What the model saw of each kind of row; other kinds are notes of the tool."""
