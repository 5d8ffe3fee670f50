"""Prose with what Markdown may hold, source code, and echoed output."""

import re
from collections.abc import Callable

from traces.boundaries.blocks.diff_block import DiffBlock, start_diff
from traces.boundaries.blocks.document import Block, Document, Kind
from traces.boundaries.blocks.language import (
    DIFFS,
    OUTPUTS,
    PROSES,
    SESSIONS,
    SHELLS,
    fence_language,
)
from traces.boundaries.blocks.shell_block import ShellBlock
from traces.boundaries.label import CODE, OUTPUT, PROSE

_FENCE = re.compile(r"[ \t>]*(?:[-*+] |\d+[.)] )?[ \t]*(`{3,}|~{3,})([^`]*)$")


class ProseBlock:
    """Text for a reader: fences and diffs in it are blocks of their own.

    `label` is `prose`, or `tool.string` for a string argument of which nothing is known.
    """

    def __init__(self, label: str = PROSE) -> None:
        self._kind: Kind = (label, None)

    def line(self, head: str, document: Document) -> Kind | None:
        """The label of the text, unless a fence or a diff begins here."""
        if "```" in head or "~~~" in head:
            fence = _FENCE.match(head)
            if fence:
                closes = _closing(fence.group(1))
                document.enclose(fenced_block(fence.group(2)), closes, self._kind)
                return self._kind
        return start_diff(head, document) or self._kind


class CodeBlock:
    """Source code of one language; patches and search/replace blocks may stand in it.

    Where the language is not known, a unified diff may begin too.
    """

    def __init__(self, language: str | None) -> None:
        self._kind: Kind = (CODE, language)
        self._starters = "*<-" if language else "*<-d@"

    def line(self, head: str, document: Document) -> Kind | None:
        """Code, unless a diff begins here."""
        if head[:1] and head[0] in self._starters:
            return start_diff(head, document) or self._kind
        return self._kind


class OutputBlock:
    """What a command printed."""

    def line(self, head: str, document: Document) -> Kind | None:
        """Every line is output."""
        return (OUTPUT, None)


def fenced_block(info: str) -> Block:
    """The block a fence with this info string holds."""
    language = fence_language(info)
    if language in DIFFS:
        return DiffBlock(closed=True)
    if language in SHELLS:
        return ShellBlock(inner=code_or_prose)
    if language in SESSIONS:
        return ShellBlock(inner=code_or_prose, session=True)
    if language in OUTPUTS:
        return OutputBlock()
    return CodeBlock(language)


def code_or_prose(language: str | None) -> Block:
    """The block a file of this language holds; without a language, a text of no known kind."""
    if language in DIFFS:
        return DiffBlock(closed=True)
    return ProseBlock() if language in PROSES else CodeBlock(language)


def _closing(marker: str) -> Callable[[str], bool]:
    pattern = re.compile(rf"[ \t>]*{re.escape(marker[0])}{{{len(marker)},}}[ \t]*$")
    return lambda head: pattern.match(head) is not None
