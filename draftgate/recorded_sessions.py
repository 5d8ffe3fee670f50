"""Recorded sessions of any known format, for scripts and suites that replay or count them."""

import warnings
from collections.abc import Iterable, Iterator
from os import PathLike, fspath

from traces.errors import InputError
from traces.importing.importer import ImportedFile, import_files
from traces.session.session import Session


class UnreadFileWarning(UserWarning):
    """A file among those named held no session that could be read."""


def read_sessions(
    files: Iterable[str | PathLike[str]], format: str | None = None
) -> Iterator[Session]:
    """Every session of `files` (files, folders, globs), one at a time in memory.

    A file no reader fits is warned about. Raises InputError for a path that does not exist, and,
    at the end, where no file held a session.
    """
    unread: list[ImportedFile] = []
    found = 0
    for file in import_files((fspath(name) for name in files), format=format):
        yield from file.sessions
        found += file.counts.sessions
        if not file.counts.sessions:
            unread.append(file)
            text = f"{file.file}: {file.reason or 'no session in it'}"
            warnings.warn(text, UnreadFileWarning, stacklevel=2)
    if not found:
        reasons = [f"{file.file}: {file.reason or 'no session in it'}" for file in unread[:5]]
        raise InputError(
            f"no session was found ({'; '.join(reasons) or 'no file named'})",
            "`draftgate inspect FILES` shows what is in them",
        )
