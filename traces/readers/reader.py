"""What a reader of a format is."""

from collections.abc import Iterator
from typing import Protocol

from traces.readers.files.sample import Sample
from traces.readers.intake import Intake
from traces.session.session import Session


class Reader(Protocol):
    """Recognizes one format by its structure and reads its sessions.

    `match` gives the share of the sample that looks like the format, 0 to 1, from several rows and
    never from a file name. `read` accounts for every row in the ledger; it raises nothing for odd
    content. A format without text to replay sets `unsupported` to the reason.
    """

    @property
    def format(self) -> str:
        """Name of the format."""

    @property
    def unsupported(self) -> str | None:
        """Why no session can be made of this format, if none can."""

    @property
    def keys(self) -> frozenset[str]:
        """Keys of which the rows of any file in the format hold one; empty if it is no JSON."""

    def match(self, sample: Sample) -> float:
        """How well the sample fits, 0 to 1."""

    def read(self, intake: Intake) -> Iterator[Session]:
        """The sessions of the file, one at a time."""


def share(sample: Sample, fits: int) -> float:
    """`fits` as a share of the sampled rows."""
    return fits / len(sample.rows) if sample.rows else 0.0
