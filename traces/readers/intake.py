"""What a reader is given besides the file: where blobs go, and the tags the user asked for."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from traces.readers.files.ledger import Ledger
from traces.readers.files.source import SourceFile
from traces.session.blobs import BlobStore


@dataclass(frozen=True, slots=True)
class Intake:
    """`format` is the name of the reader that was chosen."""

    source: SourceFile
    format: str
    blobs: BlobStore = field(default_factory=BlobStore)
    tags: Mapping[str, str] = field(default_factory=dict)

    @property
    def ledger(self) -> Ledger:
        """The account of the file's rows."""
        return self.source.ledger
