"""Sessions that are kept as a tree of JSON files, one per session, message, and part.

    storage/session/PROJECT/ses_….json     the session
    storage/message/ses_…/msg_….json       its messages
    storage/part/msg_…/prt_….json          their parts

opencode did so before it had a database; at first with ``session/info/ses_….json``,
``session/message/ses_…/`` and ``session/part/ses_…/msg_…/``. The file of the session stands for
all of it.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

LEVELS = 3
"""From the folder of a session's file up to the one that has its messages: fewer than these."""


def message_files(session: Path, name: str) -> Iterator[tuple[Path, list[Path]]]:
    """The messages of the session `name` in file `session`, each with the files of its parts."""
    above = [session.parent, *session.parent.parents][:LEVELS]
    root = next((folder for folder in above if (folder / "message" / name).is_dir()), None)
    if root is None:
        return
    for message in sorted((root / "message" / name).glob("*.json")):
        folders = (root / "part" / message.stem, root / "part" / name / message.stem)
        yield message, [part for folder in folders for part in sorted(folder.glob("*.json"))]


@dataclass(slots=True)
class SessionTrees:
    """Knows which files are read with another one. It looks at each tree once."""

    _pieces: dict[Path, set[Path]] = field(default_factory=dict)

    def holds(self, file: Path) -> bool:
        """Whether `file` is a message or a part of a session whose own file is there."""
        if not file.name.startswith(("msg", "prt")):
            return False
        kinds = (parent for parent in file.parents if parent.name in ("message", "part"))
        return any(file in self._pieces_of(kind.parent) for kind in kinds)

    def _pieces_of(self, root: Path) -> set[Path]:
        pieces = self._pieces.get(root)
        if pieces is None:
            pieces = self._pieces[root] = set()
            for folder in (root / "session", root / "info"):
                for session in folder.rglob("ses*.json"):
                    for message, parts in message_files(session, session.stem):
                        pieces |= {message, *parts}
        return pieces
