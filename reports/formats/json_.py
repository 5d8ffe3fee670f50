"""A run as one JSON object; its schema is `report.schema.json` beside this module.

{"format": 1, "run": {"run": "…", "verdict": "pass", …}, "codes": {…}, "sections": {…}}
"""

from datetime import datetime
from importlib.resources import files
from typing import Any

import orjson

from reports.inert import visible_json
from reports.store.summary import Summary

FORMAT = 1
JSON_COLUMNS = ("config", "policy", "counts", "speculative_config", "drafter_config", "facts")


def as_object(summary: Summary) -> dict[str, Any]:
    """The object, made of JSON types only; times are ISO 8601 in UTC."""
    return {
        "format": FORMAT,
        "run": _row(summary.run),
        "codes": summary.codes,
        "sections": {name: [_row(row) for row in rows] for name, rows in summary.sections.items()},
    }


def render_json(summary: Summary) -> str:
    """The object as indented text."""
    text = orjson.dumps(as_object(summary), option=orjson.OPT_INDENT_2).decode()
    return visible_json(text) + "\n"


def _row(row: dict[str, Any]) -> dict[str, Any]:
    return {name: _value(name, value) for name, value in row.items()}


def _value(name: str, value: Any) -> Any:
    if isinstance(value, datetime):
        return value.isoformat(timespec="milliseconds") + "Z"
    if name in JSON_COLUMNS and isinstance(value, str):
        return orjson.loads(value)
    return value


def report_schema() -> dict[str, Any]:
    """The JSON Schema (2020-12) of the object; columns of a section may grow, not change."""
    text = (files("reports.formats") / "report.schema.json").read_text(encoding="utf-8")
    schema: dict[str, Any] = orjson.loads(text)
    return schema
