"""Paths as users write them: ``~``, ``$NAME``, ``${NAME}`` and globs mean the same everywhere.

A shell expands them in most places; it does not in a configuration, in ``--db=~/store.duckdb``, or
between quotes.
"""

import glob
import os
import re
from pathlib import Path

from traces.errors import InputError

VARIABLE = re.compile(r"\$(?:(\w+)|\{(\w+)\})")


def expanded(given: str) -> str:
    """`given` with the home folder and environment variables put in; a file that is really called
    so is taken as it is.

    Raises InputError for a variable that is not set.
    """
    if not ("$" in given or given.startswith("~")) or os.path.lexists(given):
        return given
    for found in VARIABLE.finditer(given):
        name = found[1] or found[2]
        if name not in os.environ:
            raise InputError(f"{given}: environment variable {name} is not set", f"export {name}=…")
    return os.path.expanduser(os.path.expandvars(given))


def matching(given: str | Path) -> list[Path]:
    """What `given` matches as a glob, by name; else the one path that it names, there or not."""
    text = expanded(str(given))
    found = [] if os.path.lexists(text) else sorted(glob.glob(text, recursive=True))
    return [Path(name) for name in found or [text]]
