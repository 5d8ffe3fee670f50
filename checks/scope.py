"""What a verdict is about: how many candidate tokens of which kind the run looked at.

    4,718 candidate tokens in 64 turns: greedy 57%, sampled (added) 43%; context 0-8k 100%; prose
    19%, tool.markup 19%, …; under a grammar 0%; in 46% of the tokens the baseline's text decides
    nothing, and 23% of that text no check saw

Sums of sessions are added up in any order. A fault that lives where few tokens lie, or where no
check looked at the text, may pass: the numbers say where that is.
"""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
import numpy.typing as npt

from traces.bands import BANDS, band_of
from traces.boundaries.label import LABELS

DECODING, CONTEXT, BOUNDARY, GRAMMAR, TEXT = "decoding", "context", "boundary", "grammar", "text"

UNKNOWN = "unknown"
GREEDY, RECORDED, ADDED = "greedy", "sampled", "sampled (added)"
FREE, MASKED = "free", "under a grammar"

Seen = Literal["baseline", "parsed", "joined", "unseen"]
"""What the delivered text of a turn was compared with: the baseline's text; what the server's
parsers make of the turn's own tokens; the joined texts of these tokens alone; nothing."""

PARTS: Mapping[str, tuple[str, ...]] = {
    DECODING: (GREEDY, RECORDED, ADDED),
    CONTEXT: (*BANDS, UNKNOWN),
    BOUNDARY: (*LABELS, UNKNOWN),
    GRAMMAR: (FREE, MASKED),
    TEXT: ("baseline", "parsed", "joined", "unseen"),
}
"""Dimension -> its slices, in the order of reports. Every token lies in one slice of each."""

SHOWN = 4
"""So many boundaries are named in the statement."""

Part = tuple[str, str]
"""(dimension, slice)."""


@dataclass(frozen=True, slots=True)
class TurnScope:
    """One answer of the candidate: its tokens, `labels` (indices into `LABELS`, one per token;
    `None`: unknown), prompt tokens, how it was decoded, whether a grammar masked its tokens, and
    what its text was compared with."""

    tokens: int
    labels: npt.NDArray[np.int8] | None
    prompt: int | None
    decoding: str
    masked: bool
    seen: Seen

    def parts(self) -> Iterator[tuple[Part, int]]:
        """Its tokens by slice."""
        yield (DECODING, self.decoding), self.tokens
        yield (CONTEXT, UNKNOWN if self.prompt is None else band_of(self.prompt)), self.tokens
        yield (GRAMMAR, MASKED if self.masked else FREE), self.tokens
        yield (TEXT, self.seen), self.tokens
        if self.labels is None or len(self.labels) != self.tokens:
            yield (BOUNDARY, UNKNOWN), self.tokens
            return
        for place, count in enumerate(np.bincount(self.labels, minlength=len(LABELS)).tolist()):
            if count:
                yield (BOUNDARY, LABELS[place]), count


@dataclass(frozen=True, slots=True)
class Scope:
    """Candidate tokens and turns by slice; `turns` and `tokens` count all of them."""

    turns: int = 0
    tokens: int = 0
    tokens_of: Mapping[Part, int] = field(default_factory=dict)
    turns_of: Mapping[Part, int] = field(default_factory=dict)

    def __add__(self, other: "Scope") -> "Scope":
        return Scope(
            self.turns + other.turns,
            self.tokens + other.tokens,
            Counter(self.tokens_of) + Counter(other.tokens_of),
            Counter(self.turns_of) + Counter(other.turns_of),
        )

    @classmethod
    def of(cls, turn: TurnScope) -> "Scope":
        """That of one answer; one without a token adds nothing."""
        if not turn.tokens:
            return cls()
        tokens = dict(turn.parts())
        return cls(1, turn.tokens, tokens, dict.fromkeys(tokens, 1))

    def ordered(self) -> Iterator[tuple[Part, int, int]]:
        """(slice, tokens, turns) of every slice that holds tokens, in the order of reports."""
        for dimension, names in PARTS.items():
            for name in names:
                if tokens := self.tokens_of.get((dimension, name), 0):
                    yield (dimension, name), tokens, self.turns_of[dimension, name]

    def share(self, dimension: str, name: str) -> float:
        """Of all tokens; 0 where there are none."""
        return self.tokens_of.get((dimension, name), 0) / self.tokens if self.tokens else 0.0

    @property
    def unseen_share(self) -> float | None:
        """Of the tokens whose text the baseline's does not decide: those whose text no check
        compared with anything. `None` without such tokens."""
        alone = self.tokens - self.tokens_of.get((TEXT, "baseline"), 0)
        return self.tokens_of.get((TEXT, "unseen"), 0) / alone if alone else None

    @property
    def statement(self) -> str:
        """One line for the verdict."""
        if not self.tokens:
            return "no token of the candidate was sent"
        return (
            f"{self.tokens:,} candidate tokens in {self.turns:,} turns: {self._listed(DECODING)}; "
            f"context {self._listed(CONTEXT)}; {self._boundaries()}; "
            f"{MASKED} {_percent(self.share(GRAMMAR, MASKED))}; {self._text()}"
        )

    def _listed(self, dimension: str) -> str:
        held = [name for name in PARTS[dimension] if self.tokens_of.get((dimension, name))]
        return ", ".join(f"{name} {_percent(self.share(dimension, name))}" for name in held)

    def _boundaries(self) -> str:
        held = sorted(
            (name for name in PARTS[BOUNDARY] if self.tokens_of.get((BOUNDARY, name))),
            key=lambda name: -self.tokens_of[BOUNDARY, name],
        )
        said = [f"{name} {_percent(self.share(BOUNDARY, name))}" for name in held[:SHOWN]]
        if rest := held[SHOWN:]:
            share = sum(self.share(BOUNDARY, name) for name in rest)
            said.append(f"{len(rest)} others {_percent(share)}")
        return ", ".join(said)

    def _text(self) -> str:
        unseen = self.unseen_share
        if unseen is None:
            return "all text is compared with the baseline's"
        alone = 1 - self.share(TEXT, "baseline")
        return (
            f"in {_percent(alone)} of the tokens the baseline's text decides nothing, and "
            f"{_percent(unseen)} of that text no check saw"
        )


def _percent(share: float) -> str:
    """A share in words that never rounds some to none, nor nearly all to all."""
    if 0 < share < 0.005:
        return "under 1%"
    if 0.995 <= share < 1:
        return "over 99%"
    return f"{share:.0%}"
