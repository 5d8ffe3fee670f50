"""Output tokens: one by one, or in columns, which hold long outputs in little memory.

Tokens  ids [64 65]  texts ("é", None)  logprobs [-.25 nan]  scored [t f]
        first [0 2 2]  top_ids [64 7]  top_logprobs [-.25 -1.5]  top_texts (None, None)
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import overload

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]

UNKNOWN = -1
"""Stands for an id that is not known."""


@dataclass(frozen=True, slots=True)
class TopLogprob:
    """One alternative at a position: token id, text, natural-log probability."""

    id: int | None
    text: str | None
    logprob: float


@dataclass(frozen=True, slots=True)
class Token:
    """One output token: its id, text, own log probability (nat) and listed alternatives."""

    id: int | None
    text: str | None = None
    logprob: float | None = None
    top: tuple[TopLogprob, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class Tokens(Sequence[Token]):
    """A sequence of n tokens in columns, equal to any sequence of the same tokens.

    `ids`, `texts`, `logprobs` and `scored` have one entry per token. Where `scored` is false the
    token has no score and its `logprobs` is NaN; a NaN that is scored is one. Token i lists the
    alternatives `first[i]` to `first[i + 1]` of the `top` columns; `first` has n + 1 entries. An
    id of -1 is not known.
    """

    ids: Ints
    texts: tuple[str | None, ...]
    logprobs: Floats
    scored: npt.NDArray[np.bool_]
    first: Ints
    top_ids: Ints
    top_logprobs: Floats
    top_texts: tuple[str | None, ...]
    _known: "list[tuple[int, ...] | None]" = field(default_factory=list, init=False, repr=False)

    @classmethod
    def of(cls, tokens: Sequence[Token]) -> "Tokens":
        """The columns of any tokens; of columns, themselves."""
        if isinstance(tokens, Tokens):
            return tokens
        top = list(chain.from_iterable(token.top for token in tokens))
        return cls(
            _ids([token.id for token in tokens]),
            tuple(token.text for token in tokens),
            np.array([token.logprob for token in tokens], float),
            np.array([token.logprob is not None for token in tokens], bool),
            np.cumsum([0, *(len(token.top) for token in tokens)]),
            _ids([entry.id for entry in top]),
            np.array([entry.logprob for entry in top], float),
            tuple(entry.text for entry in top),
        )

    @property
    def listed(self) -> Ints:
        """How many alternatives each token lists; shape (n,)."""
        return np.diff(self.first)

    @property
    def owner(self) -> Ints:
        """The place of the token that lists each alternative; one entry per alternative."""
        return np.repeat(np.arange(len(self)), self.listed)

    @property
    def best_listed(self) -> Floats:
        """The largest log probability each token lists, NaN where it lists none; shape (n,)."""
        best = np.full(len(self), np.nan)
        np.fmax.at(best, self.owner, self.top_logprobs)
        return best

    @property
    def best(self) -> Floats:
        """The largest log probability known at each place, NaN where none is; shape (n,)."""
        return np.fmax(self.best_listed, self.logprobs)

    @property
    def known_ids(self) -> tuple[int, ...] | None:
        """All ids; `None` where one of them is not known. Made once: checks ask again and again."""
        if not self._known:
            self._known.append(None if (self.ids == UNKNOWN).any() else tuple(self.ids.tolist()))
        return self._known[0]

    def __reduce__(self) -> tuple[type["Tokens"], tuple[object, ...]]:
        """What it is made of; a plain dataclass takes twice the time to be pickled and back."""
        return Tokens, (
            self.ids,
            self.texts,
            self.logprobs,
            self.scored,
            self.first,
            self.top_ids,
            self.top_logprobs,
            self.top_texts,
        )

    def __len__(self) -> int:
        return len(self.ids)

    @overload
    def __getitem__(self, place: int) -> Token: ...

    @overload
    def __getitem__(self, place: slice) -> tuple[Token, ...]: ...

    def __getitem__(self, place: int | slice) -> Token | tuple[Token, ...]:
        chosen = range(len(self))[place]
        if isinstance(chosen, int):
            return next(self._between(chosen, chosen + 1))
        if chosen.step != 1:
            return tuple(self)[place]
        return tuple(self._between(chosen.start, max(chosen.start, chosen.stop)))

    def __iter__(self) -> Iterator[Token]:
        return self._between(0, len(self))

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Sequence) and not isinstance(other, str):
            return len(self) == len(other) and tuple(self) == tuple(other)
        return NotImplemented

    __hash__ = None  # type: ignore[assignment]

    def _between(self, start: int, stop: int) -> Iterator[Token]:
        """The tokens from `start` up to `stop`."""
        first = self.first[start : stop + 1].tolist()
        here, top = slice(start, stop), slice(first[0], first[-1])
        entries = list(
            map(
                TopLogprob,
                map(_known, self.top_ids[top].tolist()),
                self.top_texts[top],
                map(_number, self.top_logprobs[top].tolist()),
            )
        )
        for token_id, text, score, scored, begin, end in zip(
            self.ids[here].tolist(),
            self.texts[here],
            self.logprobs[here].tolist(),
            self.scored[here].tolist(),
            first,
            first[1:],
            strict=False,
        ):
            yield Token(
                _known(token_id),
                text,
                _number(score) if scored else None,
                tuple(entries[begin - first[0] : end - first[0]]),
            )


def known_ids(tokens: Sequence[Token] | None) -> tuple[int, ...] | None:
    """The ids of all tokens; `None` where there are no tokens, or one of the ids is not known."""
    if isinstance(tokens, Tokens):
        return tokens.known_ids
    if tokens is None or any(token.id is None for token in tokens):
        return None
    return tuple(token.id for token in tokens if token.id is not None)


def texts_of(tokens: Sequence[Token]) -> tuple[str | None, ...]:
    """The text of every token, `None` where it is not known."""
    return tokens.texts if isinstance(tokens, Tokens) else tuple(token.text for token in tokens)


def known_texts(tokens: Sequence[Token] | None) -> tuple[str, ...] | None:
    """The texts of all tokens; `None` where there are no tokens, or one of the texts is unknown."""
    known = tuple(text for text in texts_of(tokens or ()) if text is not None)
    return None if tokens is None or len(known) < len(tokens) else known


def joined_text(tokens: Sequence[Token] | None) -> str:
    """What the tokens spell, as far as their texts are known."""
    return "".join(text or "" for text in texts_of(tokens or ()))


def _ids(ids: list[int | None]) -> Ints:
    return np.array([UNKNOWN if i is None else i for i in ids], np.int64)


def _known(token_id: int) -> int | None:
    return None if token_id == UNKNOWN else token_id


def _number(value: float) -> float:
    """The value; of NaN there is one alone, so that equal tokens are equal."""
    return math.nan if math.isnan(value) else value
