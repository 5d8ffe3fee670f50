"""The bytes that recordings may take, counted for all who write them."""

import time
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock

LOOK_AGAIN_S = 5.0
"""After so long the size of a full folder is looked at again."""

PATTERN = "**/*.jsonl.zst"


@dataclass(slots=True)
class Budget:
    """At most `limit` bytes of recordings and journals in `folder`, those of earlier runs too."""

    folder: Path
    limit: int
    used: int = 0
    _looked_at: float = 0.0
    _lock: Lock = field(default_factory=Lock)

    def __post_init__(self) -> None:
        """Counts what is there."""
        self._look()

    def take(self, size: int) -> bool:
        """Whether `size` more bytes fit; they are counted then."""
        with self._lock:
            full = self.used + size > self.limit
            if full and time.monotonic() - self._looked_at > LOOK_AGAIN_S:
                self._look()
            if self.used + size > self.limit:
                return False
            self.used += size
            return True

    def _look(self) -> None:
        self.used = sum(file.stat().st_size for file in self.folder.glob(PATTERN))
        self._looked_at = time.monotonic()
