"""Redact a case scenario: every text, and the token ids that would spell it again.

Texts are redacted whole, so that a secret that came in pieces is found. Where the texts of a
token list hold one, the pieces are left out and all token ids of the scenario are renumbered in
order of appearance: equal ids stay equal, and no tokenizer can spell the secret.
"""

from collections.abc import Callable, Iterator
from typing import Any

Redact = Callable[[str], str]
"""Replaces the secrets of a text by placeholders; a text without any comes back unchanged."""


def redacted(scenario: dict[str, Any], redact: Redact) -> dict[str, Any]:
    """The scenario with every string redacted. Keys and token ids' own texts are no secrets."""
    lists = [part["tokens"] for part in _sides(scenario) if part.get("tokens")]
    spelled = ["".join(token.get("text") or "" for token in tokens) for tokens in lists]
    secret = any(redact(text) != text for text in spelled)
    clean = _walk(scenario, redact)
    assert isinstance(clean, dict)
    changed = secret or _visible(clean) != _visible(scenario)
    return _renumbered(clean, drop_texts=secret) if changed else clean


def _sides(scenario: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for name in ("baseline", "candidate"):
        if isinstance(scenario.get(name), dict):
            yield scenario[name]


def _walk(value: Any, redact: Redact) -> Any:
    if isinstance(value, str):
        return redact(value)
    if isinstance(value, dict):
        return {key: _walk(inner, redact) for key, inner in value.items()}
    return [_walk(inner, redact) for inner in value] if isinstance(value, list) else value


def _visible(scenario: dict[str, Any]) -> Any:
    """The output of both sides, whose token ids would spell it again."""
    candidate, baseline = scenario.get("candidate", {}), scenario.get("baseline", {})
    return candidate.get("chunks"), candidate.get("raw_text"), baseline.get("message")


def _renumbered(scenario: dict[str, Any], drop_texts: bool) -> dict[str, Any]:
    new: dict[int, int] = {}

    def number(token_id: int) -> int:
        return new.setdefault(token_id, len(new))

    def walk(value: Any, key: str = "") -> Any:
        if isinstance(value, dict):
            if key == "logit_bias":
                return {str(number(int(k))): v for k, v in value.items()}
            return {name: walk(inner, name) for name, inner in value.items() if keep(name, key)}
        if isinstance(value, list):
            if key in ("token_ids", "stop_token_ids"):
                return [number(i) for i in value]
            return [walk(inner, key) for inner in value]
        return number(value) if key == "id" and isinstance(value, int) else value

    def keep(name: str, parent: str) -> bool:
        texts = {"text"} if parent in ("tokens", "top_logprobs") else {"bytes"}
        return not (drop_texts and name in texts)

    cleaned = walk(scenario)
    assert isinstance(cleaned, dict)
    return cleaned
