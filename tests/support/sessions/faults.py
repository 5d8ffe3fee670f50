"""The recordings in `tests/recordings/faults`, imported, and what is asked of them."""

import json
from pathlib import Path
from typing import Any

from tests.support.sessions.invariants import check_file
from tests.support.sessions.recordings import texts
from traces.importing.importer import ImportedFile, import_files
from traces.session.render import chat_request
from traces.session.session import Session

FAULTS = Path(__file__).parents[2] / "recordings" / "faults"


def fault(name: str) -> tuple[ImportedFile, list[Session]]:
    """The file of that name, imported."""
    (file,) = import_files([FAULTS / name])
    sessions = list(file.sessions)
    check_file(file, sessions)
    return file, sessions


def prompt(session: Session, turn: int) -> list[str]:
    """The prompt of a turn as roles and contents."""
    return texts(chat_request(session, session.turns[turn])["messages"])


def codes(file: ImportedFile) -> list[str]:
    """The codes of the warnings."""
    return [warning.code for warning in file.warnings]


def asked(session: Session, turn: int) -> list[tuple[str, str, Any]]:
    """The calls of a turn's answer: id, name, arguments."""
    output = session.output(session.turns[turn])
    assert output is not None
    return [(c.id, c.name, json.loads(c.arguments_json)) for c in output.tool_calls]
