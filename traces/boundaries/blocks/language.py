"""What a fence's info string or a file name says about the language of a text."""

import re
from posixpath import splitext

_ALIASES = {
    "py": "python",
    "python3": "python",
    "ipython": "python",
    "js": "javascript",
    "node": "javascript",
    "ts": "typescript",
    "rb": "ruby",
    "rs": "rust",
    "golang": "go",
    "c++": "cpp",
    "cc": "cpp",
    "hpp": "cpp",
    "h": "c",
    "cs": "csharp",
    "c#": "csharp",
    "kt": "kotlin",
    "yml": "yaml",
    "md": "markdown",
    "htm": "html",
    "sh": "bash",
    "shell": "bash",
    "zsh": "bash",
    "ps1": "powershell",
    "pl": "perl",
    "tf": "terraform",
    "hs": "haskell",
    "ex": "elixir",
    "jl": "julia",
}
_FILES = {"dockerfile": "dockerfile", "makefile": "makefile", "gemfile": "ruby"}
_WORD = re.compile(r"[\w+#.-]+")

SHELLS = frozenset({"bash", "fish", "powershell", "bat", "cmd", "batch", "ksh"})
SESSIONS = frozenset(
    {"console", "shell-session", "shellsession", "sh-session", "bash-session", "terminal"}
)
OUTPUTS = frozenset({"output", "stdout", "stderr", "log"})
DIFFS = frozenset({"diff", "patch", "udiff"})
PROSES = frozenset({"markdown", "mdx", "txt", "rst", "adoc", "text"})


def fence_language(info: str) -> str | None:
    """The language of a fence: the first word of its info string, in lower case, by its usual name.

    ``py title="x"`` → ``python``; nothing → `None`.
    """
    word = _WORD.search(info)
    if word is None:
        return None
    name = word.group().lower()
    return _ALIASES.get(name, name)


def file_language(path: str) -> str | None:
    """The language of a file by its name: ``src/a.py`` → ``python``; `None`: no extension."""
    name = path.rsplit("/", 1)[-1].rsplit("\\", 1)[-1].lower()
    if name in _FILES:
        return _FILES[name]
    extension = splitext(name)[1].lstrip(".")
    return _ALIASES.get(extension, extension) if extension else None
