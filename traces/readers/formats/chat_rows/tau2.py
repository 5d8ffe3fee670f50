"""Results of tau2-bench: simulations of an agent and a user who both call tools.

    {"info": {"agent_info": {"llm": "…"}, "environment_info": {"policy": "…"}}, "tasks": […],
     "simulations": [{"id": "…", "task_id": "0", "trial": 0, "messages": [
       {"role": "assistant", "tool_calls": [{"id": "c1", "name": "…", "arguments": {…},
                                             "requestor": "assistant"}]},
       {"role": "tool", "id": "c1", "content": "…", "requestor": "assistant"}, …]}]}

The agent sees what the user says, and neither the user's calls nor their results. Its system prompt
is the domain's policy inside instructions that are not in the file.
"""

from typing import Any

from traces.readers.chat.shapes import items, mapping, mappings, text

SIMULATIONS = "simulations"
REQUESTOR = "requestor"


def simulations(document: Any) -> list[dict[str, Any]]:
    """The simulations of a file of results as rows, with what the file says of all of them; empty
    where it is none."""
    outer = mapping(document)
    info = mapping(outer.get("info"))
    policy = text(mapping(info.get("environment_info")).get("policy"))
    said = [{"role": "system", "content": policy}] if policy else []
    shared = {"model": mapping(info.get("agent_info")).get("llm")}
    return [
        {**shared, **one, "messages": [*said, *items(one.get("messages"))]}
        for one in mappings(outer.get(SIMULATIONS))
    ]


def is_two_sided(messages: list[Any]) -> bool:
    """Whether calls or results say which of the two asked."""
    for message in messages:
        if not isinstance(message, dict):
            continue
        if REQUESTOR in message:
            return True
        calls = message.get("tool_calls")
        if calls and isinstance(calls, list) and REQUESTOR in mapping(calls[0]):
            return True
    return False


def of_agent(messages: list[Any]) -> list[Any]:
    """The messages that the agent saw, each result named by its call."""
    seen = []
    for message in messages:
        given = mapping(message)
        if given.get(REQUESTOR) == "user" or (
            given.get("role") == "user" and given.get("tool_calls") and not given.get("content")
        ):
            continue
        if given.get("role") == "tool" and "tool_call_id" not in given:
            message = {**given, "tool_call_id": given.get("id")}
        elif given.get("role") == "user" and given.get("tool_calls"):
            message = {**given, "tool_calls": None}
        seen.append(message)
    return seen
