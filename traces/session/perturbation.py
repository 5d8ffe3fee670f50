"""The same turn, put to the model in other words: small changes of a request's prompt.

A drafter is trained on one style of prompt; its acceptance can halve under another one while the
target hardly notices (arXiv 2605.09992, section on template perturbation). An arm that replays the
same turns with one of these changes shows by how much.

    perturb(request, "date_line")     # system prompt begins with "Current date: …"
"""

from collections.abc import Callable, Mapping
from typing import Any

from traces.errors import ConfigError

Request = Mapping[str, Any]
Messages = list[dict[str, Any]]

DATE_LINE = "Current date: Thursday, 1 January 2026. Knowledge cutoff: none.\n\n"
PERSONA = "You are Sam, a careful engineer who answers briefly.\n\n"


def _system(messages: Messages, change: Callable[[str], str]) -> Messages:
    """`change` applied to the system prompt's text; a request without one gets ``change("")``."""
    if messages and messages[0].get("role") in ("system", "developer"):
        content = messages[0].get("content")
        if isinstance(content, str):
            return [{**messages[0], "content": change(content)}, *messages[1:]]
        if isinstance(content, list):
            added = {"type": "text", "text": change("")}
            return [{**messages[0], "content": [added, *content]}, *messages[1:]]
    return [{"role": "system", "content": change("")}, *messages]


def _system_as_user(messages: Messages) -> Messages:
    """The system prompt as the head of the first user message."""
    if len(messages) < 2 or messages[0].get("role") not in ("system", "developer"):
        return messages
    system, first = messages[0], messages[1]
    if first.get("role") != "user" or not all(
        isinstance(message.get("content"), str) for message in (system, first)
    ):
        return [{**system, "role": "user"}, *messages[1:]]
    joined = f"{system['content']}\n\n{first['content']}"
    return [{**first, "content": joined}, *messages[2:]]


_MESSAGES: dict[str, Callable[[Messages], Messages]] = {
    "date_line": lambda messages: _system(messages, lambda text: DATE_LINE + text),
    "persona": lambda messages: _system(messages, lambda text: PERSONA + text),
    "single_spaced": lambda messages: _system(messages, lambda text: text.replace("\n\n", "\n")),
    "system_as_user": _system_as_user,
}

PERTURBATIONS = {
    "date_line": "a line with a date before the system prompt",
    "persona": "a sentence with a persona before the system prompt",
    "single_spaced": "empty lines of the system prompt left out",
    "system_as_user": "the system prompt as the head of the first user message",
    "tools_reversed": "the tools in reverse order",
}
"""What can be changed, by name."""


def perturb(request: Request, name: str) -> dict[str, Any]:
    """The request with one change; the request given is left as it is.

    Raises ConfigError for a name that is not in `PERTURBATIONS`.
    """
    if name not in PERTURBATIONS:
        known = ", ".join(PERTURBATIONS)
        raise ConfigError(f"there is no perturbation {name!r}", f"name one of {known}")
    if name == "tools_reversed":
        return {**request, "tools": request["tools"][::-1]} if request.get("tools") else {**request}
    messages = [dict(message) for message in request.get("messages") or ()]
    return {**request, "messages": _MESSAGES[name](messages)}
