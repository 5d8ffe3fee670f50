"""Whether another package, or a folder of the user's, stands in for one of draftgate's own.

The import packages are plain words, so a folder `checks/` in front on the path, or another
distribution that installs `reports`, is found in their place. Only the standard library is used
here: this must work where nothing of draftgate's own can be imported.
"""

import importlib.metadata
import importlib.util
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

ROOMS = ("traces", "replay", "checks", "reports", "draftgate")

FIX = (
    "rename that folder or package, or install draftgate in an environment of its own (pipx, venv)"
)


@dataclass(frozen=True, slots=True)
class Shadow:
    """`room` is the package, `found` what stands in for it.

    `import checks` finds /home/me/project/checks, not draftgate's
    """

    room: str
    found: str

    def __str__(self) -> str:
        return f"`import {self.room}` finds {self.found}, not draftgate's"


def shadows(rooms: Sequence[str] = ROOMS) -> Iterator[Shadow]:
    """Rooms that `import` would not find where this package lies."""
    home = Path(__file__).resolve().parents[2]
    for room in rooms:
        try:
            spec = importlib.util.find_spec(room)
        except (ImportError, ValueError):
            spec = None
        places = list(spec.submodule_search_locations or []) if spec else []
        if any(Path(place).resolve().parent == home for place in places):
            continue
        where = places[0] if places else (spec.origin if spec and spec.origin else "nothing")
        yield Shadow(room, where)


def sharers(rooms: Sequence[str] = ROOMS) -> Iterator[Shadow]:
    """Rooms into which another installed distribution writes its files too."""
    owners = importlib.metadata.packages_distributions()
    for room in rooms:
        others = sorted({name for name in owners.get(room, []) if name.lower() != "draftgate"})
        if others:
            yield Shadow(room, f"files of the package {', '.join(others)} in the same folder")
