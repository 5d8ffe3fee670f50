"""Logs that a converter wrote with one message per item instead of one per response.

    {"role":"assistant","content":[{"type":"text",…}]}
    {"role":"assistant","content":[{"type":"tool_call",…}]}

They look like chat completions but no API takes them. Neighboring assistant messages are parts of
one response there: text, then its calls. Parallel calls whose results were put between them look
like calls made one after the other.
"""

from collections.abc import Iterable
from typing import Any

from traces.readers.chat.items import Answer, Item, Result
from traces.readers.chat.shapes import items, mapping, mappings


def joined_responses(transcript: list[Item], messages: list[Any]) -> tuple[list[Item], bool]:
    """The items of `messages` with split responses joined, and whether a converter wrote them."""
    in_parts = _uses_call_parts(messages)
    if not in_parts and not _is_split(transcript):
        return transcript, False
    joined = _joined(transcript, converted=in_parts)
    return joined, len(joined) < len(transcript) or _holds_one_item_each(messages)


def _uses_call_parts(messages: Iterable[Any]) -> bool:
    """Whether calls or results are content parts of type ``tool_call`` or ``tool_output``."""
    for message in messages:
        content = message.get("content") if isinstance(message, dict) else None
        if isinstance(content, list):
            for part in mappings(content):
                if part.get("type") in ("tool_call", "tool_output"):
                    return True
    return False


def _holds_one_item_each(messages: Iterable[Any]) -> bool:
    """Whether no response has more than one content part, as a converter leaves them."""
    return not any(
        mapping(message).get("role") == "assistant"
        and len(items(mapping(message).get("content"))) > 1
        for message in messages
    )


def _is_split(transcript: Iterable[Item]) -> bool:
    """Whether a response with calls is followed by another one, and then by their results.

    No API takes that: the calls were made together, and each was written as a message of its own.
    """
    before: set[str] = set()
    last: Answer | None = None
    running = False
    for item in transcript:
        if isinstance(item, Answer):
            if running and last is not None:
                before |= {call.id for call in last.calls}
            elif before:
                before = set()
            last, running = item, True
            continue
        if before and isinstance(item, Result) and item.call_id in before:
            return True
        running = False
    return False


def _joined(transcript: Iterable[Item], *, converted: bool) -> list[Item]:
    """Join neighboring responses: all in a `converted` log, else those that wait for results."""
    merged: list[Item] = []
    for item in transcript:
        last = merged[-1] if merged else None
        if isinstance(item, Answer) and isinstance(last, Answer) and (converted or last.calls):
            last.parts += item.parts
            last.calls += item.calls
            last.rows += item.rows
            last.reasoning = "\n".join(filter(None, (last.reasoning, item.reasoning)))
            last.state = last.state if item.state == "none" else item.state
        else:
            merged.append(item)
    return merged
