"""The tree of a Claude Code log: which rows a response saw, and in which order.

``parentUuid`` is right where the order of rows is not: results of parallel calls stand between the
rows of their response, and a result can precede the row of its own call. Rewinding forks the tree.
Logs without links are read in file order.
"""

from collections import defaultdict
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field

from traces.readers.chat.thread import Thread
from traces.readers.formats.claude.rows import ClaudeRow


@dataclass
class Tree:
    """`parents[i]` is the position of row i's parent in `rows`, None for a root.

    `broken` are positions whose link led nowhere or in a circle; they continue the row before.
    """

    rows: Sequence[ClaudeRow]
    parents: list[int | None] = field(default_factory=list)
    broken: dict[int, None] = field(default_factory=dict)
    _roots: dict[int, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Resolve all links."""
        places: dict[str, list[int]] = defaultdict(list)
        for position, row in enumerate(self.rows):
            if row.uuid:
                places[row.uuid].append(position)
        linked = {(row.session, row.thread) for row in self.rows if row.parent}
        last: dict[tuple[str | None, str], int] = {}
        backward = False
        for position, row in enumerate(self.rows):
            key = row.session, row.thread
            before = last.get(key)
            parent = before
            if row.parent is not None:
                found = [place for place in places.get(row.parent, ()) if place != position]
                earlier = [place for place in found if place < position]
                parent = earlier[-1] if earlier else found[0] if found else before
                backward = backward or (parent is not None and parent > position)
                if not found:
                    self.broken[position] = None
            elif row.linked and key in linked:
                parent = None
            self.parents.append(parent)
            if row.uuid or row.items:
                last[key] = position
        if backward:
            self._cut_circles()

    def _cut_circles(self) -> None:
        """Make the first row of each circle a root."""
        done = [False] * len(self.rows)
        for start in range(len(self.rows)):
            trail: dict[int, None] = {}
            place: int | None = start
            while place is not None and not done[place]:
                if place in trail:
                    oldest = min(list(trail)[list(trail).index(place) :])
                    self.parents[oldest] = None
                    self.broken[oldest] = None
                    break
                trail[place] = None
                place = self.parents[place]
            for passed in trail:
                done[passed] = True

    def kept(self, boundary: int) -> tuple[list[int], int] | None:
        """The rows that a compaction kept, and the row they then stand behind; None if one of them
        is not there."""
        row = self.rows[boundary]
        names = {other.uuid: place for place, other in enumerate(self.rows) if place != boundary}
        kept = [names.get(name) for name in row.kept]
        if row.stretch is not None:
            first, place = names.get(row.stretch[0]), names.get(row.stretch[1])
            while place is not None and place != first:
                kept.append(place)
                place = self.parents[place]
            kept = [place, *reversed(kept)]
        found = [place for place in kept if place is not None]
        behind = names.get(row.anchor, -1)
        if behind < boundary:
            children = (place for place, above in enumerate(self.parents) if above == boundary)
            behind = next(children, -1)
        return None if len(found) < len(kept) or behind < 0 else (found, behind)

    def root(self, position: int) -> int:
        """The first ancestor of a row."""
        passed: list[int] = []
        while position not in self._roots and (parent := self.parents[position]) is not None:
            passed.append(position)
            position = parent
        root = self._roots.get(position, position)
        self._roots.update(dict.fromkeys(passed, root))
        return root


@dataclass
class Path:
    """The rows from a root to one place, with the messages they add; moves along the tree.

    Moving to a near place costs only the difference. `contribute` gives the message names a row
    adds, or None where a compaction forgets everything before it.
    """

    tree: Tree
    contribute: Callable[[int, "Path"], list[str] | None]
    _entered: dict[Hashable, None] = field(default_factory=dict)
    _entries: list[Hashable] = field(default_factory=list)
    _rows: list[int] = field(default_factory=list)
    _places: dict[int, int] = field(default_factory=dict)
    _ends: list[tuple[int, int, int]] = field(default_factory=list)
    _compactions: list[int] = field(default_factory=list)
    _breaks: list[int] = field(default_factory=list)
    _mids: list[str] = field(default_factory=list)

    def move(self, target: int | None, thread: Thread) -> None:
        """Make the prompt of `thread` what it was after row `target`.

        The thread was moved by this path before, and by nothing else since but its answer.
        """
        start, size = self._start, len(self._mids)
        new: list[int] = []
        place = target
        while place is not None and place not in self._places:
            new.append(place)
            place = self.tree.parents[place]
        self._truncate(0 if place is None else self._places[place] + 1)
        size = min(size, len(self._mids))
        for row in reversed(new):
            self._extend(row)
        same = max(0, size - start) if self._start == start else 0
        thread.go_on(self._mids, self._start, same)

    @property
    def _start(self) -> int:
        return self._ends[-1][0] if self._ends else 0

    @property
    def compacted(self) -> bool:
        """Whether a compaction lies on the path."""
        return bool(self._compactions)

    @property
    def broken(self) -> bool:
        """Whether a link that leads nowhere lies on the path, behind the last compaction."""
        return bool(self._breaks) and self._breaks[-1] >= (self._compactions or [0])[-1]

    def enter_group(self, group: Hashable) -> bool:
        """Whether a response is new on this path; it then counts as entered."""
        if group in self._entered:
            return False
        self._entered[group] = None
        self._entries.append(group)
        return True

    def _truncate(self, size: int) -> None:
        for row in self._rows[size:]:
            del self._places[row]
        del self._rows[size:], self._ends[size:]
        _, mids, entries = self._ends[-1] if self._ends else (0, 0, 0)
        for group in self._entries[entries:]:
            del self._entered[group]
        for marks in (self._compactions, self._breaks):
            while marks and marks[-1] >= size:
                marks.pop()
        del self._mids[mids:], self._entries[entries:]

    def _extend(self, row: int) -> None:
        added = self.contribute(row, self)
        start = self._start
        if added is None:
            start = len(self._mids)
            self._compactions.append(len(self._rows))
        if row in self.tree.broken:
            self._breaks.append(len(self._rows))
        self._mids.extend(added or ())
        self._places[row] = len(self._rows)
        self._rows.append(row)
        self._ends.append((start, len(self._mids), len(self._entries)))
