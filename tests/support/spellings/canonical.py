"""Session files of draftgate, as `draftgate import` writes them."""

import tempfile
from pathlib import Path

from tests.support.spellings.conversation import Conversation
from tests.support.spellings.logs import chat_messages
from traces.importing.importer import import_files
from traces.session.file import session_lines


def draftgate(talks: list[Conversation]) -> bytes:
    """What importing the conversations as chat rows gives."""
    with tempfile.TemporaryDirectory() as folder:
        rows = Path(folder) / "rows.jsonl"
        rows.write_bytes(chat_messages(talks))
        (file,) = import_files([rows])
        return b"".join(line for session in file.sessions for line in session_lines(session))
