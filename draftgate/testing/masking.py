"""Recorded text as it may be printed: no secret, whole or in part, and nothing a terminal obeys.

An excerpt may hold the middle of a key that no pattern would know. So secrets are found in the
whole texts first, and every piece of them is masked in what is printed.
"""

from collections.abc import Iterable, Iterator
from typing import Any

from reports.inert import visible
from traces.redaction.redaction import Redactor

SHORTEST = 8
"""Characters of a secret that count as a piece of it; shorter runs are found in any text."""

PERSONAL = frozenset({"email", "home-user"})
"""Kinds that are names and not keys: only whole ones are replaced."""


class Mask:
    """Made from everything that is known of a turn; called on what is about to be printed.

    mask = Mask(texts_in(request), [response.content])
    mask("key sk-ant-api03-abcdefghijkl…")      # "key REDACTED_ANTHROPIC_KEY_1…"
    """

    def __init__(self, *texts: Iterable[str]) -> None:
        self._redactor = Redactor()
        for text in (text for group in texts for text in group):
            self._redactor(text)

    def __call__(self, text: str) -> str:
        """`text`, fit to print."""
        return visible(self._redactor(self.keys(text)))

    def keys(self, text: str) -> str:
        """`text` without keys and pieces of keys; names, white space and all else stay."""
        self._redactor(text)
        for (kind, secret), placeholder in self._redactor.placeholders.items():
            if kind not in PERSONAL:
                text = _without(text, secret, placeholder)
        return text


def texts_in(value: Any) -> Iterator[str]:
    """Every string in a JSON value."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for inner in value.values():
            yield from texts_in(inner)
    elif isinstance(value, (list, tuple)):
        for inner in value:
            yield from texts_in(inner)


def _without(text: str, secret: str, placeholder: str) -> str:
    """`text` with every run of `SHORTEST` or more characters of `secret` replaced."""
    shortest = min(SHORTEST, len(secret))
    for start in range(len(secret) - shortest + 1):
        while (found := text.find(secret[start : start + shortest])) >= 0:
            end, last = found + shortest, start + shortest
            while last < len(secret) and text[end : end + 1] == secret[last]:
                end, last = end + 1, last + 1
            text = text[:found] + placeholder + text[end:]
    return text
