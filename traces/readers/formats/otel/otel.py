"""OpenTelemetry GenAI and OpenInference spans: each chat span is one turn with its exact prompt.

    {"key":"gen_ai.input.messages","value":{"stringValue":"[{\\"role\\":\\"user\\",\\"parts\\":[…]}]"}}

Read are all generations: flattened attributes (``gen_ai.prompt.0.content``,
``llm.input_messages.0.message.content``), events (``gen_ai.user.message``), and JSON in attributes.
Exporters cut long values; a prompt that is no JSON any more is counted as ``truncated``.
"""

from collections.abc import Iterator
from itertools import islice
from typing import Any, ClassVar

from traces.readers.chat.items import Answer
from traces.readers.chat.repeated import PromptReader
from traces.readers.chat.shapes import integer, items, text, text_or_none
from traces.readers.files.sample import Sample
from traces.readers.formats.otel.genai_attributes import ChatSpan, chat_span
from traces.readers.formats.otel.spans import Span, attribute_names, read_span, spans_of
from traces.readers.formats.requests.chains import chained
from traces.readers.formats.requests.exchange import Exchange
from traces.readers.formats.requests.openai_answer import sampling_of
from traces.readers.intake import Intake
from traces.readers.reader import share
from traces.session.session import Session
from traces.session.turn import Times, Usage

ANSWERS = ("gen_ai.output.", "gen_ai.completion.", "llm.output_messages.")
PREFIXES = ("gen_ai.", "llm.", "ai.", "openinference.")
OTHER_OPERATIONS = frozenset({"invoke_agent", "execute_tool", "create_agent", "embeddings"})
MAX_SPANS = 50
"""Spans of a row that are looked at to recognize it."""

SESSION_KEYS = ("gen_ai.conversation.id", "session.id", "exgentic.session.id")


class Otel:
    """Reads the spans of a file; those of one conversation or trace form a session.

    Rows are the spans of a document, or the lines of JSON Lines.
    """

    format: ClassVar[str] = "otel"
    unsupported: ClassVar[str | None] = None
    keys: ClassVar[frozenset[str]] = frozenset({"resourceSpans", "spans", "attributes"})

    def match(self, sample: Sample) -> float:
        """Rows or documents with spans that have attributes of these conventions."""
        return share(sample, sum(_has_chat_attributes(row) for row in sample.objects))

    def read(self, intake: Intake) -> Iterator[Session]:
        """The sessions of the file, chained in the order in which the spans began."""
        yield from chained(self._exchanges(intake), intake, None)

    def _exchanges(self, intake: Intake) -> Iterator[Exchange]:
        spans: list[Span] = []
        in_lines = not isinstance(intake.source.document, dict)
        for line, value in intake.source.rows():
            found = list(spans_of(value))
            if in_lines and not found:
                intake.ledger.skip(line, "no_spans")
            for place, raw in enumerate(found, 1):
                row = line if in_lines else place
                if isinstance(raw, dict):
                    intake.ledger.see(row)
                    spans.append(read_span(row, raw))
                else:
                    intake.ledger.skip(row, "no_span")
                    intake.ledger.warn("parts_left_out", row, "a span that is none")
        prompts = PromptReader(intake.blobs)
        for span in sorted(spans, key=lambda span: (span.start or "", span.row)):
            reason, chat = _chat_of(span, prompts)
            if chat is None:
                intake.ledger.skip(span.row, reason)
                continue
            intake.ledger.use(span.row)
            yield _exchange(span, chat, intake)


def _has_chat_attributes(row: dict[str, Any]) -> bool:
    spans = islice(spans_of(row), MAX_SPANS)
    return any(key.startswith(PREFIXES) for span in spans for key in attribute_names(span))


def _chat_of(span: Span, prompts: PromptReader) -> tuple[str, ChatSpan | None]:
    """The chat of a span, or the reason why it is none."""
    attributes = span.attributes
    operation = text(attributes.get("gen_ai.operation.name"))
    kind = text(attributes.get("openinference.span.kind"))
    if operation in OTHER_OPERATIONS or (kind and kind != "LLM"):
        return f"span_{(operation or kind).lower()}", None
    if span.name.endswith((".doEmbed", ".embed", ".embedMany", ".rerank")):
        return "span_embeddings", None
    if not operation and span.name.endswith(
        (".generateText", ".streamText", ".generateObject", ".streamObject")
    ):
        return "span_invoke_agent", None
    chat = chat_span(span, prompts)
    if chat is None:
        return "truncated_or_no_content", None
    return "", chat


def _exchange(span: Span, chat: ChatSpan, intake: Intake) -> Exchange:
    attributes = span.attributes
    session = next((text(attributes[k]) for k in SESSION_KEYS if text(attributes.get(k))), None)
    if chat.answer is not None:
        _settle(chat.answer, span, chat.parameters)
    elif any(name.startswith(ANSWERS) for name in attributes):
        intake.ledger.warn("answer_not_read", span.row)
    exchange = Exchange(chat.prompt, chat.answer, chat.tools, span.row, session or span.trace)
    exchange.left_out = chat.left_out
    return exchange


def _settle(answer: Answer, span: Span, parameters: dict[str, Any]) -> None:
    given = span.attributes

    def first(*names: str) -> Any:
        return next((given[name] for name in names if given.get(name) is not None), None)

    answer.rows = (span.row,)
    answer.model = text_or_none(
        first("gen_ai.response.model", "gen_ai.request.model", "llm.model_name", "ai.model.id")
    )
    answer.response_id = text_or_none(first("gen_ai.response.id", "ai.response.id"))
    reasons = items(first("gen_ai.response.finish_reasons"))
    reason = text(reasons[0] if reasons else first("ai.response.finishReason"))
    answer.finish_reason = answer.finish_reason or reason.replace("-", "_") or None
    answer.times = Times(request=span.start, end=span.end) if span.start or span.end else None
    prompt = integer(
        first("gen_ai.usage.input_tokens", "gen_ai.usage.prompt_tokens", "llm.token_count.prompt")
    )
    completion = integer(
        first(
            "gen_ai.usage.output_tokens",
            "gen_ai.usage.completion_tokens",
            "llm.token_count.completion",
        )
    )
    if prompt is not None or completion is not None:
        answer.usage = Usage(prompt=prompt, completion=completion)
    requested = {
        name.removeprefix("gen_ai.request."): value
        for name, value in given.items()
        if name.startswith("gen_ai.request.")
    }
    answer.sampling = sampling_of({**parameters, **requested})
