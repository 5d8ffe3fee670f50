"""Tokens of a stream: ids beside log probabilities, whichever of the two were sent.

With `return_tokens_as_token_ids` a token is written ``token_id:64`` and its own text is in `bytes`
(the alternatives' `bytes` spell ``token_id:…`` again and hold no text). vLLM 0.32,
`chat_completion/serving.py::_create_chat_logprobs`. A `logprob` of null is how a NaN is written
in JSON; an entry without the key had no score.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain

import numpy as np
from msgspec import UNSET

from traces.wire.chunk import WireAlternative, WireToken
from traces.wire.tokens import UNKNOWN, Floats, Ints, Tokens

PREFIX = "token_id:"
LONGEST_ID = 10
"""Digits of the largest token id that 32 bits hold."""

NO_ENTRY = WireToken()
"""Stands for the entry of a token that has an id and nothing else."""


class TokenCollector:
    """Takes the ids and entries of chunks in order, and gives the tokens of all."""

    def __init__(self) -> None:
        self._ids: list[int] = []
        self._entries: list[WireToken] = []

    def add(self, ids: Sequence[int] | None, entries: Sequence[WireToken] | None) -> None:
        """The tokens of one chunk. Ids without an entry have no score, and the reverse."""
        ids, entries = ids or (), entries or ()
        self._ids += ids
        self._entries += entries
        self._ids += [UNKNOWN] * (len(entries) - len(ids))
        self._entries += [NO_ENTRY] * (len(ids) - len(entries))

    def finished(self) -> Tokens:
        """All tokens, in columns."""
        names = [_name(entry.token) for entry in self._entries]
        scores = [entry.logprob for entry in self._entries]
        ids = np.array(self._ids, np.int64)
        listed = [entry.top_logprobs or [] for entry in self._entries]
        try:
            top = _Listed.of(listed)
        except TypeError:  # an alternative without a score is left out
            top = _Listed.of([[t for t in tops if t.logprob is not UNSET] for tops in listed])
        return Tokens(
            ids=np.where(ids == UNKNOWN, np.array([i for i, _ in names], np.int64), ids),
            texts=tuple(
                _text_of_bytes(entry.bytes) if text is None else text
                for (_, text), entry in zip(names, self._entries, strict=True)
            ),
            logprobs=np.array([None if s is UNSET else s for s in scores], np.float64),
            scored=np.array([score is not UNSET for score in scores], bool),
            first=top.first,
            top_ids=top.ids,
            top_logprobs=top.logprobs,
            top_texts=top.texts,
        )


@dataclass(frozen=True, slots=True)
class _Listed:
    """The alternatives of all tokens, as `Tokens` holds them."""

    first: Ints
    ids: Ints
    logprobs: Floats
    texts: tuple[str | None, ...]

    @classmethod
    def of(cls, listed: Sequence[Sequence[WireAlternative]]) -> "_Listed":
        """One entry per token. Raises TypeError where an alternative has no score."""
        top = list(chain.from_iterable(listed))
        logprobs = np.array([entry.logprob for entry in top], np.float64)
        named = [_name(entry.token) for entry in top]
        ids, texts = zip(*named, strict=True) if named else ((), ())
        first = np.cumsum([0, *map(len, listed)])
        return cls(first, np.array(ids, np.int64), logprobs, texts)


@lru_cache(maxsize=1 << 16)
def _name(text: str | None) -> tuple[int, str | None]:
    """(id, text) as far as the entry's `token` tells; an output names few tokens, many times."""
    if text is not None and text.startswith(PREFIX):
        digits = text[len(PREFIX) :]
        if digits.isdecimal() and len(digits) <= LONGEST_ID:
            return int(digits), None
    return UNKNOWN, text


def _text_of_bytes(raw: list[int] | None) -> str | None:
    return None if raw is None else bytes(raw).decode(errors="replace")
