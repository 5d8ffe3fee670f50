"""One name for one thing: code, docs and messages use the field's words, and no private ones."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

FOLDERS = (
    *("traces", "replay", "checks", "reports", "draftgate"),
    *("models", "evidence", "benchmarks", "tools", "tests", "docs"),
)
SUFFIXES = {".py", ".md", ".sql", ".j2", ".css", ".toml", ".txt"}
DATA = ("traces/samples/", "tests/recordings/", "tests/cases/", "models/weights/", "models/work/")
"""Folders of recorded sessions, case files and weights: their words are not the project's."""
PROMPTS = ("tests/support/paper/sessions.py", "tests/support/sessions/labelled_texts.txt")
"""Files whose texts are prompts and answers."""

WORDS = {
    r"ours": "candidate, or draftgate's",
    r"theirs": "baseline",
    r"laws?|lawful": "distribution, or allowed",
    r"told": "reported, said or known",
    r"mend(?:s|ed|ing|able)?": "fix",
    r"held(?:\s|_)+(?:# )?against": "compared with, or checked against",
    r"by\s+(?:# )?decree": "say what is done",
}
NAME_PARTS = {
    re.compile(rf"(?<![a-z])(?:{word})(?![a-z])", re.IGNORECASE): better
    for word, better in WORDS.items()
}


def pages(root: Path) -> Iterator[Path]:
    yield from root.glob("*.md")
    yield from root.glob("*.toml")
    for folder in FOLDERS:
        for file in (root / folder).rglob("*"):
            place = file.relative_to(root).as_posix()
            if file.suffix in SUFFIXES and "/." not in place and not place.startswith(DATA):
                yield file


def test_code_and_docs_use_the_words_of_the_field(root: Path) -> None:
    wrong = []
    for file in pages(root):
        place = file.relative_to(root).as_posix()
        if place in PROMPTS or file == Path(__file__):
            continue
        text = file.read_text(encoding="utf-8")
        for pattern, better in NAME_PARTS.items():
            for found in pattern.finditer(text):
                line = text.count("\n", 0, found.start()) + 1
                wrong.append(f"{place}:{line}: {found[0]!r}; fix: {better}")
    assert wrong == []


@pytest.mark.parametrize(
    ("text", "caught"),
    [
        ("ours, theirs = pair", 2),
        ("def law_of(lists): ...", 1),
        ("is_told_by_tokens", 1),
        ("Mended upstream", 1),
        ("is held\nagainst it", 1),
        ("# is held\n# against it", 1),
        ("rejected by decree", 1),
        ("24 hours of outlaws and flaws, a recommended amendment", 0),
        ("it held it against", 0),
    ],
)
def test_a_private_word_is_seen_in_names_and_sentences(text: str, caught: int) -> None:
    assert sum(len(pattern.findall(text)) for pattern in NAME_PARTS) == caught
