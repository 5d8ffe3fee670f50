"""Writing files, so that what the system refuses is one message, and nothing is left half-written.

report.html: cannot be written (No space left on device)
fix: free some space on that disk, or name a place on another one
"""

import contextlib
import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from traces.errors import OutputError

FIXES = {
    errno.ENOENT: "check the path; a folder on the way to it may be missing",
    errno.ENOTDIR: "a part of this path is a file; name a folder there",
    errno.EISDIR: "name a file, not a folder",
    errno.EACCES: "check the permissions, or name another place",
    errno.EPERM: "check the permissions, or name another place",
    errno.EROFS: "this place is read-only; name another",
    errno.ENOSPC: "free some space on that disk, or name a place on another one",
    errno.EDQUOT: "free some space (the quota is used up), or name a place on another disk",
    errno.EMFILE: "raise the limit of open files (`ulimit -n`), or lower `concurrency`",
    errno.ENFILE: "close other programs, or raise the machine's limit of open files",
    errno.ENOMEM: "free some memory or raise the limit (`ulimit -v`), or lower `concurrency`",
    errno.ENOBUFS: "lower `concurrency`, or close programs with many connections",
    errno.EAGAIN: "raise the limit of processes (`ulimit -u`) or of memory (`ulimit -v`)",
    errno.EFBIG: "raise the limit on the size of files (`ulimit -f`), or name another place",
}


def fix_of(error: OSError) -> str:
    """What the user can do about it."""
    return FIXES.get(error.errno or 0, "fix what the message names, and run the command again")


def not_written(file: Path, error: OSError) -> OutputError:
    """The error for a file or folder that the system does not let be written."""
    return OutputError(f"{file}: cannot be written ({error.strerror or error})", fix_of(error))


@contextmanager
def writing(file: Path) -> Iterator[None]:
    """Raise OutputError for what the system refuses while `file` (or a folder) is written."""
    try:
        yield
    except OSError as error:
        raise not_written(file, error) from None


@contextmanager
def whole_file(file: Path) -> Iterator[Path]:
    """A file to write to in place of `file`, which it becomes at the end, or never.

    What is no regular file (``/dev/stdout``, a pipe) is written as it is. Raises OutputError.
    """
    with writing(file):
        if file.exists() and not file.is_file():
            yield file
            return
        target = file.resolve()
        part = target.with_name(f".{target.name}.part")
        try:
            yield part
            os.replace(part, target)
        finally:
            with contextlib.suppress(OSError):
                part.unlink(missing_ok=True)


def write_whole(file: Path, text: str) -> None:
    """Write a text file, whole or not at all. Raises OutputError."""
    with whole_file(file) as part:
        part.write_text(text, encoding="utf-8")
