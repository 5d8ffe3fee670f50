"""Aider's ``.aider.chat.history.md``: a Markdown log of many sessions.

    # aider chat started at 2024-05-05 09:00:00
    #### user input
    assistant text
    > output of aider and its tools

The prompts themselves (system text, file contents, repository map) are not in it, so every prefix
is ``lossy``. Headings inside fenced code belong to the code.
"""

import re
from collections.abc import Iterator
from typing import ClassVar

from traces.readers.chat.builder import SessionBuilder
from traces.readers.chat.content import content_parts
from traces.readers.chat.items import Answer, Item, Said
from traces.readers.chat.transcript import add_thread
from traces.readers.files.bounded_lines import bounded_lines
from traces.readers.files.sample import Sample
from traces.readers.intake import Intake
from traces.session.session import Session

START = re.compile(r"^# aider chat started at (.+?)\s*$", re.MULTILINE)
START_WORDS = "# aider chat started at "
USER, TOOL, FENCES = "#### ", "> ", ("```", "~~~")


class Aider:
    """Reads the sessions of a history file; rows are its lines."""

    format: ClassVar[str] = "aider"
    unsupported: ClassVar[str | None] = None
    keys: ClassVar[frozenset[str]] = frozenset()

    def match(self, sample: Sample) -> float:
        """Text with a start line."""
        if sample.document is not None or START_WORDS not in sample.head:
            return 0.0
        return float(bool(START.search(sample.head)))

    def read(self, intake: Intake) -> Iterator[Session]:
        """One session per start line."""
        page: _Page | None = None
        with intake.source.open() as stream:
            for number, raw in enumerate(bounded_lines(stream), 1):
                line = raw.decode("utf-8", errors="replace").rstrip("\r\n")
                started = START.match(line) if line.startswith(START_WORDS) else None
                if started:
                    if page is not None:
                        yield from page.sessions()
                    page = _Page(SessionBuilder(intake, tool="aider", started_at=started.group(1)))
                    intake.ledger.use(number)
                elif page is None:
                    intake.ledger.skip(number, "before_first_session")
                elif page.take(number, line):
                    intake.ledger.use(number)
                else:
                    intake.ledger.skip(number, "tool_output")
        if page is not None:
            yield from page.sessions()


class _Page:
    """The lines of one session."""

    def __init__(self, builder: SessionBuilder) -> None:
        self.builder = builder
        self.blocks: list[tuple[str, list[str], list[int]]] = []
        self.in_fence = False

    def take(self, number: int, line: str) -> bool:
        """Put a line into a block of its kind; False for output of aider itself."""
        if self.in_fence or not line.startswith((USER, TOOL)):
            kind, said = "assistant", line
        elif line.startswith(USER):
            kind, said = "user", line.removeprefix(USER).rstrip()
        else:
            return False
        if kind == "assistant" and line.lstrip().startswith(FENCES):
            self.in_fence = not self.in_fence
        if not self.blocks or self.blocks[-1][0] != kind:
            if kind == "assistant" and not said.strip():
                return True
            self.blocks.append((kind, [], []))
        self.blocks[-1][1].append(said)
        self.blocks[-1][2].append(number)
        return True

    def sessions(self) -> Iterator[Session]:
        """The session, if the model said anything."""
        transcript: list[Item] = []
        for kind, lines, numbers in self.blocks:
            parts = content_parts("\n".join(lines).strip("\n"), self.builder.intake.blobs)
            rows = (numbers[0], numbers[-1])
            if kind == "user":
                transcript.append(Said("user", parts, "human", rows))
            else:
                transcript.append(Answer(parts, rows=rows))
        add_thread(self.builder, transcript, fidelity="lossy")
        if self.builder.turn_count:
            yield self.builder.build()
