"""Diffs: unified, `apply_patch`, and search/replace blocks.

--- a/x.py            *** Begin Patch          <<<<<<< SEARCH
+++ b/x.py            *** Update File: x.py    old
@@ -1,2 +1,2 @@       @@ def f():              =======
 context              -old                     new
-old                  +new                     >>>>>>> REPLACE
+new                  *** End Patch
"""

import re

from traces.boundaries.blocks.document import Document, Kind
from traces.boundaries.label import DIFF_ADD, DIFF_CONTEXT, DIFF_HEADER, DIFF_REMOVE

HEADER: Kind = (DIFF_HEADER, None)
CONTEXT: Kind = (DIFF_CONTEXT, None)
ADD: Kind = (DIFF_ADD, None)
REMOVE: Kind = (DIFF_REMOVE, None)

_HUNK = re.compile(r"@@+ -\d+(?:,(\d+))? \+\d+(?:,(\d+))? @@")
_FILE_HEADER = re.compile(
    r"diff --|index [0-9a-f]|--- |\+\+\+ |(?:new|deleted) file mode |(?:old|new) mode |"
    r"(?:dis)?similarity index |(?:rename|copy) (?:from|to) |Binary files |GIT binary patch|"
    r"Index: |={60,}|\*\*\* (?:Update|Add|Delete|Move|End)"
)
_SEARCH = re.compile(r"(?:<{5,9} ?[A-Za-z]|-{5,9} ?SEARCH\b)")
_MIDDLE = re.compile(r"={5,9}$")
_REPLACE = re.compile(r"(?:>{5,9}|\+{5,9})(?: ?[A-Za-z]|$)")
_STARTERS = frozenset("d-*@<I")


def start_diff(head: str, document: Document) -> Kind | None:
    """Enter the diff that a line begins, or `None` where it begins none.

    ``diff --git``, ``--- old`` above ``+++ new``, a hunk header with its counts,
    ``*** Begin Patch`` and ``<<<<<<< SEARCH`` (or ``------- SEARCH``) begin one.
    """
    if head[:1] not in _STARTERS:
        return None
    if head.startswith("*** Begin Patch"):
        document.push(PatchBlock())
    elif _SEARCH.match(head):
        document.push(SearchReplaceBlock())
    elif head.startswith("diff --git ") or document.heads_file:
        document.push(DiffBlock())
    elif hunk := _HUNK.match(head):
        document.push(DiffBlock(hunk))
    else:
        return None
    return HEADER


class DiffBlock:
    """A unified diff. Unless `closed`, it is left when its hunk counts are used up.

    A closed one (a ```diff fence, a `patch` argument) holds nothing but diff, so counts that a
    model got wrong do no harm there.
    """

    def __init__(self, hunk: re.Match[str] | None = None, *, closed: bool = False) -> None:
        self._closed = closed
        self._in_hunk = False
        self._old = self._new = 0
        self._counted = False
        if hunk:
            self._enter(hunk)

    def line(self, head: str, document: Document) -> Kind | None:
        """Hunk headers and file headers first, then by the first character."""
        if head.startswith("@@"):
            self._enter(_HUNK.match(head))
            return HEADER
        if self._closed and head[:1] in "*<-" and not document.heads_file:
            inner = start_diff(head, document)
            if inner:
                return inner
        if document.heads_file or head.startswith("diff --git "):
            self._in_hunk = False
            return HEADER
        if not self._in_hunk or self._used_up:
            return self._between(head)
        return self._hunk_line(head)

    @property
    def _used_up(self) -> bool:
        return self._counted and self._old <= 0 and self._new <= 0

    def _between(self, head: str) -> Kind | None:
        """A line outside any hunk."""
        if head.startswith("\\"):
            return CONTEXT
        if _FILE_HEADER.match(head):
            self._in_hunk = False
            return HEADER
        if not self._closed:
            return None
        return _by_first_character(head)

    def _hunk_line(self, head: str) -> Kind | None:
        first = head[:1]
        if first not in ("+", "-", " ", "", "\\", "\t") and not self._closed:
            return None
        kind = _by_first_character(head)
        if first != "\\":
            self._old -= kind is not ADD
            self._new -= kind is not REMOVE
        return kind

    def _enter(self, hunk: re.Match[str] | None) -> None:
        self._in_hunk = True
        self._counted = hunk is not None
        if hunk:
            self._old, self._new = (int(n) if n else 1 for n in hunk.groups())


class PatchBlock:
    """An `apply_patch` envelope; it ends with ``*** End Patch``."""

    def __init__(self) -> None:
        self._ended = False

    def line(self, head: str, document: Document) -> Kind | None:
        """``*** …`` and ``@@ …`` are headers, the rest goes by its first character."""
        if self._ended:
            return None
        if head.startswith(("***", "@@")):
            self._ended = head.startswith("*** End Patch")
            return HEADER
        return _by_first_character(head)


class SearchReplaceBlock:
    """A search/replace block: what is searched is removed, what replaces it is added."""

    def __init__(self) -> None:
        self._side = REMOVE
        self._ended = False

    def line(self, head: str, document: Document) -> Kind | None:
        """Separators are headers; the sides are `diff.remove` and `diff.add`."""
        if self._ended:
            return None
        if self._side is REMOVE and _MIDDLE.match(head):
            self._side = ADD
            return HEADER
        if self._side is ADD and _REPLACE.match(head):
            self._ended = True
            return HEADER
        return self._side


def _by_first_character(head: str) -> Kind:
    first = head[:1]
    return ADD if first == "+" else REMOVE if first == "-" else CONTEXT
