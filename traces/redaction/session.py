"""A session without its secrets: same turns, same structure, new message names."""

import re

import msgspec

from traces.redaction.redaction import Redactor
from traces.session.message import Blob, Message, Note, Text, ToolCall, make_message
from traces.session.session import Header, Session
from traces.session.turn import Turn
from traces.session.turn_size import message_text

NAMES = ("added", "output")
"""Fields of a turn that name messages."""

LAST_WORD = re.compile(r"\S+\Z")


def redacted_session(session: Session, redact: Redactor) -> Session:
    """`session` with every recorded text redacted, names and ids too.

    Attachments kept beside the file are not looked into: their references are dropped. Messages are
    named by content, so their names change; the hash of the system prompt stays, since it is the
    identity of the template. Names of people are learned from all messages first.
    """
    for message in session.messages.values():
        redact.learn(message_text(message))
    redact.learn(session.source.file)
    redact.learn(session.cwd or "")
    messages: dict[str, Message] = {}
    names: dict[str, str] = {}
    for mid, message in session.messages.items():
        clean = _message(message, redact)
        names[mid] = clean.mid
        messages.setdefault(clean.mid, clean)
    header = msgspec.convert(redact.value(msgspec.to_builtins(session.header)), Header)
    header = header.replaced(stats=session.stats.replaced(messages=len(messages)))
    return header.session(messages, (_turn(turn, names, redact) for turn in session.turns))


def _turn(turn: Turn, names: dict[str, str], redact: Redactor) -> Turn:
    fields = msgspec.to_builtins(turn)
    clean = {key: value if key in NAMES else redact.value(value) for key, value in fields.items()}
    return msgspec.convert(clean, Turn).replaced(
        added=tuple(names[mid] for mid in turn.added),
        output=None if turn.output is None else names[turn.output],
    )


def _message(message: Message, redact: Redactor) -> Message:
    asked = message.tool_call_id
    return make_message(
        message.role,
        [_part(part, redact) for part in message.content],
        origin=message.origin,
        reasoning=None if message.reasoning is None else redact(message.reasoning),
        tool_calls=[_call(call, redact) for call in message.tool_calls],
        tool_call_id=None if asked is None else redact(asked),
        is_error=message.is_error,
        rows=message.rows,
    )


def _part(part: Text | Blob | Note, redact: Redactor) -> Text | Blob | Note:
    if isinstance(part, Blob):
        head = None if part.head is None else LAST_WORD.sub("", redact(part.head))
        return part.replaced(blob="", mime=redact(part.mime), head=head)
    return part.replaced(text=redact(part.text))


def _call(call: ToolCall, redact: Redactor) -> ToolCall:
    raw = None if call.arguments_raw is None else redact(call.arguments_raw)
    return call.replaced(
        id=redact(call.id),
        name=redact(call.name),
        arguments_json=redact.json_text(call.arguments_json),
        arguments_raw=raw,
    )
