"""Which session a request belongs to: the one whose last prompt and answer it continues.

    [system, user]                               a new session, s1
    [system, user, answer of s1, result]         s1 again
    [system, user]                               another session, s2: nothing of s1 is in it
    [other system, task]                         a sub-agent: a session of its own

Messages are compared without their reasoning, which clients often do not send back. A request that
repeats more of one session than of any other, up to the end of one of its turns, belongs to that
session, also where another turn has continued from there (a fork). A history that was compacted
begins a new session.
"""

import hashlib
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, field

from traces.readers.chat.repeated import Entry

MAX_SESSIONS = 4096
"""Sessions that are remembered; the one unused for longest is forgotten first."""

Place = bytes
"""Names the beginning of a conversation: the chained hash of its messages."""


@dataclass(slots=True)
class _Known:
    """A session's own places: ends of turns with the answer, and ends of prompts without it."""

    answered: list[Place] = field(default_factory=list)
    asked: list[Place] = field(default_factory=list)


@dataclass(slots=True)
class Stitcher:
    """Finds sessions by prefix. `prefix` begins every name it gives."""

    prefix: str
    forgotten: list[str] = field(default_factory=list)
    _sessions: OrderedDict[str, _Known] = field(default_factory=OrderedDict)
    _leaves: dict[Place, list[str]] = field(default_factory=dict)
    _passed: dict[Place, str] = field(default_factory=dict)
    _asked: dict[Place, list[str]] = field(default_factory=dict)
    _count: int = 0

    def session_of(self, prompt: Sequence[Entry], answer: Entry) -> tuple[str, bool]:
        """The session of a finished turn, and whether it begins with it."""
        places = _places(prompt)
        name = self._continued(prompt, places)
        is_new = name is None
        if name is None:
            self._count += 1
            name = f"{self.prefix}-{self._count:06d}"
        self._remember(name, places[-1] if places else b"", answer)
        return name, is_new

    def _continued(self, prompt: Sequence[Entry], places: Sequence[Place]) -> str | None:
        for size in range(len(places), 0, -1):
            place = places[size - 1]
            if found := self._leaves.get(place):
                name = found.pop(0)
                if not found:
                    del self._leaves[place]
                self._passed[place] = name
                return name
            if place in self._passed:
                return self._passed[place]
            answered_otherwise = size < len(prompt) and prompt[size].message.role == "assistant"
            if answered_otherwise and (found := self._asked.get(place)):
                return found.pop(0) if len(found) > 1 else found[0]
        return None

    def _remember(self, name: str, asked: Place, answer: Entry) -> None:
        known = self._sessions.setdefault(name, _Known())
        self._sessions.move_to_end(name)
        end = _chained(asked, answer)
        known.answered.append(end)
        known.asked.append(asked)
        self._leaves.setdefault(end, []).append(name)
        self._asked.setdefault(asked, []).append(name)
        if len(self._sessions) > MAX_SESSIONS:
            self._forget(next(iter(self._sessions)))

    def _forget(self, name: str) -> None:
        known = self._sessions.pop(name)
        for table, places in ((self._leaves, known.answered), (self._asked, known.asked)):
            for place in places:
                left = [other for other in table.pop(place, []) if other != name]
                if left:
                    table[place] = left
        for place in known.answered:
            if self._passed.get(place) == name:
                del self._passed[place]
        self.forgotten.append(name)


def _places(prompt: Sequence[Entry]) -> list[Place]:
    places, last = [], b""
    for entry in prompt:
        last = _chained(last, entry)
        places.append(last)
    return places


def _chained(before: Place, entry: Entry) -> Place:
    return hashlib.sha256(before + entry.key.encode()).digest()[:16]
