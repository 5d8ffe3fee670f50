"""Opening a DuckDB file, with every way it can go wrong said in one message with its fix."""

import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import duckdb

from reports.store.damage import FIX
from traces.errors import StoreError
from traces.shortage import raise_shortage

RETRY_EVERY_S = 0.1


def connect(
    path: Path, *, read_only: bool, wait_s: float, settings: Mapping[str, Any] | None = None
) -> duckdb.DuckDBPyConnection:
    """A connection to the file at `path` with DuckDB `settings`.

    Waits up to `wait_s` seconds while another process writes to it.

    Raises `StoreError` for a missing, foreign, corrupt, newer or locked file.
    """
    if not path.parent.is_dir():
        fix = "name another with --db" if read_only else "make it, or name another file"
        raise StoreError(f"{path.parent}: there is no such folder", fix)
    if read_only and not path.exists():
        what = "there is no store" if path.suffix else "there is no such folder, and no store"
        raise StoreError(f"{path}: {what}", "run `draftgate gate` first, or name another with --db")
    if path.is_dir():
        raise StoreError(f"{path}: is a folder, not a store", "name the .duckdb file with --db")
    deadline = time.monotonic() + wait_s
    while True:
        try:
            return duckdb.connect(str(path), read_only=read_only, config=dict(settings or {}))
        except duckdb.Error as error:
            raise_shortage(error)
            if not _is_locked(error):
                raise _explained(path, error) from error
            if time.monotonic() >= deadline:
                raise StoreError(
                    f"{path}: another program has it open ({_first_line(error)})",
                    "wait until it has finished, or close it, and run the command again",
                ) from error
            time.sleep(RETRY_EVERY_S)


def _is_locked(error: duckdb.Error) -> bool:
    text = str(error)
    return "Could not set lock" in text or "different configuration than existing" in text


def _first_line(error: duckdb.Error) -> str:
    return str(error).splitlines()[0]


def _explained(path: Path, error: duckdb.Error) -> StoreError:
    text = _first_line(error)
    if "version number" in text or "newer version" in text:
        return StoreError(
            f"{path}: written by another version of DuckDB ({text})",
            f"this one is {duckdb.__version__}; `pip install -U duckdb`",
        )
    if "not a valid DuckDB" in str(error):
        return StoreError(f"{path}: is not a DuckDB file", "name the store with --db")
    if isinstance(error, duckdb.PermissionException) or "Permission denied" in text:
        return StoreError(f"{path}: may not be opened ({text})", "check the file's permissions")
    return StoreError(f"{path}: cannot be opened; the file may be damaged ({text})", FIX)
