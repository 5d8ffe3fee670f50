"""Redaction at the door: what of a request and an answer may reach a file.

Redaction is that of `draftgate import --redact` (`traces.redaction`), one `Redactor` per session,
so that equal secrets of a session have equal placeholders. A message is redacted once; where a
later one gives a person's name away, the earlier ones are redacted again.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import orjson

from traces.json_bytes import decode_json, encode_json
from traces.redaction.redaction import TOO_DEEP, Redactor

IDENTITIES = frozenset(
    {"user", "metadata", "safety_identifier", "prompt_cache_key", "client_metadata"}
)
"""Fields of a request that name a user, an account or a device; no prompt holds them."""

BILLING = "x-anthropic-billing-header"
"""Claude Code begins its system prompt with such a text, another one in every request; vLLM leaves
it out of the prompt (``entrypoints/anthropic/serving.py``)."""

MAX_KNOWN = 32 << 20
"""Bytes of JSON of a session's messages that are remembered with their redacted form."""


class NotRedacted(ValueError):
    """A body that cannot be redacted, since it is nested too deep."""


def without_identities(body: Mapping[str, Any]) -> dict[str, Any]:
    """A request body without what names people, and without attachments' bytes."""
    kept = {key: value for key, value in body.items() if key not in IDENTITIES}
    if isinstance(kept.get("system"), list):
        kept["system"] = [block for block in kept["system"] if not _is_billing(block)]
    cleaned: dict[str, Any] = _without_data(kept)
    return cleaned


def _is_billing(block: Any) -> bool:
    return isinstance(block, dict) and str(block.get("text", "")).startswith(BILLING)


def _without_data(value: Any) -> Any:
    """Images and files are not looked into by redaction, so their bytes are not kept."""
    if isinstance(value, str):
        head, comma, _ = value.partition(";base64,")
        return "" if comma and head.startswith("data:") else value
    if isinstance(value, list):
        return [_without_data(inner) for inner in value]
    if isinstance(value, dict):
        is_audio = "format" in value and isinstance(value.get("data"), str)
        is_data = value.get("type") == "base64" or is_audio
        return {
            key: "" if key == "data" and is_data else _without_data(inner)
            for key, inner in value.items()
        }
    return value


@dataclass(slots=True)
class Cleaner:
    """Redacts the exchanges of one session."""

    redactor: Redactor = field(default_factory=Redactor)
    _known: dict[bytes, Any] = field(default_factory=dict)
    _size: int = 0
    _people: int = 0

    def clean(
        self, request: Mapping[str, Any], answer: Mapping[str, Any]
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        """A request and its answer without secrets. Raises NotRedacted."""
        while True:
            cleaned = self._fields(request), self._fields(answer)
            if self.redactor.people == self._people:
                return cleaned
            # A name that the last message gives away stands in the first ones too.
            self._people = self.redactor.people
            self._known.clear()
            self._size = 0

    def _fields(self, body: Mapping[str, Any]) -> dict[str, Any]:
        return {self.redactor(key): self._field(value) for key, value in body.items()}

    def _field(self, value: Any) -> Any:
        if isinstance(value, list):
            return [self._known_again(entry) for entry in value]
        return self._known_again(value)

    def _known_again(self, value: Any) -> Any:
        if value is None or isinstance(value, bool | int | float):
            return value
        name = encode_json(value)
        if name not in self._known:
            self._size += len(name)
            if self._size > MAX_KNOWN:
                self._known.clear()
                self._size = len(name)
            self._known[name] = self._redacted(value)
        return self._known[name]

    def _redacted(self, value: Any) -> Any:
        """A value redacted as JSON text, so that a key can say that its value is a secret."""
        clean = self.redactor.json_text(encode_json(self._texts(value)).decode())
        if clean == TOO_DEEP:
            raise NotRedacted("nested too deep to redact")
        return decode_json(clean)

    def _texts(self, value: Any) -> Any:
        """`value` with the JSON texts in it redacted; they stay JSON."""
        if isinstance(value, dict):
            return {
                key: self._json(inner)
                if key in ("arguments", "partial_json") and isinstance(inner, str)
                else self._texts(inner)
                for key, inner in value.items()
            }
        if isinstance(value, list):
            return [self._texts(inner) for inner in value]
        return value

    def _json(self, text: str) -> str:
        try:
            return self.redactor.json_text(text)
        except orjson.JSONDecodeError:
            return self.redactor(text)
