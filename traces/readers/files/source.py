"""A file to be imported: opened, decompressed, and cut into rows or read as one document."""

import hashlib
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from functools import cached_property, partial
from itertools import islice
from pathlib import Path
from typing import IO, Any

from traces.readers.files import database
from traces.readers.files.decompression import decompressed
from traces.readers.files.json_document import JsonDocument
from traces.readers.files.json_lines import JsonLines
from traces.readers.files.ledger import Ledger
from traces.readers.files.parquet import parquet_rows
from traces.readers.files.sample import Sample

PARQUET = b"PAR1"
DAMAGED = "damaged_archive"

SAMPLE_ROWS = 50
SAMPLE_LINES = 500
"""A file without a row in these lines is no JSON Lines."""

SAMPLE_BYTES = 8_000_000
HEAD_BYTES = 262_144
BUFFER_BYTES = 262_144
"""Lines can be long: with a small buffer they are put together from many pieces."""

MAX_KEPT_BYTES = 64_000_000


@dataclass
class SourceFile:
    """`name` is what the user typed; `path` where the bytes are (a spool file for stdin)."""

    path: Path
    name: str
    ledger: Ledger = field(default_factory=Ledger)

    def open(self) -> IO[bytes]:
        """The decompressed bytes, from the start."""
        return _opened(self.path, self.ledger)

    @cached_property
    def sha256(self) -> str:
        """sha256 of the file as stored."""
        with self.path.open("rb") as raw:
            return hashlib.file_digest(raw, "sha256").hexdigest()

    @cached_property
    def head(self) -> bytes:
        """The first decompressed bytes."""
        with self.open() as stream:
            return stream.read(HEAD_BYTES)

    @cached_property
    def is_parquet(self) -> bool:
        """Whether the file is Apache Parquet."""
        return self.head.startswith(PARQUET)

    @cached_property
    def is_database(self) -> bool:
        """Whether the file is a SQLite database."""
        return self.head.startswith(database.MAGIC)

    def database(self) -> AbstractContextManager[database.Database]:
        """The database in the file, open as long as the context lasts."""
        return database.opened(self.path, self.open, self.ledger)

    @cached_property
    def document(self) -> Any:
        """The file as one JSON value, or None if it is not one.

        Raises InputError for a value too large to be read as a whole.
        """
        start = self.head.lstrip(b"\xef\xbb\xbf \t\r\n")
        if self.is_parquet or not start.startswith((b"{", b"[")):
            return None
        size = self.path.stat().st_size
        return JsonDocument(self.name, size, self.open, self._lines, self.ledger).value()

    @cached_property
    def _lines(self) -> JsonLines:
        # A method of this object would keep it, and its document, until the collector finds them.
        return JsonLines(partial(_opened, self.path, self.ledger))

    @cached_property
    def sample(self) -> Sample:
        """The first rows, without entering them in the ledger."""
        if self.is_database:
            with self.database() as found:
                return Sample((), None, tables=found.columns)
        rows = tuple(islice(self._first_values(), SAMPLE_ROWS))
        return Sample(rows, self.document, self.head)

    def _first_values(self) -> Iterator[Any]:
        if self.is_parquet:
            yield from parquet_rows(self.path)
        elif isinstance(self.document, list):
            yield from self.document
        elif self.document is not None:
            yield self.document
        else:
            for line in self._lines.look():
                yield from line.values
                if line.row >= SAMPLE_LINES or self._lines.looked_at > SAMPLE_BYTES:
                    return

    def forget_large(self) -> None:
        """Drop what was parsed to recognize the format, if it is large; it is parsed anew."""
        if self.path.stat().st_size > MAX_KEPT_BYTES:
            for name in ("document", "sample", "_lines"):
                self.__dict__.pop(name, None)

    def rows(self) -> Iterator[tuple[int, Any]]:
        """Every row with its number, from 1; bad ones are counted and left out.

        Rows are the lines of JSON Lines, the rows of a Parquet file, or, where the file is one
        JSON value, the entries of the array or the value itself.
        """
        if self.is_parquet:
            yield from self._counted(parquet_rows(self.path))
        elif isinstance(self.document, list):
            yield from self._counted(self.document)
        elif self.document is not None:
            yield from self._counted([self.document])
        else:
            lines = self._lines
            del self.__dict__["_lines"]
            yield from lines.read(self.ledger)

    def _counted(self, values: Iterable[Any]) -> Iterator[tuple[int, Any]]:
        for row, value in enumerate(values, 1):
            self.ledger.see(row)
            yield row, value


def _opened(path: Path, ledger: Ledger) -> IO[bytes]:
    return decompressed(path.open("rb", buffering=BUFFER_BYTES), partial(_damaged, ledger))


def _damaged(ledger: Ledger) -> None:
    if not any(warning.code == DAMAGED for warning in ledger.warnings):
        ledger.warn(DAMAGED, None, "read up to the damage")
