"""Rows about the tool calls a capture holds: parsed, known, valid, or what is wrong."""

from collections.abc import Iterator
from typing import Any

from checks.formats import json_values, schema
from checks.formats.json_values import NotJson
from checks.formats.schema import UnusableSchema
from checks.request import tool_schemas
from reports.rows.exchanges import key_of
from reports.rows.redacted import Redact
from traces.journal.exchange import Exchange
from traces.wire.response import ToolCall

KINDS: tuple[tuple[type, str], ...] = (
    (dict, "object"),
    (list, "array"),
    (str, "string"),
    (bool, "boolean"),
)


def call_rows(exchange: Exchange, redact: Redact) -> Iterator[dict[str, Any]]:
    """One row per call; `redact` takes the secrets out of argument texts."""
    schemas = tool_schemas(exchange.request)
    for place, call in enumerate(exchange.response.tool_calls):
        known = call.name in schemas if schemas else None
        yield {
            **key_of(exchange),
            "call_index": place,
            "name": call.name,
            "arguments": redact(call.arguments),
            **_judged(call, schemas),
            "known": known,
        }


def _judged(call: ToolCall, schemas: dict[str, Any]) -> dict[str, Any]:
    try:
        value = json_values.parse(call.arguments)
    except NotJson as error:
        return {"arguments_kind": "invalid", "parsed": False, "problem": str(error)}
    kind = next((name for type_, name in KINDS if isinstance(value, type_)), "number")
    row: dict[str, Any] = {"arguments_kind": "null" if value is None else kind, "parsed": True}
    declared = schemas.get(call.name or "")
    if declared is None:
        return row
    try:
        wrong = schema.violations(declared, value)
    except UnusableSchema:
        return row
    return {**row, "valid": not wrong, "problem": "; ".join(map(str, wrong))[:500] or None}
