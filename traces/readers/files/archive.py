"""Files of JSON in a zip archive, one in memory at a time."""

import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from traces.errors import InputError
from traces.readers.files.bounded_lines import MAX_LINE_BYTES
from traces.readers.files.json_text import Unreadable, parse_row
from traces.readers.files.ledger import Ledger

UNREADABLE = (
    zipfile.BadZipFile, zlib.error, NotImplementedError, EOFError, OSError, RuntimeError
)  # fmt: skip
"""What Python raises for an archive with damage, a password, or a method it does not know."""

MAGIC = b"PK\x03\x04"


def archived(file: Path, folder: str, ledger: Ledger) -> Iterator[tuple[int, Any]]:
    """The values of the JSON files in a folder of an archive, numbered by name; bad ones are
    entered in the ledger. Raises InputError for an archive of which Python can read none."""
    read = 0
    try:
        with zipfile.ZipFile(file) as archive:
            found = [e for e in archive.infolist() if e.filename.startswith(f"{folder}/")]
            for row, entry in enumerate(sorted(found, key=lambda entry: entry.filename), 1):
                ledger.see(row)
                value, fault = _value(archive, entry)
                if fault:
                    ledger.skip(row, fault)
                    ledger.warn(fault, row)
                    continue
                read += 1
                yield row, value
            if read or not found:
                return
    except (zipfile.BadZipFile, OSError):
        pass
    raise InputError(
        f"{file}: an archive that Python cannot read", "convert it to JSON with its own tool"
    )


def _value(archive: zipfile.ZipFile, entry: zipfile.ZipInfo) -> tuple[Any, str | None]:
    """The value of an entry, or why there is none."""
    if entry.file_size > MAX_LINE_BYTES:
        return None, "too_long"
    try:
        values, _ = parse_row(archive.read(entry))
    except Unreadable as fault:
        return None, str(fault)
    except UNREADABLE:
        return None, "damaged_archive"
    return values[0], None
