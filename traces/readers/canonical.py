"""Session files of draftgate itself: importing one gives the same sessions again."""

from collections.abc import Iterator
from typing import Any, ClassVar

from traces.readers.bounded_lines import bounded_lines
from traces.readers.intake import Intake
from traces.readers.reader import share
from traces.readers.sample import Sample
from traces.readers.shapes import mapping, text
from traces.session import Session
from traces.session_file import parse_sessions

RECORDS = frozenset({"session", "message", "turn"})


class Canonical:
    """Reads ``sessions.jsonl``; blobs stay where they are."""

    format: ClassVar[str] = "draftgate"
    unsupported: ClassVar[str | None] = None
    keys: ClassVar[frozenset[str]] = frozenset({"schema"})

    def match(self, sample: Sample) -> float:
        """Rows that say which record they are, the first one with the schema."""
        first: dict[str, Any] = mapping(sample.rows[0] if sample.rows else None)
        if not str(first.get("schema", "")).startswith("draftgate.session/"):
            return 0.0
        return share(sample, sum(text(row.get("record")) in RECORDS for row in sample.objects))

    def read(self, intake: Intake) -> Iterator[Session]:
        """The sessions as they are, plus the tags asked for."""
        ledger = intake.ledger

        def lines() -> Iterator[bytes]:
            with intake.source.open() as stream:
                for row, line in enumerate(bounded_lines(stream), 1):
                    ledger.use(row)
                    yield line

        for session in parse_sessions(lines(), intake.source.name):
            tags = {**session.tags, **intake.tags}
            yield session if tags == session.tags else session.replaced(tags=tags)
