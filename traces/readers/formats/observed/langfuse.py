"""Langfuse exports: observations, alone or inside their traces.

{"id":"…","traceId":"…","type":"GENERATION","model":"…","modelParameters":{…},
 "input":[{"role":"user","content":"…"}],"output":{"role":"assistant","content":"…"},
 "usageDetails":{"input":900,"output":55}}
"""

from collections.abc import Iterable, Iterator
from typing import Any, ClassVar

from traces.readers.chat.shapes import integer, items, mapping, mappings, text, text_or_none
from traces.readers.files.json_text import embedded
from traces.readers.files.sample import Sample
from traces.readers.formats.observed.observation import Observation, observed_sessions
from traces.readers.intake import Intake
from traces.readers.reader import share
from traces.session.session import Session
from traces.session.turn import Times

TYPES = frozenset({"GENERATION", "SPAN", "EVENT", "AGENT", "TOOL", "CHAIN", "RETRIEVER"})


class Langfuse:
    """Reads the generations."""

    format: ClassVar[str] = "langfuse"
    unsupported: ClassVar[str | None] = None
    keys: ClassVar[frozenset[str]] = frozenset({"traceId", "trace_id", "observations"})

    def match(self, sample: Sample) -> float:
        """Observations of Langfuse's types with a trace, or rows that hold a list of them."""
        return share(sample, sum(_is_langfuse(row) for row in sample.objects))

    def read(self, intake: Intake) -> Iterator[Session]:
        """The sessions of the export; generations of one session, else of one trace, are one."""
        rows = _observations(intake.source.rows(), intake)
        yield from observed_sessions(rows, _observation, intake, "Langfuse")


def _is_langfuse(row: dict[str, Any]) -> bool:
    inner = mappings(row.get("observations"))
    if inner:
        return any(text(entry.get("type")) in TYPES for entry in inner)
    return text(row.get("type")) in TYPES and ("traceId" in row or "trace_id" in row)


def _observations(rows: Iterable[tuple[int, Any]], intake: Intake) -> Iterator[tuple[int, Any]]:
    """Observations by the time they began, where a trace holds several."""
    for number, row in rows:
        inner = mappings(mapping(row).get("observations"))
        if not inner:
            yield number, row
            continue
        session = text(row.get("sessionId")) or text(row.get("id"))
        for entry in sorted(inner, key=lambda entry: text(entry.get("startTime"))):
            if entry.get("type") == "GENERATION":
                yield number, {"sessionId": session, **entry}
        if not any(entry.get("type") == "GENERATION" for entry in inner):
            intake.ledger.skip(number, "no_request_content")


def _observation(row: dict[str, Any]) -> Observation | str:
    kind = text(row.get("type"))
    if kind != "GENERATION":
        return f"observation_{kind.lower() or 'of_no_type'}"
    sent, came = embedded(row.get("input")), row.get("output")
    parsed = embedded(came)
    came = parsed if isinstance(parsed, dict | list) else came
    parameters = mapping(embedded(row.get("modelParameters", row.get("model_parameters"))))
    model = text_or_none(row.get("model")) or text_or_none(row.get("providedModelName"))
    body = {**parameters, "model": model}
    if isinstance(sent, dict):
        body |= sent if "messages" in sent else {"messages": [sent]}
    else:
        body["messages"] = items(sent)
    if body.get("messages") and not isinstance(body["messages"], list):
        return "no_request_content"
    session = next(
        (text(row[k]) for k in ("sessionId", "traceId", "trace_id") if text(row.get(k))), None
    )
    begin, first, end = (
        text_or_none(row.get(key)) for key in ("startTime", "completionStartTime", "endTime")
    )
    answer = {**_answer(came), "model": model, "usage": _usage(row)}
    return Observation(body, answer, session, Times(request=begin, first_token=first, end=end))


def _answer(came: Any) -> dict[str, Any]:
    if isinstance(came, list):
        came = came[0] if came else None
    if isinstance(came, str) and came:
        return {"choices": [{"message": {"content": came}}]}
    answer = mapping(came)
    if not answer or "choices" in answer:
        return answer
    return {"choices": [{"message": mapping(answer.get("message")) or answer}]}


def _usage(row: dict[str, Any]) -> dict[str, Any]:
    """Counts: ``input`` is without what a cache held, which has keys of its own."""
    details = mapping(embedded(row.get("usageDetails", row.get("usage_details"))))
    details = details or mapping(embedded(row.get("usage")))
    cached = sum(
        integer(value) or 0
        for key, value in details.items()
        if key.startswith("input_") or key.startswith("cache_")
    )
    plain = integer(details.get("input", details.get("promptTokens")))
    given = {
        "prompt_tokens": None if plain is None else plain + cached,
        "completion_tokens": integer(details.get("output", details.get("completionTokens"))),
    }
    return given if any(value is not None for value in given.values()) else {}
