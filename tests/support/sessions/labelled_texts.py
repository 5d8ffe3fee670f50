"""Outputs labeled by hand, from the definitions in `traces.boundaries.label`.

`labelled_texts.txt` holds one record per text::

    === name of the text
    {"family": "hermes", "tools": […], "thinking": true}
    ⟦prose⟧Hello ⟦code:python⟧x = 1

A label holds until the next one; ``code:python`` names a language. The line feed before the next
``===`` is not part of the text.
"""

import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

MARK = re.compile(r"⟦([^⟧]+)⟧")


@dataclass(frozen=True)
class Labelled:
    """A text, the family it is written for, and its right labels as (text, label, language)."""

    name: str
    family: str
    pieces: tuple[tuple[str, str, str | None], ...]
    tools: tuple[dict[str, Any], ...]
    thinking: bool

    @property
    def text(self) -> str:
        return "".join(piece[0] for piece in self.pieces)

    @property
    def characters(self) -> list[tuple[str, str | None]]:
        return [(label, language) for text, label, language in self.pieces for _ in text]


def _labelled(record: str) -> Labelled:
    name, head, marked = record.split("\n", 2)
    first, *parts = MARK.split(marked)
    assert first == "", f"{name}: text before the first label"
    pieces = []
    for kind, text in zip(parts[::2], parts[1::2], strict=True):
        label, _, language = kind.partition(":")
        pieces.append((text, label, language or None))
    facts = json.loads(head)
    tools, thinking = tuple(facts.get("tools", ())), facts.get("thinking", False)
    return Labelled(name, facts["family"], tuple(pieces), tools, thinking)


_FILE = Path(__file__).with_suffix(".txt").read_text(encoding="utf-8")
_RECORDS = _FILE.removeprefix("=== ").removesuffix("\n").split("\n=== ")

TEXTS = [_labelled(record) for record in _RECORDS]
