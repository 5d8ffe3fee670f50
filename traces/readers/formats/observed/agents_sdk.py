"""Traces of the OpenAI Agents SDK, as its exporter sends them or a processor writes them down.

    {"object":"trace.span","trace_id":"…","span_data":{"type":"generation","model":"…",
     "input":[{"role":"user",…}],"output":[{"role":"assistant",…}],"usage":{…}}}

Spans of type ``response`` name a response of the API by its id; only where a processor added what
was sent and came back can they be replayed.
"""

from collections.abc import Iterable, Iterator
from typing import Any, ClassVar

from traces.readers.chat.shapes import items, mapping, mappings, text, text_or_none
from traces.readers.files.sample import Sample
from traces.readers.formats.observed.observation import Observation, observed_sessions
from traces.readers.intake import Intake
from traces.readers.reader import share
from traces.session.session import Session
from traces.session.turn import Times

OBJECTS = frozenset({"trace", "trace.span"})


class AgentsSdk:
    """Reads the spans that hold a request."""

    format: ClassVar[str] = "openai-agents"
    unsupported: ClassVar[str | None] = None
    keys: ClassVar[frozenset[str]] = frozenset({"object", "data", "span_data"})

    def match(self, sample: Sample) -> float:
        """Rows that are traces or spans by their ``object``, or batches of them in ``data``."""
        fits = sum(
            row.get("object") in OBJECTS
            or any(entry.get("object") in OBJECTS for entry in mappings(row.get("data"))[:3])
            for row in sample.objects
        )
        return share(sample, fits)

    def read(self, intake: Intake) -> Iterator[Session]:
        """The sessions of the file; spans of one trace are one."""
        rows = _spans(intake.source.rows())
        yield from observed_sessions(rows, _observation, intake, "OpenAI Agents SDK")


def _spans(rows: Iterable[tuple[int, Any]]) -> Iterator[tuple[int, Any]]:
    for number, row in rows:
        batch = mappings(mapping(row).get("data"))
        for span in batch or [row]:
            yield number, span


def _observation(span: dict[str, Any]) -> Observation | str:
    data = mapping(span.get("span_data"))
    kind = text(data.get("type"))
    trace = text_or_none(span.get("trace_id"))
    times = Times(
        request=text_or_none(span.get("started_at")), end=text_or_none(span.get("ended_at"))
    )
    if kind == "generation":
        settings = mapping(data.get("model_config"))
        body = {**settings, "model": data.get("model"), "messages": items(data.get("input"))}
        came = mappings(data.get("output"))
        answer: dict[str, Any] = {"choices": [{"message": came[0]}]} if came else {}
        usage = mapping(data.get("usage"))
        return Observation(
            body, {**answer, "model": data.get("model"), "usage": usage}, trace, times
        )
    response = mapping(data.get("response"))
    if kind == "response" and response and data.get("input"):
        body = {key: response[key] for key in ("model", "tools", "instructions") if key in response}
        return Observation({**body, "input": data["input"]}, response, trace, times)
    return f"span_{kind or text(span.get('object')) or 'of_no_type'}"
