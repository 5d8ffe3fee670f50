"""`SHA256SUMS` of the committed weights, in the form that `sha256sum -c` reads."""

from __future__ import annotations

import hashlib
from pathlib import Path

NAME = "SHA256SUMS"


def computed(folder: Path) -> dict[str, str]:
    """{path relative to `folder`: sha256 in hex} of every file below it but the list itself."""
    return {
        path.relative_to(folder).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.name != NAME
    }


def recorded(folder: Path) -> dict[str, str]:
    lines = (folder / NAME).read_text(encoding="utf-8").splitlines()
    return {name: digest for digest, name in (line.split("  ", 1) for line in lines)}


def write(folder: Path) -> None:
    text = "".join(f"{digest}  {name}\n" for name, digest in computed(folder).items())
    (folder / NAME).write_text(text, encoding="utf-8")
