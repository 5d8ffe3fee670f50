"""The files that a user's paths name: files, folders, globs, standard input."""

import atexit
import sys
import tempfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from traces.errors import InputError
from traces.readers.files.session_tree import SessionTrees
from traces.user_paths import matching

STDIN = "-"
COPY_BYTES = 1 << 20


@dataclass(slots=True)
class InputFile:
    """`name` is what messages and sessions call the file at `path`; it can be printed."""

    path: Path
    name: str


def expand(paths: Iterable[str | Path]) -> Iterator[InputFile]:
    """Every file, folders recursively and in name order, each file once, hidden ones left out.

    Of a session that is kept as a tree of files, the file of the session stands for all.
    Raises InputError for a path that names nothing.
    """
    seen: set[Path] = set()
    for given in paths:
        if str(given) == STDIN:
            yield _spooled_stdin()
            continue
        for path in _files(str(given)):
            real = path.resolve()
            if real not in seen:
                seen.add(real)
                yield InputFile(path, _printable(str(path)))


def _printable(name: str) -> str:
    """A name that is no UTF-8, or that steers a terminal, without what is so in it."""
    known = name.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
    return "".join(character if character.isprintable() else "\ufffd" for character in known)


def _files(given: str) -> list[Path]:
    named = matching(given)
    found = [file for path in named for file in ([path] if path.is_file() else _inside(path))]
    if found:
        return found
    path = named[0]
    if path.is_dir():
        raise InputError(f"{given}: the folder holds no file", "name one that holds sessions")
    if path.exists():
        raise InputError(
            f"{given}: is neither a file nor a folder", "name files, folders, or globs; - is stdin"
        )
    raise InputError(f"{given}: no such file or folder", "name files, folders, or globs")


def _inside(folder: Path) -> list[Path]:
    files = (path for path in folder.rglob("*") if path.is_file())
    trees = SessionTrees()
    shown = (path for path in files if not _is_hidden(path.relative_to(folder)))
    return sorted(path for path in shown if not trees.holds(path))


def _is_hidden(path: Path) -> bool:
    return any(part.startswith(".") for part in path.parts)


def _spooled_stdin() -> InputFile:
    """Standard input copied to a file, which goes when the process ends.

    Recognizing a format needs the first rows twice.
    """
    with tempfile.NamedTemporaryFile(prefix="draftgate-stdin-", delete=False) as spool:
        while block := sys.stdin.buffer.read(COPY_BYTES):
            spool.write(block)
    path = Path(spool.name)
    atexit.register(path.unlink, missing_ok=True)
    return InputFile(path, STDIN)
