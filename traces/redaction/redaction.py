"""Secrets and names replaced by stable placeholders of the same kind, with a count of each kind.

    https://bob:hunter2secret@host/  ->  https://bob:REDACTED_URL_PASSWORD_1@host/
    jane@corp.example                ->  redacted1@example.com
    /home/jane/src                   ->  /home/user1/src, and jane -> user1 in any text

Equal secrets get equal placeholders within one `Redactor`. A placeholder is never redacted again,
so that redacting twice changes nothing.
"""

import re
from collections import Counter
from functools import partial
from typing import Any

import orjson

from traces.redaction.people import EXAMPLE_MAIL, names_in
from traces.redaction.rule import Rule
from traces.redaction.rules import all_rules

PLACEHOLDER = re.compile(r"REDACTED_[A-Z0-9_]+_\d+|redacted\d+@example\.com")
USER = "home-user"

TOO_DEEP = '{"draftgate":"nesting too deep to redact"}'


class Redactor:
    """Call it on a text. `counts` gives the replacements made, by kind."""

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()
        self._names: dict[tuple[str, str], str] = {}
        self._kinds: Counter[str] = Counter()
        self._people: dict[str, None] = {}
        self._anyone: re.Pattern[str] | None = None

    def learn(self, text: str) -> None:
        """Learn the names of people that a text gives away, to know them in other texts."""
        found = [name for name in names_in(text) if name not in self._people]
        if found:
            self._people.update(dict.fromkeys(found))
            names = sorted(self._people, key=len, reverse=True)
            anyone = "|".join(map(re.escape, names))
            self._anyone = re.compile(rf"(?<![A-Za-z0-9])(?:{anyone})(?![A-Za-z0-9])")

    @property
    def people(self) -> int:
        """How many names of people are known."""
        return len(self._people)

    def __call__(self, text: str) -> str:
        """`text` without secrets."""
        self.learn(text)
        lower = text.lower()
        for rule in all_rules():
            if any(word in lower for word in rule.words):
                text = rule.pattern.sub(partial(self._replace, rule), text)
        if self._anyone is not None:
            text = self._anyone.sub(lambda name: self._placeholder(USER, name.group()), text)
        return text

    def value(self, value: Any) -> Any:
        """A JSON value with every string in it redacted, keys too."""
        if isinstance(value, str):
            return self(value)
        if isinstance(value, dict):
            return {self(str(key)): self.value(inner) for key, inner in value.items()}
        if isinstance(value, list | tuple):
            return [self.value(inner) for inner in value]
        return value

    def json_text(self, text: str) -> str:
        """JSON text, redacted as a whole and in its strings; still JSON afterwards."""
        try:
            return self._json_text(text)
        except (RecursionError, TypeError):
            return TOO_DEEP

    def _json_text(self, text: str) -> str:
        parsed = orjson.loads(text)
        shown = self(text)
        try:
            clean = self.value(orjson.loads(shown))
        except orjson.JSONDecodeError:
            clean = self.value(parsed)
        return text if clean == parsed else orjson.dumps(clean).decode()

    @property
    def placeholders(self) -> dict[tuple[str, str], str]:
        """(kind, what was replaced) -> its placeholder. Holds the secrets: never print it."""
        return dict(self._names)

    @property
    def report(self) -> dict[str, dict[str, int]]:
        """By kind: how many different values were replaced, and how often."""
        return {
            kind: {"values": self._kinds[kind], "replacements": count}
            for kind, count in sorted(self.counts.items())
        }

    def _replace(self, rule: Rule, match: re.Match[str]) -> str:
        group, secret = rule.group, match.group(rule.group)
        again = PLACEHOLDER.match(match.string, match.start(group))
        if again or _stands_for_nothing(rule.kind, secret) or not rule.accepts(match):
            return match.group(0)
        start, end = match.start(group) - match.start(0), match.end(group) - match.start(0)
        whole = match.group(0)
        return whole[:start] + self._placeholder(rule.kind, secret) + whole[end:]

    def _placeholder(self, kind: str, secret: str) -> str:
        self.counts[kind] += 1
        known = self._names.get((kind, secret))
        if known is None:
            self._kinds[kind] += 1
            known = _placeholder(kind, self._kinds[kind])
            self._names[kind, secret] = known
        return known


def _placeholder(kind: str, number: int) -> str:
    if kind == "email":
        return f"redacted{number}@example.com"
    if kind == USER:
        return f"user{number}"
    return f"REDACTED_{kind.upper().replace('-', '_')}_{number}"


def _stands_for_nothing(kind: str, secret: str) -> bool:
    if PLACEHOLDER.search(secret):
        return True
    return kind == "email" and bool(EXAMPLE_MAIL.search(secret))
