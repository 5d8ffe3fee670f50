"""Tokens of one chunk: ids beside log probabilities, whichever of the two were sent.

With `return_tokens_as_token_ids` a token is written ``token_id:64`` and its own text is in `bytes`
(the alternatives' `bytes` spell ``token_id:…`` again and hold no text). vLLM 0.32,
`chat_completion/serving.py::_create_chat_logprobs`. A `logprob` of null is how a NaN is written
in JSON; an entry without the key had no score.
"""

import math
from collections.abc import Sequence
from functools import lru_cache

from msgspec import UNSET

from traces.response import Token, TopLogprob
from traces.wire_chunk import WireAlternative, WireToken

PREFIX = "token_id:"
LONGEST_ID = 10
"""Digits of the largest token id that 32 bits hold."""


def tokens_of_choice(ids: Sequence[int] | None, entries: Sequence[WireToken] | None) -> list[Token]:
    """The tokens of one chunk, in order. Ids without an entry have no score, and the reverse."""
    ids, entries = ids or (), entries or ()
    tokens = []
    for place in range(max(len(ids), len(entries))):
        token_id = ids[place] if place < len(ids) else None
        entry = entries[place] if place < len(entries) else None
        tokens.append(_token(token_id, entry))
    return tokens


def _token(token_id: int | None, entry: WireToken | None) -> Token:
    if entry is None:
        return Token(id=token_id)
    written_id, text = _name(entry.token)
    return Token(
        id=token_id if token_id is not None else written_id,
        text=text if text is not None else _text_of_bytes(entry.bytes),
        logprob=_score(entry),
        top=tuple(_alternative(t) for t in entry.top_logprobs or () if t.logprob is not UNSET),
    )


def _alternative(entry: WireAlternative) -> TopLogprob:
    written_id, text = _name(entry.token)
    score = _score(entry)
    return TopLogprob(id=written_id, text=text, logprob=math.nan if score is None else score)


@lru_cache(maxsize=1 << 16)
def _name(text: str | None) -> tuple[int | None, str | None]:
    """(id, text) as far as the entry's `token` tells; an output names few tokens, many times."""
    if text is not None and text.startswith(PREFIX):
        digits = text[len(PREFIX) :]
        if digits.isdecimal() and len(digits) <= LONGEST_ID:
            return int(digits), None
    return None, text


def _score(entry: WireToken | WireAlternative) -> float | None:
    if entry.logprob is UNSET:
        return None
    return math.nan if entry.logprob is None else float(entry.logprob)


def _text_of_bytes(raw: list[int] | None) -> str | None:
    return None if raw is None else bytes(raw).decode(errors="replace")
