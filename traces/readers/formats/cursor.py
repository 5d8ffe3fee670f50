"""Cursor's transcripts of its agent (``agent-transcripts/ID.jsonl``).

    {"role":"user","message":{"content":[{"type":"text","text":"<user_query>…"}]}}
    {"role":"assistant","message":{"content":[{"type":"text",…},{"type":"tool_use","name":"…",
     "input":{…}}]}}

They keep neither results of tools nor ids of calls, so prompts are ``lossy``.
"""

from collections.abc import Iterator
from typing import Any, ClassVar

from traces.readers.chat.builder import SessionBuilder
from traces.readers.chat.log import Log
from traces.readers.chat.shapes import mapping
from traces.readers.files.sample import Sample
from traces.readers.intake import Intake
from traces.readers.reader import share
from traces.session.session import Session


class Cursor:
    """Reads one transcript."""

    format: ClassVar[str] = "cursor"
    unsupported: ClassVar[str | None] = None
    keys: ClassVar[frozenset[str]] = frozenset({"message"})

    def match(self, sample: Sample) -> float:
        """Rows with a role and a message of blocks, and none of the keys of a linked log."""
        return share(sample, sum(_is_row(row) for row in sample.objects))

    def read(self, intake: Intake) -> Iterator[Session]:
        """The session of the file."""
        log = _CursorLog(SessionBuilder(intake, tool="Cursor"), fidelity="lossy")
        yield from log.read(intake.source.rows())


def _is_row(row: dict[str, Any]) -> bool:
    blocks = isinstance(mapping(row.get("message")).get("content"), list)
    return blocks and row.get("role") in ("user", "assistant") and not row.keys() & {
        "uuid", "sessionId", "type"
    }  # fmt: skip


class _CursorLog(Log):
    def take(self, number: int, row: dict[str, Any]) -> str | None:
        message = {**mapping(row.get("message")), "role": row.get("role")}
        found = self.chat.message(message, (number,))
        self.transcript += found
        return None if found else "no_message"
