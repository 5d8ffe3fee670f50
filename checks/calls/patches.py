"""Edits compared by the file they make, where the session holds that file; else by their hunks.

Read are unified diffs (``--- a/x``, ``+++ b/x``, ``@@``) and the patches of ``apply_patch``
(``*** Update File: x``). Line numbers do not count: models miscount them, and tools search for the
lines. White space at the end of a line does not count either.
"""

import posixpath
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

OLD_FILE = re.compile(r"--- (?:a/)?(\S+)")
NEW_FILE = re.compile(r"\+\+\+ (?:b/)?(\S+)")
ACTION = re.compile(r"\*\*\* (Update|Add|Delete) File: (.+)")


@dataclass(slots=True)
class FilePatch:
    """What a patch does to one file. A hunk is (lines it replaces, lines it puts there)."""

    action: str
    path: str
    hunks: list[tuple[list[str], list[str]]] = field(default_factory=list)

    @property
    def form(self) -> tuple[object, ...]:
        """For comparison."""
        hunks = tuple((tuple(old), tuple(new)) for old, new in self.hunks if old or new)
        return (self.action, self.path, hunks)


def normal_path(path: str) -> str:
    """Without ``./``, doubled and trailing slashes; ``..`` stays, for a link may stand before it.

    >>> normal_path("./src//a.py")
    'src/a.py'
    """
    parts = [part for part in path.strip().split("/") if part not in ("", ".")]
    return ("/" if path.strip().startswith("/") else "") + posixpath.join(*parts, "")[:-1]


def same_patch(left: str, right: str, files: Mapping[str, str]) -> bool:
    """Whether two patches change the same files in the same way; `files` are recorded texts."""
    ones, others = list(_parse(left)), list(_parse(right))
    if not ones or not others:
        return _lines(left) == _lines(right)
    if [p.form for p in ones] == [p.form for p in others]:
        return True
    if [(p.action, p.path) for p in ones] != [(p.action, p.path) for p in others]:
        return False
    for one, other in zip(ones, others, strict=True):
        text = files.get(one.path)
        if one.form == other.form:
            continue
        made = None if text is None else (_applied(one, text), _applied(other, text))
        if made is None or made[0] is None or made[0] != made[1]:
            return False
    return True


def _lines(text: str) -> list[str]:
    return [line.rstrip() for line in text.strip("\n").split("\n")]


def _parse(patch: str) -> Iterator[FilePatch]:
    """The files of a patch, each with its hunks; nothing where the text is no patch."""
    current: FilePatch | None = None
    for line in _lines(patch):
        named = ACTION.match(line)
        if named or OLD_FILE.match(line):
            if current is not None:
                yield current
            match = named or OLD_FILE.match(line)
            assert match is not None
            action = named[1] if named else "Update"
            current = FilePatch(action, normal_path(match[match.lastindex or 1]))
        elif current is None or line.startswith(("*** ", "diff --git", "index ")):
            continue
        elif (new := NEW_FILE.match(line)) is not None:
            current.path = normal_path(new[1])
        elif line.startswith("@@"):
            current.hunks.append(([], []))
        else:
            if not current.hunks:
                current.hunks.append(([], []))
            old, new_lines = current.hunks[-1]
            if line[:1] != "+":
                old.append(line[1:])
            if line[:1] != "-":
                new_lines.append(line[1:])
    if current is not None:
        yield current


def _applied(patch: FilePatch, text: str) -> list[str] | None:
    """The file's lines after the patch; `None` where a hunk fits nowhere, or at several places."""
    lines = _lines(text)
    for old, new in patch.hunks:
        places = [i for i in range(len(lines) - len(old) + 1) if lines[i : i + len(old)] == old]
        if len(places) != 1 or not old:
            return None
        lines[places[0] : places[0] + len(old)] = new
    return lines


def same_replacement(left: tuple[str, str], right: tuple[str, str], text: str) -> bool:
    """Whether two replacements (old text, new text) make the same file of `text`."""
    made = [text.replace(*edit) for edit in (left, right) if text.count(edit[0]) == 1 and edit[0]]
    return len(made) == 2 and made[0] == made[1]


NUMBERED = re.compile(r"\s*\d+(?:\t|→|\| ?|: )")


def unnumbered(text: str) -> str:
    """A file as a tool showed it, without the line numbers in front, where every line has one."""
    lines: Sequence[str] = text.split("\n")
    shown = [line for line in lines if line.strip()]
    if not shown or not all(NUMBERED.match(line) for line in shown):
        return text
    return "\n".join(NUMBERED.sub("", line, count=1) for line in lines)
