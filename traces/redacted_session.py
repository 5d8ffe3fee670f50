"""A session without its secrets: same turns, same structure, new message names."""

from traces.message import Blob, Message, Note, Text, ToolCall, make_message
from traces.redaction import Redactor
from traces.session import Session, Tool, Toolset


def redacted_session(session: Session, redact: Redactor) -> Session:
    """`session` with every recorded text redacted.

    Attachments kept beside the file are not looked into: their references are dropped. Messages are
    named by content, so their names change; the hash of the system prompt stays, since it is the
    identity of the template.
    """
    messages: dict[str, Message] = {}
    names: dict[str, str] = {}
    for mid, message in session.messages.items():
        clean = _message(message, redact)
        names[mid] = clean.mid
        messages.setdefault(clean.mid, clean)
    turns = tuple(
        turn.replaced(
            added=tuple(names[mid] for mid in turn.added),
            output=None if turn.output is None else names[turn.output],
            response_format=redact.value(turn.response_format),
        )
        for turn in session.turns
    )
    toolsets = {name: _toolset(toolset, redact) for name, toolset in session.toolsets.items()}
    return session.replaced(
        session_id=redact(session.session_id),
        source=session.source.replaced(file=redact(session.source.file)),
        cwd=None if session.cwd is None else redact(session.cwd),
        tags={key: redact(value) for key, value in session.tags.items()},
        toolsets=toolsets,
        messages=messages,
        turns=turns,
    )


def _message(message: Message, redact: Redactor) -> Message:
    return make_message(
        message.role,
        [_part(part, redact) for part in message.content],
        origin=message.origin,
        reasoning=None if message.reasoning is None else redact(message.reasoning),
        tool_calls=[_call(call, redact) for call in message.tool_calls],
        tool_call_id=message.tool_call_id,
        is_error=message.is_error,
        rows=message.rows,
    )


def _part(part: Text | Blob | Note, redact: Redactor) -> Text | Blob | Note:
    if isinstance(part, Blob):
        head = None if part.head is None else redact(part.head)
        return part.replaced(blob="", head=head)
    return part.replaced(text=redact(part.text))


def _call(call: ToolCall, redact: Redactor) -> ToolCall:
    raw = None if call.arguments_raw is None else redact(call.arguments_raw)
    arguments = redact.json_text(call.arguments_json)
    return call.replaced(arguments_json=arguments, arguments_raw=raw)


def _toolset(toolset: Toolset, redact: Redactor) -> Toolset:
    return toolset.replaced(tools=tuple(_tool(tool, redact) for tool in toolset.tools))


def _tool(tool: Tool, redact: Redactor) -> Tool:
    description = None if tool.description is None else redact(tool.description)
    parameters = redact.value(tool.parameters)
    return tool.replaced(description=description, parameters=parameters)
