"""Logs of requests and answers: OpenAI chat completions and Responses, Anthropic Messages.

    {"log": {"entries": [{"request": {…}, "response": {…}}]}}             HAR
    {"messages": […], "response": {…}, "model_parameters": {…}}            LiteLLM
    {"custom_id": "…", "body": {…}} / {"custom_id": "…", "response": {…}}  batch files of OpenAI
    {"custom_id": "…", "params": {…}} / {"custom_id": "…", "result": {…}}  and of Anthropic
    {"request": {…}, "response": {…}}                                      pairs

Streamed answers are folded. Every request is one turn with its exact prompt.
"""

from collections.abc import Iterator
from typing import Any, ClassVar

from traces.errors import InputError
from traces.readers.chat.log import entries
from traces.readers.chat.repeated import PromptReader
from traces.readers.chat.shapes import items, mapping, text, text_or_none
from traces.readers.files.json_text import embedded
from traces.readers.files.sample import Sample
from traces.readers.formats.requests.batch import Waiting
from traces.readers.formats.requests.chains import chained
from traces.readers.formats.requests.converse import chat_answer, chat_body
from traces.readers.formats.requests.exchange import Exchange, is_request, read_exchange
from traces.readers.formats.requests.sse_fold import as_body
from traces.readers.intake import Intake
from traces.readers.reader import share
from traces.readers.tags import scalar_tags
from traces.session.session import Session
from traces.session.turn import Times

ANSWER_ALONE = "answer_without_prompt"
WRAPPED = "standard_logging_object"
"""Where callbacks of LiteLLM put its payload."""

LITELLM_KEYS = frozenset({"call_type", "custom_llm_provider", "proxy_server_request"})


class RequestLogs:
    """Reads a log; sessions are found by id or by the beginnings their prompts share."""

    format: ClassVar[str] = "request-log"
    unsupported: ClassVar[str | None] = None
    keys: ClassVar[frozenset[str]] = frozenset(
        {"log", "custom_id", "request", "body", "request_body", "input", WRAPPED, *LITELLM_KEYS}
    )

    def match(self, sample: Sample) -> float:
        """A HAR file, or rows with a request and an answer."""
        if isinstance(mapping(mapping(sample.document).get("log")).get("entries"), list):
            return 1.0
        return share(sample, sum(_is_exchange(row) for row in sample.objects))

    def read(self, intake: Intake) -> Iterator[Session]:
        """The sessions of the log. Raises InputError for answers of a batch alone."""
        har = items(mapping(mapping(intake.source.document).get("log")).get("entries"))
        rows = entries(intake, har) if har else intake.source.rows()
        found = 0
        for session in chained(self._exchanges(rows, intake), intake, None):
            found += 1
            yield session
        if not found and ANSWER_ALONE in intake.ledger.skipped:
            raise InputError(
                "answers of a batch without their requests",
                "put the lines of both batch files, requests and answers, into one file",
            )

    def _exchanges(self, rows: Iterator[tuple[int, Any]], intake: Intake) -> Iterator[Exchange]:
        waiting = Waiting()
        prompts = PromptReader(intake.blobs)
        for number, value in rows:
            row = mapping(mapping(value).get(WRAPPED)) or mapping(value)
            body, answer = _bodies(row)
            custom = text(row.get("custom_id"))
            if custom and answer and not body:
                body = next((asked for asked, _ in waiting.take(custom)), {})
            asked = body.get("messages") or body.get("input") or body.get("prompt")
            if not is_request(body) or not asked:
                alone = custom and answer and not body
                intake.ledger.skip(number, ANSWER_ALONE if alone else "no_request_content")
                continue
            intake.ledger.use(number)
            if custom and not answer:
                for sent, place in waiting.put(custom, body, number):
                    yield read_exchange(sent, {}, place, prompts)
                continue
            exchange = read_exchange(body, answer, number, prompts)
            _settle(exchange, row)
            if exchange.answer is None and _has_response(row):
                intake.ledger.warn("answer_not_read", number)
            yield exchange
        for name in waiting.left():
            for asked, place in waiting.take(name):
                yield read_exchange(asked, {}, place, prompts)


def _settle(exchange: Exchange, row: dict[str, Any]) -> None:
    """What the row says beside request and answer."""
    exchange.session = _session_of(row)
    exchange.tags = scalar_tags(mapping(mapping(row.get("metadata")).get("tags")))
    begin, first, end = (
        text_or_none(row.get(key)) for key in ("startTime", "completionStartTime", "endTime")
    )
    begin = begin or text_or_none(row.get("startedDateTime"))
    if exchange.answer is not None and (begin or end):
        exchange.answer.times = Times(request=begin, first_token=first, end=end)


def _has_response(row: dict[str, Any]) -> bool:
    return any(row.get(key) not in (None, "", "{}", {}) for key in ("response", "response_body"))


def _is_exchange(row: dict[str, Any]) -> bool:
    row = mapping(row.get(WRAPPED)) or row
    if LITELLM_KEYS & row.keys() and "messages" in row and "response" in row:
        return True
    if "custom_id" in row:
        return not row.keys().isdisjoint(("body", "params", "response", "result"))
    body, answer = _bodies(row)
    return is_request(body) and bool(answer)


def _bodies(row: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Request and answer of a row; either may be empty."""
    request, response = mapping(row.get("request")), mapping(row.get("response"))
    if "postData" in request:
        shown = text(mapping(response.get("content")).get("text"))
        return as_body(mapping(request["postData"]).get("text")), as_body(shown)
    if LITELLM_KEYS & row.keys():
        sent = mapping(embedded(row.get("proxy_server_request")))
        body = mapping(sent.get("body")) or sent
        messages = embedded(row.get("messages"))
        parameters = mapping(embedded(row.get("model_parameters")))
        if not items(messages):
            messages = body.get("messages")
        body = {**body, **parameters, "model": row.get("model")}
        if isinstance(messages, list):
            body["messages"] = messages
        return body, as_body(row.get("response"))
    if "custom_id" in row and ("params" in row or "result" in row):
        return mapping(row.get("params")), mapping(mapping(row.get("result")).get("message"))
    if "inputBodyJson" in mapping(row.get("input")):
        sent = {"modelId": row.get("modelId"), **mapping(row["input"]["inputBodyJson"])}
        return chat_body(sent), chat_answer(
            mapping(mapping(row.get("output")).get("outputBodyJson"))
        )
    body = (
        as_body(row.get("body")) or as_body(row.get("request_body")) or as_body(row.get("request"))
    )
    body = mapping(body.get("body")) or body
    answer = as_body(row.get("response")) or as_body(row.get("response_body"))
    answer = mapping(answer.get("body")) or answer
    converse = {"inferenceConfig", "toolConfig", "modelId"} & body.keys()
    return (chat_body(body), chat_answer(answer)) if converse else (body, answer)


def _session_of(row: dict[str, Any]) -> str | None:
    metadata = mapping(embedded(row.get("metadata")))
    for holder in (row, metadata):
        for key in ("session_id", "trace_id", "conversation_id"):
            if text(holder.get(key)):
                return text_or_none(holder[key])
    return None
