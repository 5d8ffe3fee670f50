"""What ends a question to a store: damage in the middle of the file, no more memory, Ctrl-C.

DuckDB reads blocks as a question needs them, so a file that was cut off may open, answer some
questions, and fail at any later one.
"""

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import duckdb

from traces.errors import StoreError
from traces.output import FIXES
from traces.shortage import raise_shortage

KINDS = (
    duckdb.IOException,
    duckdb.SerializationException,
    duckdb.InternalException,
    duckdb.FatalException,
)
"""What DuckDB raises for a block that it cannot read, and after that for everything."""

INTERRUPTED = "interrupted"
"""In what DuckDB says of a question that Ctrl-C has ended."""

FIX = (
    "restore it from a copy, or move it away: `draftgate gate --resume RUN` stores a run again "
    "from its journals"
)


def damaged(path: Path | str, error: duckdb.Error) -> StoreError:
    """The error for a store that cannot be read."""
    text = str(error).splitlines()[0]
    if os.strerror(errno.ENOSPC) in text:
        return StoreError(f"{path}: {text}", FIXES[errno.ENOSPC])
    return StoreError(f"{path}: cannot be read; the file may be damaged ({text})", FIX)


@contextmanager
def reading(path: Path | str) -> Iterator[None]:
    """Raise StoreError for a damaged store, MachineError where memory is used up, and
    KeyboardInterrupt for Ctrl-C."""
    try:
        with interruptible():
            yield
    except duckdb.Error as error:
        raise_shortage(error)
        if isinstance(error, KINDS):
            raise damaged(path, error) from error
        raise


@contextmanager
def interruptible() -> Iterator[None]:
    """Raise KeyboardInterrupt for Ctrl-C, of which DuckDB makes an error of its own."""
    try:
        yield
    except (RuntimeError, duckdb.InterruptException) as error:
        if INTERRUPTED in str(error).lower():
            raise KeyboardInterrupt from None
        raise
