"""Steps joined with labels: one row per drafted position, in columns.

A position is *reached* up to and including the first rejection, and never past the end of the
output; the token committed there gives it its label. Later positions have no token: all that
belongs to a token is -1 (missing) and `accepted` is false.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from checks.acceptance.steps import Steps
from traces.bands import BANDS, EDGES
from traces.boundaries.label import LABELS
from traces.boundaries.span import TokenLabels
from traces.coded import Coded
from traces.partial import Partial

DISTANCES = ("0", "1", "2", "3-7", "8+")
"""Tokens since the last change of label, in classes; the first token of a label is at 0."""

START = "start"
"""What the first label of an output is crossed from: ``start>prose``."""

NO_LABEL = len(LABELS)
Bytes = npt.NDArray[np.int8]


@dataclass(frozen=True, slots=True)
class Boundaries:
    """Per token: distance class (index into `DISTANCES`) and the last boundary crossed.

    `crossed_from` and `label` name that boundary, ``prose>code``; `NO_LABEL` is the start.
    """

    label: Bytes
    distance: Bytes
    crossed_from: Bytes

    @classmethod
    def of(cls, labels: TokenLabels) -> "Boundaries":
        """Boundaries of a labeled output: a boundary is a change of label."""
        label = labels.labels
        index = np.arange(len(label))
        changed = np.ones(len(label), bool)
        changed[1:] = label[1:] != label[:-1]
        begin = np.maximum.accumulate(np.where(changed, index, 0))
        distance = np.searchsorted((1, 2, 3, 8), index - begin, side="right").astype(np.int8)
        before = np.concatenate(([NO_LABEL], label[:-1])).astype(np.int8)
        return cls(label, distance, before[begin] if len(label) else before[:0])


@dataclass(frozen=True, slots=True)
class DraftPositions:
    """Drafted positions of one response; every array has one entry per position.

    `token` is an index into the output (-1: not reached), `label` and `crossed_from` indices into
    `LABELS`, `distance` into `DISTANCES`, `band` into `BANDS`, `tool` into `tools` (-1: none or not
    reached), `draft_id` the drafted id (-1: not known). `cached` is whether the turn's prefix came
    from the cache; `None` where the server does not say.
    """

    step: npt.NDArray[np.int32]
    position: npt.NDArray[np.uint8]
    token: npt.NDArray[np.int32]
    reached: npt.NDArray[np.bool_]
    accepted: npt.NDArray[np.bool_]
    label: Bytes
    distance: Bytes
    crossed_from: Bytes
    band: Bytes
    tool: npt.NDArray[np.int32]
    draft_id: npt.NDArray[np.int64]
    tools: tuple[str, ...] = ()
    template: str | None = None
    cached: bool | None = None

    def __len__(self) -> int:
        return len(self.step)

    def columns(self) -> dict[str, Any]:
        """The columns of the store's `draft_positions`: of texts their codes.

        What all positions have alike, `template` and `cached`, is not among them.
        """
        return {
            "step": self.step,
            "position": self.position,
            "token_index": Partial(self.token, self.token >= 0),
            "draft_id": Partial(self.draft_id, self.draft_id >= 0),
            "label": Coded(self.label, LABELS),
            "reached": self.reached,
            "accepted": self.accepted,
            "distance": Coded(self.distance, DISTANCES),
            "crossing": self.crossings(),
            "context_band": Coded(self.band, BANDS),
            "tool": Coded(self.tool, self.tools),
        }

    def crossings(self) -> Coded:
        """The last boundary crossed before each position, in words."""
        code = self.crossed_from.astype(np.int32) * len(LABELS) + self.label
        return Coded(np.where(self.label < 0, -1, code), CROSSINGS)


def crossing_name(before: int, label: int) -> str:
    """A boundary in words: ``prose>code``, ``start>prose``."""
    return f"{START if before == NO_LABEL else LABELS[before]}>{LABELS[label]}"


CROSSINGS = tuple(
    crossing_name(before, label) for before in range(NO_LABEL + 1) for label in range(len(LABELS))
)
"""Every boundary there can be, by ``before * len(LABELS) + label``."""


def join(
    steps: Steps,
    labels: TokenLabels,
    prompt_tokens: int,
    *,
    template: str | None = None,
    cached: bool | None = None,
) -> DraftPositions:
    """One row per drafted position of an aligned response.

    The context length of a position is the prompt and all output before its token; unreached
    positions take that of the first token after the last one their step committed.
    Raises ValueError where labels and steps speak of different numbers of tokens.
    """
    if len(labels) != int(steps.committed.sum()):
        raise ValueError(f"{len(labels)} labels, {int(steps.committed.sum())} tokens in the steps")
    drafting = np.flatnonzero(steps.reported)
    drafted = steps.drafted[drafting]
    step = np.repeat(drafting.astype(np.int32), drafted)
    begin = np.repeat(np.cumsum(drafted) - drafted, drafted)
    position = np.arange(len(step)) - begin
    reached = position < steps.committed[step]
    accepted = reached & (position < steps.accepted[step])
    token = np.where(reached, steps.first[step] + position, -1).astype(np.int32)
    bounds = Boundaries.of(labels)
    tools = Coded.of(labels.tools)
    context = prompt_tokens + steps.first[step] + np.minimum(position, steps.committed[step])
    return DraftPositions(
        step,
        position.astype(np.uint8),
        token,
        reached,
        accepted,
        _at(bounds.label, token),
        _at(bounds.distance, token),
        _at(bounds.crossed_from, token),
        band_indices(context),
        _at(tools.codes, token),
        _draft_ids(steps, drafting, len(step)),
        tools.names,
        template,
        cached,
    )


def _at(values: npt.NDArray[Any], token: npt.NDArray[np.int32]) -> npt.NDArray[Any]:
    """`values` at each token; -1 where there is none."""
    if not len(values):
        return np.full(len(token), -1, values.dtype)
    return np.where(token >= 0, values[token], -1).astype(values.dtype)


def _draft_ids(steps: Steps, drafting: npt.NDArray[Any], count: int) -> npt.NDArray[np.int64]:
    if steps.draft_ids is None:
        return np.full(count, -1, np.int64)
    ids = steps.draft_ids
    return np.fromiter((i for s in drafting.tolist() for i in ids[s]), np.int64, count)


def band_indices(tokens: npt.ArrayLike) -> npt.NDArray[np.int8]:
    """`traces.bands.band_of` for each of `tokens`, as indices into `traces.bands.BANDS`."""
    return np.searchsorted(EDGES, np.asarray(tokens), side="right").astype(np.int8)
