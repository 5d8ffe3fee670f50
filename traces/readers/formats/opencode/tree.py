"""Sessions of opencode from before its database: a file each, beside a tree of messages."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from traces.readers.chat.log import Log
from traces.readers.chat.shapes import items, mapping, text
from traces.readers.files.json_text import embedded
from traces.readers.files.sample import Sample
from traces.readers.files.session_tree import message_files

SESSION_KEYS = frozenset({"projectID", "directory", "title", "version"})


def is_session(sample: Sample) -> bool:
    """Whether a file describes a session and holds none of its messages."""
    document = mapping(sample.document)
    named = text(document.get("id")).startswith("ses") and "messages" not in document
    return named and "time" in document and bool(SESSION_KEYS & document.keys())


def messages_of(session: Path, name: str, log: Log) -> Iterator[tuple[int, Any]]:
    """The messages of the session in file `session`, each with its parts; rows count them."""
    for row, (file, parts) in enumerate(message_files(session, name), 1):
        log.builder.intake.ledger.see(row)
        message = _value(file, row, log)
        if message is None:
            log.builder.intake.ledger.skip(row, "not_json")
        else:
            values = [_value(part, row, log) for part in parts]
            yield row, {"info": message, "parts": values if parts else items(message.get("parts"))}


def _value(file: Path, row: int, log: Log) -> dict[str, Any] | None:
    """The object in a file; where it is none, the prompts of the session miss something."""
    try:
        value = embedded(file.read_bytes())
    except OSError:
        value = None
    if isinstance(value, dict):
        return value
    log.builder.left_out(row, 1)
    log.fidelity = "lossy"
    return None
