"""A file to be imported: opened, decompressed, and cut into rows or read as one document."""

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import IO, Any

from traces.readers.decompression import decompressed
from traces.readers.json_text import Unreadable, parse_row
from traces.readers.ledger import Ledger
from traces.readers.parquet import parquet_rows

PARQUET = b"PAR1"
DAMAGED = "damaged_archive"

SAMPLE_ROWS = 50
SAMPLE_BYTES = 8_000_000
HEAD_BYTES = 65_536
MAX_KEPT_BYTES = 4_000_000


@dataclass(frozen=True, slots=True)
class Sample:
    """What a reader may look at to recognise its format.

    `rows` are the first parsable rows (of JSON Lines, Parquet, or the entries of a JSON array);
    `document` is the whole value if the file is one JSON value; `head` the first characters.
    """

    rows: tuple[Any, ...]
    document: Any
    head: str

    @property
    def objects(self) -> list[dict[str, Any]]:
        """The rows that are JSON objects."""
        return [row for row in self.rows if isinstance(row, dict)]


@dataclass
class SourceFile:
    """`name` is what the user typed; `path` where the bytes are (a spool file for stdin)."""

    path: Path
    name: str
    ledger: Ledger = field(default_factory=Ledger)

    def open(self) -> IO[bytes]:
        """The decompressed bytes, from the start."""
        return decompressed(self.path.open("rb"), self._damaged)

    def _damaged(self) -> None:
        if not any(warning.code == DAMAGED for warning in self.ledger.warnings):
            self.ledger.warn(DAMAGED, None, "read up to the damage")

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
    def document(self) -> Any:
        """The file as one JSON value, or None if it is not one."""
        start = self.head.lstrip(b"\xef\xbb\xbf \t\r\n")
        if self.is_parquet or not start.startswith((b"{", b"[")) or self._first_lines_stand_alone:
            return None
        with self.open() as stream:
            data = stream.read()
        try:
            values, mended = parse_row(data)
        except Unreadable:
            return None
        if len(values) > 1 or (mended and "torn_after_value" in mended):
            return None
        if mended:
            self.ledger.warn(mended)
        return values[0]

    @cached_property
    def _first_lines_stand_alone(self) -> bool:
        """Whether this is JSON Lines with two rows or more."""
        found = 0
        with self.open() as stream:
            for number, line in enumerate(stream):
                if not line.strip():
                    continue
                try:
                    values, _ = parse_row(line)
                except Unreadable:
                    return found > 0 and number > 20
                found += sum(isinstance(value, dict | list) for value in values)
                if found > 1:
                    return True
        return False

    def forget_large(self) -> None:
        """Drop what was parsed to recognise the format, if it is large; it is parsed anew."""
        if self.path.stat().st_size > MAX_KEPT_BYTES:
            self.__dict__.pop("document", None)
            self.__dict__.pop("sample", None)

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
            yield from self._lines()

    def _counted(self, values: Any) -> Iterator[tuple[int, Any]]:
        for row, value in enumerate(values, 1):
            self.ledger.see(row)
            yield row, value

    def _lines(self) -> Iterator[tuple[int, Any]]:
        with self.open() as stream:
            row, pending = 0, None
            for row, line in enumerate(stream, 1):
                self.ledger.see(row)
                if pending is not None:
                    self._bad(*pending)
                    pending = None
                if not line.strip():
                    self.ledger.skip(row, "blank")
                    continue
                try:
                    values, mended = parse_row(line)
                except Unreadable as error:
                    pending = row, str(error)
                    continue
                if mended:
                    self.ledger.warn(mended, row)
                for value in values:
                    yield row, value
            if pending is not None:
                number, reason = pending
                self._bad(number, "torn_tail" if reason == "not_json" and number > 1 else reason)

    def _bad(self, row: int, reason: str) -> None:
        self.ledger.skip(row, reason)
        self.ledger.warn(reason, row)

    @cached_property
    def sample(self) -> Sample:
        """The first rows, without entering them in the ledger."""
        look = SourceFile(self.path, self.name)
        look.__dict__["document"] = self.document
        rows: list[Any] = []
        for _, value in look.rows():
            rows.append(value)
            if len(rows) >= SAMPLE_ROWS:
                break
        return Sample(tuple(rows), self.document, self.head.decode("utf-8", errors="replace"))
