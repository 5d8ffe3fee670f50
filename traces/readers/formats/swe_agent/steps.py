"""What a step of a SWE-agent trajectory was asked, and what it answered.

``query`` is the prompt of its step. ``messages`` is the history after the step: the prompt, then
the step's own answer and its result. The last step of a file may lack them.
"""

from dataclasses import dataclass
from typing import Any

from traces.readers.chat.shapes import items, mapping, mappings, text

Step = dict[str, Any]
Message = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Asked:
    """The prompt of a step (empty if none was recorded) and its own answer in its history."""

    prompt: list[Any]
    answer: Message | None = None


def asked_by(steps: list[Any]) -> list[Asked]:
    """For every step, in order.

    History processors shorten old results anew at every request, so the history after the step
    before is the prompt, where it has as many messages as are left of the step's own.
    """
    found: list[Asked] = []
    own, before = -1, list[Any]()
    for step in map(mapping, steps):
        query = items(step.get("query"))
        after = items(step.get("messages"))
        if "messages" not in step or not mappings(after):
            found.append(Asked(query if mappings(query) else []))
            own, before = len(query), []
            continue
        place = _own_answer(after, step)
        if place is None or place == own:
            found.append(Asked(after))
            own, before = len(after), []
            continue
        found.append(Asked(before if len(before) == place else after[:place], after[place]))
        own, before = place, after
    return found


def _own_answer(messages: list[Any], step: Step) -> int | None:
    """Where the last response in a history stands, if it is that of the step."""
    for place in reversed(range(len(messages))):
        message = mapping(messages[place])
        if message.get("role") == "assistant":
            return place if same_response(message, step) else None
    return None


def same_response(message: Message, step: Step) -> bool:
    """Whether a message of the history holds the response of a step."""
    if not message or message.get("is_demo"):
        return False
    asked = text(message.get("action")).strip()
    if asked and "action" in step and asked != text(step["action"]).strip():
        return False
    said = {text(step.get("response")).strip(), text(step.get("thought")).strip()} - {""}
    shown = _text_of(message.get("content")).strip()
    return shown in said if said else not shown


def _text_of(content: Any) -> str:
    parts = [text(part.get("text")) for part in mappings(content)]
    return "\n".join(parts) if parts else text(content)
