"""Logs that a converter wrote with one message per item instead of one per response.

    {"role":"assistant","content":[{"type":"text",…}]}
    {"role":"assistant","content":[{"type":"tool_call",…}]}

They look like chat completions but no API takes them. Neighbouring assistant messages are parts of
one response there: text, then its call. Parallel calls were serialised and cannot be told apart.
"""

from collections.abc import Iterable
from typing import Any

from traces.readers.chat.items import Answer, Item
from traces.readers.chat.shapes import mapping, mappings


def uses_call_parts(messages: Iterable[Any]) -> bool:
    """Whether calls or results are content parts of type ``tool_call`` or ``tool_output``."""
    return any(
        part.get("type") in ("tool_call", "tool_output")
        for message in messages
        for part in mappings(mapping(message).get("content"))
    )


def merge_split_responses(transcript: Iterable[Item]) -> list[Item]:
    """Join each run of neighbouring responses into one."""
    merged: list[Item] = []
    for item in transcript:
        last = merged[-1] if merged else None
        if isinstance(item, Answer) and isinstance(last, Answer) and not last.calls:
            last.parts += item.parts
            last.calls += item.calls
            last.rows += item.rows
            last.reasoning = "\n".join(filter(None, (last.reasoning, item.reasoning)))
            last.state = last.state if item.state == "none" else item.state
        else:
            merged.append(item)
    return merged
