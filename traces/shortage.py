"""What this machine, or a limit set for this process, ran out of: kept apart from servers' faults.

    error: this process may open no more files (Too many open files)
    fix: raise the limit of open files (`ulimit -n`), or lower `concurrency`

A connection that cannot be opened for want of a file handle looks like one that a server refuses,
and would count against that server.
"""

import errno
import os

from traces.errors import MachineError
from traces.output import FIXES

SHORT = {
    errno.EMFILE: "this process may open no more files",
    errno.ENFILE: "this machine has no more open files to give",
    errno.ENOMEM: "this process gets no more memory",
    errno.ENOBUFS: "this machine has no more buffers for connections",
}
"""What an error number of the system says about this machine."""

NO_THREAD = "can't start new thread"
"""How CPython says that no thread is to be had; it is a RuntimeError."""

NOT_LOADED = ("failed to map segment", os.strerror(errno.ENOMEM))
"""How the loader says that a library of a package finds no memory."""

OUTSIDE = {"OutOfMemoryException": "duckdb"}
"""Errors of other packages that say that memory is used up and are no MemoryError: their names, and
where they come from."""


def shortage(error: BaseException) -> MachineError | None:
    """The error for what ran out, or None for an error of another kind."""
    if isinstance(error, MachineError):
        return error
    if isinstance(error, OSError) and error.errno in SHORT:
        return _error(SHORT[error.errno], error.errno)
    kind = type(error)
    if isinstance(error, MemoryError) or OUTSIDE.get(kind.__name__, "-") in kind.__module__:
        return _error(SHORT[errno.ENOMEM], errno.ENOMEM)
    if isinstance(error, ImportError) and any(words in str(error) for words in NOT_LOADED):
        return _error(SHORT[errno.ENOMEM], errno.ENOMEM)
    if isinstance(error, RuntimeError) and NO_THREAD in str(error):
        return _error("this process may start no more threads", errno.EAGAIN)
    return None


def raise_shortage(error: BaseException) -> None:
    """Raise MachineError where `error` says that something ran out; do nothing otherwise."""
    found = shortage(error)
    if found is not None:
        raise found from None


def _error(what: str, number: int) -> MachineError:
    return MachineError(f"{what} ({os.strerror(number)})", FIXES[number])
