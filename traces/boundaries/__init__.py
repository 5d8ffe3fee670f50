"""Boundaries of an output: what each token is part of.

    spans = label(raw_text, "hermes", tools)           # Span(0, 31, "prose"), …
    labels = token_labels(spans, token_starts(texts))  # one label per token

`Labeller` does the same for a stream. Labels are defined in `traces.boundaries.label`.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from traces.boundaries.arguments.content import Call, schemas
from traces.boundaries.arguments.json_value import JsonReader
from traces.boundaries.families import FAMILIES
from traces.boundaries.label import PUNCT
from traces.boundaries.labeller import LOOK_BACK, Labeller
from traces.boundaries.mode import Family
from traces.boundaries.span import Span, TokenLabels, token_labels, token_starts

__all__ = [
    "LOOK_BACK",
    "Labeller",
    "Span",
    "TokenLabels",
    "known_family",
    "label",
    "label_arguments",
    "opens_in_reasoning",
    "token_labels",
    "token_starts",
]


def label(
    raw_text: str,
    family: str | Family | None = None,
    tools: Iterable[Mapping[str, Any]] = (),
    *,
    thinking: bool = False,
) -> list[Span]:
    """Label a whole output: spans in order that cover `raw_text` without gaps.

    `raw_text` is the decoded output with its markers (``skip_special_tokens=False``), `family` the
    tool parser it is written for, `tools` the request's tools, whose schemas say what some
    arguments are. `thinking`: the prompt ends inside an open reasoning block. Raises InputError for
    an unknown family.
    """
    labeller = Labeller(family or "plain", tools, thinking=thinking)
    spans = labeller.feed(raw_text) + labeller.close()
    return list(_merged(spans))


def opens_in_reasoning(raw_text: str, reasoning: str) -> bool:
    """Whether an output begins with its reasoning, without a marker: the prompt opened the block.

    `reasoning` is what the server's own parser took for it.
    """
    head = reasoning.strip()[:32]
    return bool(head) and raw_text.lstrip().startswith(head)


def known_family(parser: str | None) -> str:
    """The name itself, or ``plain`` for a tool parser there are no rules for."""
    return parser if parser in FAMILIES else "plain"


def label_arguments(
    tool: str | None, arguments: str, tools: Iterable[Mapping[str, Any]] = ()
) -> list[Span]:
    """Label the JSON arguments of one call, as recorded sessions and responses hold them."""
    found: list[Span] = []

    def emit(start: int, end: int, name: str, language: str | None) -> None:
        found.append(Span(start, end, name, language, tool))

    reader = JsonReader(Call(schemas(tools), tool))
    reached = reader.consume(arguments, 0, len(arguments), True, emit)
    if reached < len(arguments):
        emit(reached, len(arguments), PUNCT, None)
    return list(_merged(found))


def _merged(spans: Iterable[Span]) -> Iterable[Span]:
    """Neighbors of one kind as one span."""
    last: Span | None = None
    for span in spans:
        same = last and (last.label, last.language, last.tool) == (
            span.label,
            span.language,
            span.tool,
        )
        if last and same:
            last = Span(last.start, span.end, span.label, span.language, span.tool)
            continue
        if last:
            yield last
        last = span
    if last:
        yield last
