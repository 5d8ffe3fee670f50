"""SQLite databases in which a tool keeps its sessions, read without touching them.

A database is opened immutable, so that no lock or journal is written beside it. Changes that its
tool has not yet moved into it stand in a ``-wal`` file; then a copy of both is read.
"""

import shutil
import sqlite3
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any
from urllib.parse import quote

from traces.errors import InputError
from traces.readers.files.ledger import Ledger

MAGIC = b"SQLite format 3\0"
DAMAGED = "damaged_database"
COPY_BYTES = 1 << 20

Row = dict[str, Any]


class Database:
    """The plain tables of a database; views and virtual tables are not looked at.

    What lies behind damage is left out, with one warning in the ledger.
    """

    def __init__(self, connection: sqlite3.Connection, ledger: Ledger) -> None:
        connection.text_factory = _as_text
        self._connection, self._ledger = connection, ledger
        self.columns: dict[str, tuple[str, ...]] = {
            name: tuple(row["name"] for row in self._rows(f"pragma table_info({_named(name)})"))
            for name in [row["name"] for row in self._rows(TABLES)]
        }

    def rows(self, table: str, *, order: Sequence[str] = (), **where: Any) -> Iterator[Row]:
        """Rows with those values, ordered by the columns of `order` that there are."""
        given = [key for key in where if key in self.columns[table]]
        asked = " and ".join(f"{_named(key)} is ?" for key in given)
        by = [_named(key) for key in order if key in self.columns[table]]
        query = f"select * from {_named(table)}"
        query += f" where {asked}" if asked else ""
        query += f" order by {', '.join(by)}" if by else ""
        yield from self._rows(query, *(where[key] for key in given))

    def values(self, table: str, column: str) -> list[Any]:
        """The different values of a column, in their order."""
        key = _named(column)
        query = f"select distinct {key} as found from {_named(table)} order by {key}"
        return [row["found"] for row in self._rows(query)]

    def _rows(self, query: str, *values: Any) -> Iterator[Row]:
        try:
            cursor = self._connection.execute(query, values)
            names = [column[0] for column in cursor.description or ()]
            for row in cursor:
                yield dict(zip(names, row, strict=True))
        except (sqlite3.Error, UnicodeDecodeError, OverflowError):
            if not any(warning.code == DAMAGED for warning in self._ledger.warnings):
                self._ledger.warn(DAMAGED, None, "read up to the damage")


TABLES = "select name from sqlite_master where type = 'table' and sql like 'create table%'"


def _named(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _as_text(data: bytes) -> str:
    return data.decode("utf-8", "replace")


@contextmanager
def opened(file: Path, decompressed: Callable[[], IO[bytes]], ledger: Ledger) -> Iterator[Database]:
    """The database in `file`; `decompressed` opens its bytes if they are compressed."""
    journal = file.with_name(file.name + "-wal")
    with tempfile.TemporaryDirectory(prefix="draftgate-") as folder:
        place, how = file, "mode=ro&immutable=1"
        if not _is_plain(file):
            place = Path(folder) / "copy"
            with decompressed() as stream, place.open("wb") as copy:
                shutil.copyfileobj(stream, copy, COPY_BYTES)
        elif journal.is_file() and journal.stat().st_size:
            place, how = Path(folder) / "copy", "mode=rw"
            shutil.copyfile(file, place)
            shutil.copyfile(journal, place.with_name("copy-wal"))
        connection = sqlite3.connect(f"file:{quote(str(place.resolve()))}?{how}", uri=True)
        try:
            yield Database(_checked(connection, file), ledger)
        finally:
            connection.close()


def _checked(connection: sqlite3.Connection, file: Path) -> sqlite3.Connection:
    """A connection that can read its database and runs no code that the database brings along."""
    try:
        connection.execute("pragma trusted_schema = off")
        connection.execute("select count(*) from sqlite_master").fetchone()
    except sqlite3.Error as error:
        raise InputError(
            f"{file}: not a readable SQLite database", "close its tool, or use its export"
        ) from error
    return connection


def _is_plain(file: Path) -> bool:
    with file.open("rb") as raw:
        return raw.read(len(MAGIC)) == MAGIC
