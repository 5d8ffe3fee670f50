"""How the calls of two answers to one request differ: in nothing, in spelling, in form, in effect.

    same            the same names and argument texts
    spelling        the same names and JSON values
    cosmetic        other values, by which a client does the same: shell commands that run the same
                    words, edits that make the same file, other spelling of a path, white space at
                    the end; or text that is no JSON on either side and differs in closing brackets
    consequential   everything else: another number or order of calls, another tool or value

What each argument holds (a command, a patch, a path) is read off the tool, its schema and the
argument's name, as boundaries are (`traces.boundaries.arguments.content`). What is not known to be
harmless is consequential.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

from checks.calls.patches import normal_path, same_patch, same_replacement
from checks.calls.recorded_files import recorded_files
from checks.calls.shell import canonical
from checks.formats import json_values
from checks.formats.json_values import NotJson
from traces.boundaries.arguments.content import PATH_KEYS, Call, schemas
from traces.boundaries.blocks.diff_block import DiffBlock
from traces.boundaries.blocks.shell_block import ShellBlock
from traces.wire.response import ToolCall

Change = Literal["same", "spelling", "cosmetic", "consequential"]
CHANGES: tuple[Change, ...] = ("same", "spelling", "cosmetic", "consequential")
"""From nothing to everything."""

CLOSERS = "]}" + json_values.SPACE
OLD_KEYS = ("old_string", "old_str", "oldtext", "old_text", "search")
NEW_KEYS = ("new_string", "new_str", "newtext", "new_text", "replace")


class Comparison:
    """Calls of answers to one request; its files are read from the history once, when asked."""

    def __init__(self, request: Mapping[str, Any]) -> None:
        self._request = request

    @cached_property
    def files(self) -> Mapping[str, str]:
        """Recorded texts by path."""
        return recorded_files(self._request)

    @cached_property
    def catalog(self) -> Mapping[str, Mapping[str, Any]]:
        """Argument schemas by tool."""
        return schemas(self._request.get("tools") or ())

    def change(self, baseline: Sequence[ToolCall], candidate: Sequence[ToolCall]) -> Change | None:
        """The largest change of any call; `None` where neither side calls."""
        if not baseline and not candidate:
            return None
        if [call.name for call in baseline] != [call.name for call in candidate]:
            return "consequential"
        found = [self._of_call(*both) for both in zip(baseline, candidate, strict=True)]
        return max(found, key=CHANGES.index)

    def _of_call(self, baseline: ToolCall, candidate: ToolCall) -> Change:
        if baseline.arguments == candidate.arguments:
            return "same"
        left, right = _value(baseline.arguments), _value(candidate.arguments)
        if left is None or right is None:
            return "cosmetic" if same_but_for_closers(baseline, candidate) else "consequential"
        if json_values.equal(left[0], right[0]):
            return "spelling"
        arguments = _Arguments(Call(self.catalog, candidate.name), self)
        return "cosmetic" if arguments.alike(left[0], right[0]) else "consequential"


def same_but_for_closers(baseline: ToolCall, candidate: ToolCall) -> bool:
    """Two texts, no JSON either, of which one has closing brackets or white space more at its end.

    A server that cannot parse what the model wrote guesses where it ends; no client runs either.
    """
    texts = [call.arguments for call in (baseline, candidate)]
    broken = all(_value(text) is None for text in texts)
    return broken and texts[0].rstrip(CLOSERS) == texts[1].rstrip(CLOSERS)


def _value(text: str) -> tuple[Any] | None:
    """The JSON value, boxed; `None` where the text is none."""
    try:
        return (json_values.parse(text),)
    except NotJson:
        return None


@dataclass(frozen=True, slots=True)
class _Arguments:
    """The arguments of one call on both sides."""

    call: Call
    known: Comparison

    def alike(self, left: Any, right: Any, key: str = "") -> bool:
        """Whether a client does the same with both values of an argument."""
        if isinstance(left, dict) and isinstance(right, dict):
            if left.keys() != right.keys():
                return False
            rest = [k for k in left if not json_values.equal(left[k], right[k])]
            if self._same_edit(left, right, rest):
                return True
            return all(self.alike(left[k], right[k], k) for k in rest)
        if isinstance(left, list) and isinstance(right, list):
            pairs = zip(left, right, strict=False)
            return len(left) == len(right) and all(self.alike(*both, key) for both in pairs)
        if isinstance(left, str) and isinstance(right, str):
            return self._same_text(left, right, key)
        return json_values.equal(left, right)

    def _same_text(self, left: str, right: str, key: str) -> bool:
        if left.rstrip() == right.rstrip():
            return key.lower() not in (*OLD_KEYS, *NEW_KEYS)
        if key.lower() in PATH_KEYS:
            return normal_path(left) == normal_path(right)
        block = self.call.block(key)
        if isinstance(block, ShellBlock):
            commands = canonical(left), canonical(right)
            return commands[0] is not None and commands[0] == commands[1]
        return isinstance(block, DiffBlock) and same_patch(left, right, self.known.files)

    def _same_edit(
        self, left: Mapping[str, Any], right: Mapping[str, Any], rest: list[str]
    ) -> bool:
        """Old and new text of an edit that differ, and make the same of a recorded file."""
        names = {key.lower(): key for key in left}
        old = next((names[k] for k in OLD_KEYS if k in names), None)
        new = next((names[k] for k in NEW_KEYS if k in names), None)
        path = next((names[k] for k in PATH_KEYS if k in names), None)
        if old is None or new is None or path is None or not set(rest) <= {old, new}:
            return False
        texts = [side[key] for side in (left, right) for key in (old, new, path)]
        if not all(isinstance(text, str) for text in texts):
            return False
        file = self.known.files.get(normal_path(left[path]))
        edits = (left[old], left[new]), (right[old], right[new])
        return file is not None and same_replacement(*edits, file)
