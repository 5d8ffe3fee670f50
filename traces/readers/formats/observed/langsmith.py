"""LangSmith exports: runs of LangChain and of wrapped clients.

    {"id":"…","run_type":"llm","trace_id":"…","inputs":{"messages":[[{"lc":1,"type":"constructor",
     "id":[…,"HumanMessage"],"kwargs":{"content":"…"}}]]},"outputs":{"generations":[[{"message":…}]]},
     "extra":{"invocation_params":{"model":"…","tools":[…]}}}

Runs of other types (chains, tools) say nothing that a request to a model does not.
"""

from collections.abc import Iterator
from typing import Any, ClassVar

from traces.readers.chat.shapes import items, mapping, mappings, text, text_or_none
from traces.readers.files.json_text import embedded
from traces.readers.files.sample import Sample
from traces.readers.formats.observed.observation import Observation, observed_sessions
from traces.readers.intake import Intake
from traces.readers.reader import share
from traces.session.session import Session
from traces.session.turn import Times

ROLES = {
    "human": "user", "humanmessage": "user", "humanmessagechunk": "user",
    "ai": "assistant", "aimessage": "assistant", "aimessagechunk": "assistant",
    "system": "system", "systemmessage": "system", "developer": "developer",
    "tool": "tool", "toolmessage": "tool", "function": "tool", "functionmessage": "tool",
}  # fmt: skip
"""Classes and types of LangChain's messages."""


class LangSmith:
    """Reads the runs of type ``llm``."""

    format: ClassVar[str] = "langsmith"
    unsupported: ClassVar[str | None] = None
    keys: ClassVar[frozenset[str]] = frozenset({"run_type", "runs"})

    def match(self, sample: Sample) -> float:
        """Rows, or one object with ``runs``, that have a run type, inputs and outputs."""
        runs = mappings(mapping(sample.document).get("runs")) or sample.objects
        fits = sum("run_type" in run and "inputs" in run for run in runs)
        return fits / len(runs) if runs else share(sample, 0)

    def read(self, intake: Intake) -> Iterator[Session]:
        """The sessions of the export; runs of one trace or thread are one session."""
        runs = items(mapping(intake.source.document).get("runs"))
        rows = enumerate(runs, 1) if runs else intake.source.rows()
        yield from observed_sessions(rows, _observation, intake, "LangSmith")


def _observation(run: dict[str, Any]) -> Observation | str:
    kind = text(run.get("run_type"))
    if kind != "llm":
        return f"run_{kind or 'of_no_type'}"
    inputs, outputs = mapping(embedded(run.get("inputs"))), mapping(embedded(run.get("outputs")))
    extra = mapping(embedded(run.get("extra")))
    parameters = mapping(extra.get("invocation_params"))
    metadata = mapping(extra.get("metadata"))
    sent = items(inputs.get("messages"))
    if sent and isinstance(sent[0], list):
        sent = sent[0]
    body = {**parameters, **inputs, "messages": [_message(message) for message in sent]}
    body["model"] = parameters.get("model", parameters.get("model_name"))
    body["model"] = body["model"] or metadata.get("ls_model_name") or inputs.get("model")
    thread = text(metadata.get("thread_id")) or text(metadata.get("session_id"))
    return Observation(
        body,
        {**_answer(outputs), "model": body["model"]},
        thread or text_or_none(run.get("trace_id")),
        Times(request=text_or_none(run.get("start_time")), end=text_or_none(run.get("end_time"))),
    )


def _answer(outputs: dict[str, Any]) -> dict[str, Any]:
    if "choices" in outputs:
        return outputs
    generations = items(outputs.get("generations"))
    first = generations[0] if generations else None
    first = first[0] if isinstance(first, list) and first else first
    generation = mapping(first)
    came = mapping(generation.get("message", outputs.get("message", outputs.get("output"))))
    if not came:
        return {}
    message = _message(came)
    reason = mapping(generation.get("generation_info")).get("finish_reason")
    usage = mapping(mapping(outputs.get("llm_output")).get("token_usage"))
    usage = usage or mapping(message.get("usage_metadata"))
    return {"choices": [{"message": message, "finish_reason": reason}], "usage": usage}


def _message(message: Any) -> Any:
    """A message of LangChain, serialized in any of its ways, in the form of chat completions."""
    given = mapping(message)
    inner = mapping(given.get("kwargs")) or mapping(given.get("data")) or given
    names = items(given.get("id")) if "kwargs" in given else []
    named = text(names[-1] if names else "") or text(inner.get("type")) or text(given.get("type"))
    role = text(inner.get("role")) or ROLES.get(named.lower())
    if role is None:
        return message
    beside = mapping(inner.get("additional_kwargs"))
    calls = items(inner.get("tool_calls")) or items(beside.get("tool_calls"))
    return {
        **{key: value for key, value in inner.items() if key != "id"},
        "role": ROLES.get(role.lower(), role),
        "tool_calls": calls,
    }
