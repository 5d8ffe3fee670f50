"""Writes the held-out sessions that the gate replays: `python -m models.samples [FOLDER]`."""

from __future__ import annotations

import random
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from models.generator.recording import chat_line, claude_code, swe_agent
from models.generator.session import session
from models.generator.stories import STORIES
from models.generator.styles import ApiStyle, EditorStyle, IssueStyle, OpsStyle, Style

FOLDER = Path(__file__).parent.parent / "traces" / "samples"
SEED = "held-out"
PLAN: tuple[tuple[type[Style], int, int], ...] = (
    (EditorStyle, 8, 14),
    (IssueStyle, 6, 6),
    (ApiStyle, 7, 10),
    (OpsStyle, 5, 10),
)
"""Agent, sessions, stories in its last session; the seed is one that training never uses."""


def records(style: type[Style], count: int, longest: int) -> list[dict[str, Any]]:
    """`count` sessions of 2 to 4 stories, the last one of `longest`."""
    rng = random.Random(f"{SEED}-{style.name}")
    parts = [rng.randint(2, 4) for _ in range(count - 1)] + [longest]
    bare = style in (EditorStyle, IssueStyle)
    return [
        session(f"{SEED}-{style.name}-{i}", STORIES, n, style, bare=bare)
        for i, n in enumerate(parts)
    ]


def files() -> Iterator[tuple[str, str]]:
    """(file name, text) of all samples, the same on every call."""
    for style, count, longest in PLAN:
        made = records(style, count, longest)
        if style is EditorStyle:
            for i, record in enumerate(made):
                yield f"claude-code-{i:02}.jsonl", claude_code(record)
        elif style is IssueStyle:
            for i, record in enumerate(made):
                yield f"swe-agent-{i:02}.traj", swe_agent(record)
        else:
            yield f"chat-{style.name}.jsonl", "".join(chat_line(record) for record in made)


def main() -> None:
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else FOLDER
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in files():
        (folder / name).write_text(text, encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main()
