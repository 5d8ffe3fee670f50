"""Shell: command lines with their heredocs, and console sessions that echo output.

$ cat > a.py <<'EOF'      command
print(1)                  code, python: the file name says so
EOF                       command
$ python a.py             command
1                         output, in a session only
"""

import re
from collections.abc import Callable

from traces.boundaries.blocks.diff_block import DiffBlock, start_diff
from traces.boundaries.blocks.document import Block, Document, Kind
from traces.boundaries.blocks.language import file_language
from traces.boundaries.label import COMMAND, OUTPUT

_COMMAND: Kind = (COMMAND, None)
_OUTPUT: Kind = (OUTPUT, None)

_PROMPT = re.compile(r"\s*(?:[\w.~/@:()\[\]-]* ?[$❯]|[\w.-]+@[\w.-]+[:~/\w.-]*#|PS [^>]*>) ")
_HEREDOC = re.compile(r"(?<!<)<<(?!<)-?\s*\\?(['\"]?)([A-Za-z_]\w*)\1")
_TARGET = re.compile(r"(?:>>?|\btee\b(?: -a)?)\s*(['\"]?)([^\s'\"<>|;&]+)\1")
_APPLIES = re.compile(r"\b(?:apply_patch|git apply|git am|patch)\b")
_INTERPRETER = re.compile(r"\b(python|node|ruby|perl|php|Rscript|psql|mysql|sqlite3)[\d.]*\b")
_SHELL = re.compile(r"\b(?:ba|z|da|k)?sh\b|\bssh\b")
_LANGUAGE = {"node": "javascript", "Rscript": "r", "psql": "sql", "mysql": "sql", "sqlite3": "sql"}

Inner = Callable[[str | None], Block]
"""The block of a heredoc's body by its language (`None`: not known)."""


class ShellBlock:
    """Command lines. In a `session` only lines with a prompt are commands, the rest is output.

    A script whose first line has the prompt ``$ `` is a session.
    """

    def __init__(self, inner: Inner, *, session: bool | None = None) -> None:
        self._inner = inner
        self._session = session
        self._continued = False

    def line(self, head: str, document: Document) -> Kind | None:
        """Command or output; a heredoc's body goes to a block of its own."""
        if self._session is None and head.strip():
            self._session = head.lstrip().startswith("$ ")
        if not self._continued:
            inner = start_diff(head, document)
            if inner:
                return inner
            if self._session and not _PROMPT.match(head):
                return _OUTPUT
        self._continued = head.endswith("\\")
        heredoc = _HEREDOC.search(head) if "<<" in head else None
        if heredoc:
            word = heredoc.group(2)
            document.enclose(self._body(head), lambda line: line.strip() == word, _COMMAND)
        return _COMMAND

    def _body(self, head: str) -> Block:
        """What the heredoc of this command line holds."""
        if _APPLIES.search(head):
            return DiffBlock(closed=True)
        target = _TARGET.search(head)
        if target:
            return self._inner(file_language(target.group(2)))
        program = _INTERPRETER.search(head)
        if program:
            return self._inner(_LANGUAGE.get(program.group(1), program.group(1)))
        if _SHELL.search(head):
            return ShellBlock(self._inner, session=False)
        return self._inner(None)
