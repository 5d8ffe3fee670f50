"""OpenTelemetry spans of every export: OTLP JSON, span lists, load generators' trace files."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from traces.readers.chat.shapes import integer, items, mapping, mappings, text, text_or_none

MAX_DIGITS = 10
"""A longer number in an attribute's name is no place in a list."""


@dataclass(slots=True)
class Span:
    """A span with plain attributes, read from source row `row`.

    `missing` counts the attributes that the exporter dropped or that cannot be read.
    """

    row: int
    name: str
    trace: str
    start: str | None
    end: str | None
    attributes: dict[str, Any]
    events: list[dict[str, Any]] = field(default_factory=list)
    missing: int = 0


def spans_of(value: Any) -> Iterator[Any]:
    """The raw spans in a row or document of any of the three shapes; what is no object is none."""
    row = mapping(value)
    if "resourceSpans" in row:
        for resource in items(row["resourceSpans"]):
            held = mapping(resource)
            for scope in _inside(held.get("scopeSpans", held.get("instrumentationLibrarySpans"))):
                yield from _inside(mapping(scope).get("spans"))
    elif isinstance(row.get("spans"), list):
        yield from row["spans"]
    elif "attributes" in row and ("spanContext" in row or "name" in row):
        yield row


def _inside(holder: Any) -> list[Any]:
    """The entries of a list; in place of another value one that is no span."""
    return holder if isinstance(holder, list) else [None]


def read_span(row: int, raw: dict[str, Any]) -> Span:
    """A span with its attributes and events as plain values."""
    context = mapping(raw.get("spanContext", raw.get("context")))
    trace = raw.get("traceId", raw.get("trace_id", context.get("traceId", context.get("trace_id"))))
    events = [
        {"name": text(e.get("name")), **plain_attributes(e.get("attributes"))}
        for e in mappings(raw.get("events"))
    ]
    return Span(
        row=row,
        name=text(raw.get("name")),
        trace=text(trace),
        start=_moment(raw.get("startTimeUnixNano", raw.get("start_time", raw.get("startTime")))),
        end=_moment(raw.get("endTimeUnixNano", raw.get("end_time", raw.get("endTime")))),
        attributes=plain_attributes(raw.get("attributes")),
        events=events,
        missing=(integer(raw.get("droppedAttributesCount")) or 0)
        + sum(not _is_attribute(attribute) for attribute in items(raw.get("attributes"))),
    )


def _is_attribute(attribute: Any) -> bool:
    return bool(text(mapping(attribute).get("key")))


def attribute_names(raw: Any) -> Iterable[str]:
    """The names of a raw span's attributes, and of those of its events."""
    span = mapping(raw)
    for holder in (span, *mappings(span.get("events"))):
        given = holder.get("attributes")
        if isinstance(given, dict):
            yield from given
        for attribute in mappings(given):
            yield text(attribute.get("key"))


def plain_attributes(attributes: Any) -> dict[str, Any]:
    """Attributes as a dict, from OTLP's list of ``{"key", "value": {"stringValue"}}`` or a dict."""
    if isinstance(attributes, dict):
        return attributes
    return {text(a.get("key")): plain_value(a.get("value")) for a in mappings(attributes)}


def plain_value(value: Any) -> Any:
    """An OTLP AnyValue as a plain value; its integers are strings in JSON."""
    typed = mapping(value)
    if "intValue" in typed:
        return integer(typed["intValue"])
    for key in ("stringValue", "boolValue", "doubleValue", "bytesValue"):
        if key in typed:
            return typed[key]
    if "arrayValue" in typed:
        return [plain_value(item) for item in items(mapping(typed["arrayValue"]).get("values"))]
    if "kvlistValue" in typed:
        return plain_attributes(mapping(typed["kvlistValue"]).get("values"))
    return None if isinstance(value, dict) else value


def _moment(value: Any) -> str | None:
    """ISO 8601, from nanoseconds, from ``[seconds, nanoseconds]``, or as given."""
    nanoseconds = integer(value)
    if isinstance(value, list) and len(value) == 2:
        seconds, rest = integer(value[0]), integer(value[1])
        nanoseconds = None if seconds is None or rest is None else seconds * 10**9 + rest
    if nanoseconds is None:
        return text_or_none(value)
    try:
        return datetime.fromtimestamp(nanoseconds / 1e9, UTC).isoformat()
    except (OverflowError, ValueError, OSError):
        return None


def unflattened(attributes: dict[str, Any], prefix: str) -> list[dict[str, Any]]:
    """Attributes ``prefix.0.role``, ``prefix.0.content`` … as a list of nested objects."""
    tree: dict[str, Any] = {}
    start = f"{prefix}."
    for key, value in attributes.items():
        if not key.startswith(start):
            continue
        place = tree
        *path, last = key[len(start) :].split(".")
        for step in path:
            inner = place.get(step)
            if not isinstance(inner, dict):
                inner = place[step] = {}
            place = inner
        place[last] = value
    numbered = {int(key): value for key, value in tree.items() if _is_place(key)}
    return [mapping(_with_lists(value)) for _, value in sorted(numbered.items())]


def _is_place(key: str) -> bool:
    return key.isdecimal() and len(key) < MAX_DIGITS


def _with_lists(value: Any) -> Any:
    """Objects whose keys are all numbers as lists."""
    if not isinstance(value, dict) or not value:
        return value
    inner = {k: _with_lists(v) if isinstance(v, dict) else v for k, v in value.items()}
    if all(map(_is_place, inner)):
        return [item for _, item in sorted(inner.items(), key=lambda pair: int(pair[0]))]
    return inner
