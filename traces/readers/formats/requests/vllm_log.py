"""The log of a vLLM server that was started with ``--enable-log-requests``.

    DEBUG 11-29 09:00:00 [request_logger.py:74] Request 5f3c JSON body: {"messages":[…],"model":…}
    INFO 11-29 09:00:00 [request_logger.py:65] Received request chatcmpl-5f3c: params: Sampling…

Whole requests are in it at log level DEBUG only, and only as far as ``--max-log-len`` lets them be.
What it says of answers leaves tool calls out where there is text, so answers are not taken.
"""

import re
from collections.abc import Iterator
from typing import Any, ClassVar

from traces.errors import InputError
from traces.readers.chat.repeated import PromptReader
from traces.readers.chat.shapes import mapping
from traces.readers.files.bounded_lines import bounded_lines
from traces.readers.files.json_text import embedded
from traces.readers.files.sample import Sample
from traces.readers.formats.requests.chains import chained
from traces.readers.formats.requests.exchange import Exchange, is_request, read_exchange
from traces.readers.intake import Intake
from traces.session.session import Session

BODY = re.compile(r"\bRequest \S+ JSON body: (\{.*)")
RECEIVED = re.compile(r"\bReceived request \S+: (?:prompt: |params: )")
DETAILS = re.compile(r"\bRequest \S+ details: prompt: ")
WORDS = (" JSON body: {", "Received request ")

NO_BODIES = (
    "vLLM's log without request bodies: sampling parameters, and prompts as rendered text at most"
)
FIX = (
    "log with VLLM_LOGGING_LEVEL=DEBUG and no --max-log-len, or record at a gateway (HAR, LiteLLM)"
)


class VllmLog:
    """Reads the requests of a log as prompts without answers. Rows are lines."""

    format: ClassVar[str] = "vllm-log"
    unsupported: ClassVar[str | None] = None
    keys: ClassVar[frozenset[str]] = frozenset()

    def match(self, sample: Sample) -> float:
        """Text with the lines that vLLM's request logger writes."""
        if sample.document is not None or not any(words in sample.head for words in WORDS):
            return 0.0
        return float(bool(BODY.search(sample.head) or RECEIVED.search(sample.head)))

    def read(self, intake: Intake) -> Iterator[Session]:
        """The sessions that the prompts form. Raises InputError if the log has none."""
        found = 0
        for session in chained(_exchanges(intake), intake, "vLLM"):
            found += 1
            yield session
        if not found:
            raise InputError(f"{NO_BODIES}, nothing to replay", FIX)


def _exchanges(intake: Intake) -> Iterator[Exchange]:
    prompts = PromptReader(intake.blobs)
    with intake.source.open() as stream:
        for number, raw in enumerate(bounded_lines(stream), 1):
            reason, body = _body(raw)
            if not is_request(body):
                intake.ledger.skip(number, reason)
                continue
            intake.ledger.use(number)
            yield read_exchange(body, {}, number, prompts)


def _body(raw: bytes) -> tuple[str, dict[str, Any]]:
    """The request of a line, or the reason why it holds none."""
    line = raw.decode("utf-8", errors="replace")
    logged = BODY.search(line) if WORDS[0] in line else None
    if logged:
        return "request_body_cut", mapping(embedded(logged.group(1)))
    if RECEIVED.search(line) or DETAILS.search(line):
        return "request_without_messages", {}
    return "other_log_line", {}
