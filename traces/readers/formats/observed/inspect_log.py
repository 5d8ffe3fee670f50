"""Logs of Inspect (inspect_ai): ``.json``, and ``.eval``, a zip archive of JSON.

    {"version":2,"eval":{…},"samples":[{"id":1,"epoch":1,"messages":[…],"events":[
     {"event":"model","model":"…","input":[…],"tools":[…],"config":{…},
      "output":{"choices":[{"message":{…},"stop_reason":"stop"}],"usage":{…}}}]}]}

Each event of a model is one request with its exact prompt. Long texts stand in ``attachments``.
Without such events a sample has only its messages, and its prompts are rebuilt from them.
"""

from collections.abc import Iterable, Iterator
from typing import Any, ClassVar

from traces.readers.chat.builder import SessionBuilder
from traces.readers.chat.chat import ChatReader
from traces.readers.chat.shapes import integer, items, mapping, mappings, text, text_or_none
from traces.readers.chat.transcript import add_thread
from traces.readers.files.archive import MAGIC, archived
from traces.readers.files.sample import Sample
from traces.readers.formats.observed.observation import Observation, observed_sessions
from traces.readers.intake import Intake
from traces.readers.tags import scalar_tags
from traces.session.session import Session
from traces.session.turn import Times

SAMPLES = "samples"
PARTS = (b"header.json", b"_journal/", b"samples/", b"summaries.json")
ATTACHMENT = "attachment://"
DEEPEST = 40
FINISH = {"max_tokens": "length", "model_length": "length"}


class InspectLog:
    """Reads the samples of a log, each as a session."""

    format: ClassVar[str] = "inspect"
    unsupported: ClassVar[str | None] = None
    keys: ClassVar[frozenset[str]] = frozenset()

    def match(self, sample: Sample) -> float:
        """An object with ``eval`` and ``samples``, or an archive with the parts of a log."""
        if sample.beginning.startswith(MAGIC):
            return float(any(part in sample.beginning for part in PARTS))
        document = mapping(sample.document)
        return float("eval" in document and isinstance(document.get(SAMPLES), list))

    def read(self, intake: Intake) -> Iterator[Session]:
        """One session per sample; rows are samples."""
        if intake.source.head.startswith(MAGIC):
            rows: Iterable[tuple[int, Any]] = archived(intake.source.path, SAMPLES, intake.ledger)
        else:
            rows = enumerate(items(mapping(intake.source.document).get(SAMPLES)), 1)
        for row, value in rows:
            intake.ledger.see(row)
            if not isinstance(value, dict):
                intake.ledger.skip(row, "not_an_object")
            elif any(event.get("event") == "model" for event in mappings(value.get("events"))):
                events = ((row, event) for event in _requests(value))
                yield from observed_sessions(events, _observation, intake, "Inspect")
            else:
                yield from _messages(row, value, intake)


def _name(sample: dict[str, Any]) -> str:
    return f"{sample.get('id', 'sample')}_epoch_{sample.get('epoch', 1)}"


def _requests(sample: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The events of the model, each with what it needs of its sample."""
    attached = mapping(sample.get("attachments"))
    pool = items(mapping(sample.get("events_data")).get("messages"))
    for event in mappings(sample.get("events")):
        if event.get("event") != "model":
            continue
        sent = items(event.get("input")) or [
            message
            for stretch in items(event.get("input_refs"))
            if isinstance(stretch, list) and len(stretch) == 2
            for message in pool[integer(stretch[0]) or 0 : integer(stretch[1]) or 0]
        ]
        whole = {**event, "input": sent, "sample": _name(sample)}
        yield _attached(whole, attached)


def _attached(value: Any, attached: dict[str, Any], depth: int = 0) -> Any:
    """`value` with every reference to an attachment replaced by it, as deep as messages go."""
    if depth > DEEPEST or not attached:
        return value
    if isinstance(value, str) and value.startswith(ATTACHMENT):
        return attached.get(value.removeprefix(ATTACHMENT), value)
    if isinstance(value, dict):
        return {key: _attached(inner, attached, depth + 1) for key, inner in value.items()}
    if isinstance(value, list):
        return [_attached(inner, attached, depth + 1) for inner in value]
    return value


def _observation(event: dict[str, Any]) -> Observation | str:
    output, config = mapping(event.get("output")), mapping(event.get("config"))
    body = {
        **config,
        "model": event.get("model"),
        "messages": [_message(message) for message in items(event.get("input"))],
        "tools": items(event.get("tools")),
        "tool_choice": _tool_choice(event.get("tool_choice")),
    }
    choice = next(iter(mappings(output.get("choices"))), {})
    answer: dict[str, Any] = {"model": output.get("model"), "usage": _usage(output.get("usage"))}
    if choice and not event.get("error"):
        reason = text(choice.get("stop_reason"))
        message = _message(choice.get("message"))
        answer["choices"] = [{"message": message, "finish_reason": FINISH.get(reason, reason)}]
    times = Times(
        request=text_or_none(event.get("timestamp")), end=text_or_none(event.get("completed"))
    )
    return Observation(body, answer, text_or_none(event.get("sample")), times)


def _message(message: Any) -> Any:
    """A message of Inspect in the form of chat completions: its calls name a function flatly."""
    given = mapping(message)
    calls = [
        {"id": call.get("id"), "function": {"name": call.get("function"),
                                            "arguments": call.get("arguments")}}
        for call in mappings(given.get("tool_calls"))
    ]  # fmt: skip
    plain = {key: value for key, value in given.items() if key not in ("id", "tool_calls")}
    return {**plain, "tool_calls": calls} if calls else plain or message


def _tool_choice(choice: Any) -> Any:
    named = text(mapping(choice).get("name"))
    return (
        {"type": "function", "function": {"name": named}}
        if named
        else {"any": "required"}.get(text(choice), choice)
    )


def _usage(usage: Any) -> dict[str, Any]:
    """Counts in OpenAI's words; the cached part is counted apart by Inspect."""
    counts = mapping(usage)
    sent = [integer(counts.get(f"input_tokens{more}")) for more in ("", *CACHES)]
    if not counts:
        return {}
    return {
        "prompt_tokens": sum(part or 0 for part in sent),
        "completion_tokens": integer(counts.get("output_tokens")),
        "prompt_tokens_details": {"cached_tokens": sent[1]},
        "completion_tokens_details": {"reasoning_tokens": counts.get("reasoning_tokens")},
    }


CACHES = ("_cache_read", "_cache_write")


def _messages(row: int, sample: dict[str, Any], intake: Intake) -> Iterator[Session]:
    """A sample whose events were not kept."""
    builder = SessionBuilder(intake, tool="Inspect", session_id=_name(sample))
    builder.tags = scalar_tags(mapping(sample.get("metadata")))
    said = _attached(items(sample.get("messages")), mapping(sample.get("attachments")))
    chat = ChatReader(intake.blobs)
    transcript = chat.items([_message(message) for message in said], (row,))
    if chat.left_out:
        builder.left_out(row, chat.left_out)
    add_thread(builder, transcript, fidelity="lossy" if chat.left_out else "rebuilt")
    if builder.turn_count:
        intake.ledger.use(row)
        yield builder.build()
    else:
        intake.ledger.skip(row, "no_messages")
