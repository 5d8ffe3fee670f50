"""The recordings at hand: the made-up ones of this repository, and more of the same, if any.

A folder `shared/sessions` may lie beside the checkout, with recordings that other people published
and that this repository may not hold. Where it is missing, the same tests read fewer files.
"""

import csv
from functools import cache
from pathlib import Path

from tests.support.spellings import SPELLINGS, conversations

ROOT = Path(__file__).resolve().parents[3]

MADE_UP = ROOT / "tests" / "recordings"
"""A small file of each shape of each format, in a folder named after the format."""

PECULIAR = tuple(MADE_UP / name for name in ("faults", "redaction"))
"""Folders of files with something peculiar in them, which have tests of their own."""

FURTHER = ROOT.parent / "shared" / "sessions"

COUNTS = (MADE_UP / "counts.tsv", Path(__file__).with_name("further_counts.tsv"))
"""Columns: file, format, sessions, turns, replayable, tool_calls, rows, checked. `checked` says
against what a file was counted by hand or by an independent program."""


def counted() -> list[tuple[Path, dict[str, str]]]:
    """The files that are counted and at hand, each with its row."""
    found = []
    for folder, table in zip((MADE_UP, FURTHER), COUNTS, strict=True):
        with table.open(newline="", encoding="utf-8") as rows:
            for row in csv.DictReader(rows, delimiter="\t"):
                if (folder / row["file"]).exists():
                    found.append((folder / row["file"], row))
    return found


def recordings(*patterns: str) -> list[Path]:
    """The files at hand that fit a pattern of their path below a folder of recordings."""
    return [
        file
        for folder in (MADE_UP, FURTHER)
        for pattern in patterns
        for file in sorted(folder.glob(pattern))
        if file.is_file() and file.parent not in (MADE_UP, FURTHER)
    ]


@cache
def spelled(name: str) -> bytes:
    """A made-up conversation in one spelling."""
    return SPELLINGS[name].write(conversations(5, 1, 4))
