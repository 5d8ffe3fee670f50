"""All formats, and which one a file is in."""

from dataclasses import dataclass

from traces.readers.canonical import Canonical
from traces.readers.chat_rows import ChatRows
from traces.readers.claude_code import ClaudeCode
from traces.readers.codex import Codex
from traces.readers.reader import Reader
from traces.readers.source import Sample
from traces.readers.swe_agent import SweAgent

READERS: tuple[Reader, ...] = (Canonical(), ClaudeCode(), Codex(), SweAgent(), ChatRows())
"""In order of preference where two formats fit equally well: the more particular first."""

LEAST_SHARE = 0.2
"""Below this share of fitting rows a file is not taken to be in a format."""


@dataclass(frozen=True, slots=True)
class Choice:
    """The reader chosen, if any, and how well each one fitted."""

    reader: Reader | None
    scores: dict[str, float]


def choose(sample: Sample) -> Choice:
    """The reader that fits the sample best."""
    scores = {reader.format: reader.match(sample) for reader in READERS}
    best = max(READERS, key=lambda reader: scores[reader.format])
    fits = scores[best.format] >= LEAST_SHARE
    return Choice(best if fits else None, {k: round(v, 3) for k, v in scores.items() if v > 0})


def reader_named(name: str) -> Reader | None:
    """The reader of a format, by its name."""
    return next((reader for reader in READERS if reader.format == name), None)
