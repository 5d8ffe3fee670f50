"""Recognizes the diffs and shell commands that tool calls carry in their arguments."""

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import msgspec

from traces.readers.chat.arguments import Call
from traces.session.turn import Diff, DiffFormat, Shell

PATCH = re.compile(r"^\*\*\* Begin Patch", re.MULTILINE)
UNIFIED = re.compile(r"^(?:--- \S.*\n\+\+\+ \S|@@ -\d+(?:,\d+)? \+\d+(?:,\d+)? @@)", re.MULTILINE)
SEARCH = re.compile(r"^<{5,9} SEARCH", re.MULTILINE)

OLD_AND_NEW = (("old_string", "new_string"), ("old_str", "new_str"), ("oldText", "newText"))
SHELL_ARGUMENTS = ("command", "cmd", "script")
SHELL_TOOLS = re.compile(r"bash|shell|exec|command|terminal|^run$", re.IGNORECASE)
EDITOR_TOOLS = re.compile(r"edit|replace|view|file", re.IGNORECASE)


class Outcome(msgspec.Struct, frozen=True, gc=False):
    """How a command ended, as far as its result says."""

    exit_code: int | None = None
    duration_ms: float | None = None


UNKNOWN = Outcome()


def payloads(
    calls: Sequence[Call], outcomes: Sequence[Outcome | None] = ()
) -> tuple[tuple[Diff, ...], tuple[Shell, ...]]:
    """Which arguments of which call hold a patch or a shell command; `outcomes` go by call."""
    diffs: tuple[Diff, ...] = ()
    shells: tuple[Shell, ...] = ()
    for number, call in enumerate(calls):
        diff = _diff(number, call.arguments)
        if diff is not None:
            diffs += (diff,)
        argument = _shell_argument(call.name, call.arguments)
        if argument is not None:
            ended = (outcomes[number] if number < len(outcomes) else None) or UNKNOWN
            shell = Shell(
                call=number,
                argument=argument,
                exit_code=ended.exit_code,
                duration_ms=ended.duration_ms,
            )
            shells += (shell,)
    return diffs, shells


def diff_format(text: str) -> DiffFormat | None:
    """Which patch language `text` is written in, if any."""
    if "*** Begin Patch" in text and PATCH.search(text):
        return "apply_patch"
    if "<<<<< SEARCH" in text and SEARCH.search(text):
        return "search_replace"
    looks_so = "\n+++ " in text or "@@ -" in text
    return "unified" if looks_so and UNIFIED.search(text) else None


def _diff(number: int, arguments: dict[str, Any]) -> Diff | None:
    for old, new in OLD_AND_NEW:
        if (
            old in arguments
            and isinstance(arguments[old], str)
            and isinstance(arguments.get(new), str)
        ):
            return Diff(call=number, format="search_replace", arguments=(old, new))
    for key, value in arguments.items():
        found = diff_format(value) if isinstance(value, str) and "\n" in value else None
        if found is not None:
            return Diff(call=number, format=found, arguments=(key,))
    return None


@lru_cache(maxsize=1024)
def _runs_commands(tool: str) -> bool:
    return bool(SHELL_TOOLS.search(tool)) and not EDITOR_TOOLS.search(tool)


def _shell_argument(tool: str, arguments: dict[str, Any]) -> str | None:
    if not _runs_commands(tool):
        return None
    for key in SHELL_ARGUMENTS:
        if isinstance(arguments.get(key), (str, list)):
            return key
    return None
