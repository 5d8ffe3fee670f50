"""Did a turn end in tool calls a client can run? Parsed, known to the request, valid by schema."""

from typing import Any

from checks.formats import json_values, schema
from checks.formats.json_values import NotJson
from checks.formats.schema import UnusableSchema
from checks.request import tool_schemas
from traces.wire.response import Response, ToolCall


def tool_success(request: dict[str, Any], response: Response) -> bool:
    """True where the response is complete, holds at least one call, and every call can be run.

    An error, a time-out and a call cut off at max_tokens are failures: they count against the path
    that produced them.
    """
    if response.status != 200 or response.error is not None or response.finish_reason is None:
        return False
    known = tool_schemas(request)
    calls = response.tool_calls
    return bool(calls) and all(_runs(call, known) for call in calls)


def _runs(call: ToolCall, known: dict[str, Any]) -> bool:
    if call.name is None or call.name not in known:
        return False
    try:
        value = json_values.parse_plain(call.arguments)
    except NotJson:
        return False
    declared = known[call.name]
    if declared is None:
        return isinstance(value, dict)
    try:
        return not schema.violations(declared, value)
    except UnusableSchema:
        return True


def tool_pair(
    request: dict[str, Any], baseline: Response, candidate: Response
) -> tuple[bool, bool] | None:
    """(baseline's success, candidate's success); `None` where the turn is not about tools.

    It is where the request offers tools and at least one side calls one.
    """
    if not request.get("tools") or not (baseline.tool_calls or candidate.tool_calls):
        return None
    return tool_success(request, baseline), tool_success(request, candidate)
