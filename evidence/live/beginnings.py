"""The first turns of the sample sessions: many sessions, short prompts, so that a run is cheap."""

from itertools import islice
from pathlib import Path

from traces.importing.importer import import_files
from traces.session.file import write_sessions

SAMPLES = ("traces/samples",)


def write(file: Path, turns: int = 4) -> Path:
    """All sample sessions, cut after their first `turns` replayable turns."""
    file.parent.mkdir(parents=True, exist_ok=True)
    found = (session for source in import_files(SAMPLES) for session in source.sessions)
    write_sessions(
        (
            session.replaced(turns=tuple(islice(session.replayable_turns(), turns)))
            for session in found
        ),
        file,
    )
    return file
