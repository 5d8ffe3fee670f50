"""One recorded turn a test is about: which it is, and the request that asks for it again."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class RecordedTurn:
    """`name` is short and readable: ``claude-code-03-t0004-read_file``; `session` and `turn` are
    the recorded ids. `request` is the chat-completions request, history and tools included.

    Recorded text is not part of its `repr`, so that a failing test does not print it.
    """

    name: str
    session: str
    turn: str
    request: Mapping[str, Any] = field(repr=False)

    @property
    def tools(self) -> list[dict[str, Any]]:
        """The tools the request offers; empty where it offers none."""
        return list(self.request.get("tools") or [])
