"""Session files of draftgate itself: importing one gives the same sessions again."""

from collections.abc import Iterator
from typing import Any, ClassVar

from traces.counted import counted
from traces.readers.chat.shapes import text
from traces.readers.files.bounded_lines import bounded_lines
from traces.readers.files.json_lines import BLANK
from traces.readers.files.ledger import Ledger
from traces.readers.files.sample import Sample
from traces.readers.intake import Intake
from traces.readers.reader import share
from traces.session.file import stretches
from traces.session.session import Session

RECORDS = {"session": "schema", "message": "mid", "turn": "turn_id"}


class Canonical:
    """Reads ``sessions.jsonl``; blobs stay where they are."""

    format: ClassVar[str] = "draftgate"
    unsupported: ClassVar[str | None] = None
    keys: ClassVar[frozenset[str]] = frozenset({"record"})

    def match(self, sample: Sample) -> float:
        """Rows that say which record they are, with the key that names it."""
        return share(sample, sum(_is_record(row) for row in sample.objects))

    def read(self, intake: Intake) -> Iterator[Session]:
        """The sessions as they are, plus the tags asked for; a damaged one is left out whole."""
        ledger = intake.ledger
        with intake.source.open() as stream:
            for found in stretches(_seen(bounded_lines(stream), ledger)):
                for row, _ in found.bad:
                    ledger.skip(row, "not_canonical")
                    ledger.warn("not_canonical", row)
                session = found.session
                for row in found.rows:
                    if session is None:
                        ledger.skip(row, "damaged_session")
                    else:
                        ledger.use(row)
                if session is None:
                    if found.rows:
                        ledger.warn("damaged_session", found.rows[0], found.flaw or "")
                    continue
                if found.missing:
                    ledger.warn("turns_missing", found.rows[0], counted(found.missing, "turn"))
                tags = {**session.tags, **intake.tags}
                yield session if tags == session.tags else session.replaced(tags=tags)


def _is_record(row: dict[str, Any]) -> bool:
    return RECORDS.get(text(row.get("record"))) in row


def _seen(lines: Iterator[bytes], ledger: Ledger) -> Iterator[bytes]:
    """The lines, each entered as blank until it is known what it holds."""
    for row, line in enumerate(lines, 1):
        ledger.skip(row, BLANK)
        yield line
