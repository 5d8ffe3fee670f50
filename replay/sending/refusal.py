"""What a server's refusal means, read from its error answer.

{"error": {"message": "This model's maximum context length is 16384 tokens. However, …",
           "type": "BadRequestError", "param": "input_tokens", "code": 400}}
"""

from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any

from traces.limits import ERROR_CHARACTERS
from traces.served_json import decode_served
from traces.wire.capture import Capture

TOO_LONG = ("maximum context length", "max_model_len")
"""vLLM's words: `renderers/params.py` and `entrypoints/serve/utils/api_utils.py`."""


BUSY = (429, 503)
"""Too many requests; no service for now."""


def asked_wait(capture: Capture) -> float | None:
    """Seconds that a busy server asks to wait, by its ``Retry-After``: a number or a date; None
    where it asks for nothing, or in words that are neither."""
    said = capture.headers.get("retry-after", "").strip()
    if capture.status not in BUSY or not said:
        return None
    if said.isdecimal() and len(said) < 10:
        return float(said)
    try:
        until = parsedate_to_datetime(said)
    except ValueError:
        return None
    sent = datetime.fromtimestamp(capture.sent_at, UTC)
    return max(0.0, (until.replace(tzinfo=until.tzinfo or UTC) - sent).total_seconds())


def error_message(capture: Capture) -> str | None:
    """The message of an answer other than 200; None for an answer of 200 or none at all."""
    if capture.status is None or capture.status == 200:
        return None
    return message_of(capture.body)


def message_of(body: bytes) -> str:
    """The message in an error answer's body, at most 500 characters of it."""
    text = body[: 4 * ERROR_CHARACTERS].decode(errors="replace")
    try:
        answer: Any = decode_served(text)
    except ValueError:
        return text.strip()[:500]
    inner = answer.get("error", answer) if isinstance(answer, dict) else answer
    message = inner.get("message") if isinstance(inner, dict) else inner
    return str(message if message is not None else text)[:500]


def context_refusal(capture: Capture) -> str | None:
    """The server's words where it refuses the turn as too long for its context."""
    message = error_message(capture) if capture.status == 400 else None
    if message is None or not any(words in message for words in TOO_LONG):
        return None
    return message
