"""A labeled stretch of raw text, and the labels of the tokens that begin in it."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from traces.boundaries.label import INDEX, LABELS
from traces.coded import Coded


@dataclass(frozen=True, slots=True)
class Span:
    """Characters `start` to `end` of the raw text, all of one label.

    `language` is set on `code`, where a fence, a file name or the tool says it; `tool` is the name
    of the call the text is part of, once that name has been read.
    """

    start: int
    end: int
    label: str
    language: str | None = None
    tool: str | None = None


@dataclass(frozen=True, slots=True)
class TokenLabels:
    """One label per token. `labels[t]` is an index into `LABELS`."""

    labels: npt.NDArray[np.int8]
    languages: Sequence[str | None]
    tools: Sequence[str | None]

    def __len__(self) -> int:
        return len(self.labels)

    @property
    def names(self) -> Coded:
        """The label of every token, in words."""
        return Coded(self.labels, LABELS)


def token_starts(texts: Iterable[str]) -> list[int]:
    """Offset of each token in the concatenation of the token texts.

    A token that ends inside a character has an empty text and starts where the next one does.
    """
    starts, at = [], 0
    for text in texts:
        starts.append(at)
        at += len(text)
    return starts


def token_labels(spans: Sequence[Span], starts: Sequence[int]) -> TokenLabels:
    """The label of each token: that of its first character.

    `spans` cover the text without gaps, as `label` gives them; `starts` are ascending character
    offsets. A token that starts at the end of the text (an incomplete character) takes the last
    span. Raises ValueError where there are tokens and no spans.
    """
    if starts and not spans:
        raise ValueError("tokens without text: nothing to label them by")
    if not starts:
        return TokenLabels(np.zeros(0, np.int8), (), ())
    edges = np.fromiter((span.start for span in spans), np.int64, len(spans))
    places = np.searchsorted(edges, np.asarray(starts, np.int64), side="right") - 1
    codes = np.fromiter((INDEX[span.label] for span in spans), np.int8, len(spans))
    languages = Coded.of([span.language for span in spans])
    tools = Coded.of([span.tool or None for span in spans])
    return TokenLabels(
        codes[places],
        Coded(languages.codes[places], languages.names),
        Coded(tools.codes[places], tools.names),
    )
