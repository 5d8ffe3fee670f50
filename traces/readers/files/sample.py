"""What a reader may look at to recognize its format."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any


@dataclass
class Sample:
    """The beginning of a file.

    `rows` are the first parsable rows (of JSON Lines, Parquet, or the entries of a JSON array),
    `objects` those of them that are JSON objects, `keys` all their keys; `document` is the whole
    value if the file is one JSON value; `beginning` the first bytes. `tables` are the columns of a
    database, by table; `keys` are then the names of its tables.
    """

    rows: tuple[Any, ...]
    document: Any
    beginning: bytes = b""
    tables: Mapping[str, Sequence[str]] = field(default_factory=dict)
    objects: list[dict[str, Any]] = field(init=False)
    keys: frozenset[str] = field(init=False)

    def __post_init__(self) -> None:
        """Look once at what every reader asks for."""
        self.objects = [row for row in self.rows if isinstance(row, dict)]
        self.keys = frozenset(self.tables).union(*self.objects)

    @cached_property
    def head(self) -> str:
        """The first characters."""
        return self.beginning.decode("utf-8", errors="replace")
