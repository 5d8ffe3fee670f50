"""Tokens of one chunk: ids beside log probabilities, whichever of the two were sent.

With `return_tokens_as_token_ids` a token is written ``token_id:64`` and its own text is in `bytes`
(the alternatives' `bytes` spell ``token_id:…`` again and hold no text). vLLM 0.32,
`chat_completion/serving.py::_create_chat_logprobs`. A `logprob` of null is how a NaN is written
in JSON; an entry without the key had no score.
"""

import math
from typing import Any

from traces.response import Token, TopLogprob

PREFIX = "token_id:"


def tokens_of_choice(ids: list[int] | None, entries: list[dict[str, Any]] | None) -> list[Token]:
    """The tokens of one chunk, in order. Ids without an entry have no score, and the reverse."""
    ids, entries = ids or [], entries or []
    tokens = []
    for place in range(max(len(ids), len(entries))):
        token_id = ids[place] if place < len(ids) else None
        entry = entries[place] if place < len(entries) else None
        tokens.append(_token(token_id, entry))
    return tokens


def _token(token_id: int | None, entry: dict[str, Any] | None) -> Token:
    if entry is None:
        return Token(id=token_id)
    written_id, text = _name(entry)
    return Token(
        id=token_id if token_id is not None else written_id,
        text=text if text is not None else _text_of_bytes(entry.get("bytes")),
        logprob=_score(entry),
        top=tuple(_alternative(t) for t in entry.get("top_logprobs") or [] if "logprob" in t),
    )


def _alternative(entry: dict[str, Any]) -> TopLogprob:
    written_id, text = _name(entry)
    score = _score(entry)
    return TopLogprob(id=written_id, text=text, logprob=math.nan if score is None else score)


def _name(entry: dict[str, Any]) -> tuple[int | None, str | None]:
    """(id, text) as far as the entry's `token` tells."""
    text = entry.get("token")
    if isinstance(text, str) and text.startswith(PREFIX) and text[len(PREFIX) :].isdecimal():
        return int(text[len(PREFIX) :]), None
    return None, text


def _score(entry: dict[str, Any]) -> float | None:
    if "logprob" not in entry:
        return None
    return math.nan if entry["logprob"] is None else float(entry["logprob"])


def _text_of_bytes(raw: list[int] | None) -> str | None:
    return None if raw is None else bytes(raw).decode(errors="replace")
