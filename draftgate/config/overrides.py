"""What options change in a configuration: the same for the command line and the Python API."""

from collections.abc import Iterable
from os import PathLike, fspath
from typing import Any

Overrides = dict[str, dict[str, Any]]
"""section -> key -> value, laid over the file by `draftgate.config.file.read_config`."""


def overrides(
    *,
    sessions: Iterable[str | PathLike[str]] = (),
    concurrency: int | None = None,
    max_sessions: int | None = None,
    arms: str | None = None,
    db: str | PathLike[str] | None = None,
    allow_missing: bool = False,
    urls: dict[str, Iterable[str]] | None = None,
) -> Overrides:
    """Only what was given: `None` and empty leave the file's own value.

    `urls` holds the URLs to attach to, by path (``baseline``, ``candidate``).
    """
    run = {
        "sessions": tuple(fspath(session) for session in sessions) or None,
        "concurrency": concurrency,
        "max_sessions": max_sessions,
        "arms": arms,
        "db": None if db is None else fspath(db),
        "allow_missing": True if allow_missing else None,
    }
    changed: Overrides = {"run": {key: value for key, value in run.items() if value is not None}}
    for path, given in (urls or {}).items():
        if found := tuple(given):
            changed[path] = {"urls": found}
    return changed
