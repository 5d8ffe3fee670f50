"""The same turn under a grammar: what a server masks tokens by, asked of any recorded turn.

A grammar is advanced token by token, and turned back where a draft is rejected; a mask that is one
token late shows as a call or a value that no schema takes.

    under_grammar({"messages": […], "tools": […]})["tool_choice"]       # "required"
    under_grammar({"messages": […]})["response_format"]["type"]         # "json_schema"
"""

from collections.abc import Mapping
from typing import Any

LONGEST = 300
"""Characters of the answer that is asked for, so that every value can come to its end."""

ANSWER: Mapping[str, Any] = {
    "type": "object",
    "properties": {
        "answer": {"type": "string", "maxLength": LONGEST},
        "sure": {"type": "boolean"},
    },
    "required": ["answer", "sure"],
    "additionalProperties": False,
}
"""The schema of a turn without tools."""


def under_grammar(request: Mapping[str, Any]) -> dict[str, Any]:
    """The request with a call that must be made, or without tools with an answer that must follow
    `ANSWER`. One that has a grammar already, and the request given, are left as they are."""
    kind = (request.get("response_format") or {}).get("type", "text")
    choice = request.get("tool_choice")
    if kind != "text" or request.get("structured_outputs"):
        return {**request}
    if choice == "required" or isinstance(choice, Mapping):
        return {**request}
    if request.get("tools") and choice != "none":
        return {**request, "tool_choice": "required"}
    schema = {"name": "answer", "schema": dict(ANSWER)}
    return {**request, "response_format": {"type": "json_schema", "json_schema": schema}}
